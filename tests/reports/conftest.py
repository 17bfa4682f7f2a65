import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from reports.render import write_report
from reports.stored.artefacts import Artefacts, load

STORED = Path(__file__).parents[1] / "fixtures" / "artefacts"
GRAVES = tuple(
    f"graves/{name}" for name in ("results", "difficulty", "reading", "bytes", "history", "timings")
)
NSE = tuple(f"nse/{n}" for n in ("results", "runs", "baselines", "history", "steps", "timings"))
ONE, GATED, HALTING = "one step", "query gating, 6 steps", "adaptive computation, 6 steps"
Row = dict[str, str]
Edit = Callable[[str, Callable[[Row], Row | None]], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the stored artefacts that a test may damage."""
    return Path(shutil.copytree(STORED, tmp_path / "artefacts"))


@pytest.fixture(scope="session")
def artefacts() -> Artefacts:
    return load(STORED)


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the stored artefacts, only to be read."""
    made = tmp_path_factory.mktemp("report")
    returned = write_report(STORED, made, published=True, examples=100)
    assert json.loads((made / "metrics.json").read_text("utf-8")) == returned
    return made


def change(folder: Path, file: str, changed: Callable[[Row], Row | None]) -> None:
    """Change or drop (None) the rows of a stored table."""
    with (folder / file).open(encoding="utf-8", newline="") as opened:
        reader = csv.DictReader(opened)
        rows = [row for row in map(changed, reader) if row is not None]
    with (folder / file).open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, reader.fieldnames or [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture
def edit(folder: Path) -> Edit:
    """Change the rows of a table of the copy."""
    return partial(change, folder)


def settle(folder: Path) -> None:
    """Write nse/runs.csv of the runs that results.csv has: their differences, after a change."""
    of = ["questions", "run"]
    path = folder / "nse" / "runs.csv"
    results = pd.read_csv(folder / "nse" / "results.csv").groupby(of, sort=False)
    means, pairs = results["test_accuracy"].mean(), results["test_questions"].first()
    runs = pd.read_csv(path).set_index(of).loc[means.index]
    difference = (means - means.groupby("questions").transform("first")).round(12)
    runs.assign(difference=difference, pairs=pairs).reset_index().to_csv(path, index=False)


@pytest.fixture
def no_nse(folder: Path, edit: Edit) -> Callable[[], None]:
    """Makes the stage `nse` one that was not asked for anything."""

    def empty() -> None:
        for file in NSE:
            edit(f"{file}.csv", lambda row: None)
        (folder / "nse" / "queries.jsonl").write_text("", encoding="utf-8")

    return empty


@pytest.fixture
def many(artefacts: Artefacts) -> Artefacts:
    """The artefacts of a run with six models: copies of the stored two, the last best on dev."""
    copies = {
        "adaptive_attention_fixed_steps": ("adaptive_attention", 0.01),
        "lstm_encoders": ("decomposable_attention", -0.02),
        "word_by_word_attention": ("decomposable_attention", 0.0),
        "adaptive_attention_ponder_net": ("adaptive_attention", 0.02),
    }

    def more(table: pd.DataFrame) -> pd.DataFrame:
        parts = [table]
        for name, (of, better) in copies.items():
            copy = table[table["model"] == of].assign(model=name)
            if "dev_accuracy" in copy:
                copy = copy.assign(dev_accuracy=copy["dev_accuracy"] + better)
            parts.append(copy)
        return pd.concat(parts, ignore_index=True)

    tables = ("trials", "sweep_history", "history", "results", "depth", "lengths", "correlations")
    tables += ("paired", "predictions")
    changed = {name: more(getattr(artefacts, name)) for name in tables}
    best = artefacts.best | {name: artefacts.best[of] for name, (of, _) in copies.items()}
    return replace(artefacts, best=best, **changed)


@pytest.fixture(scope="session")
def one_seed(tmp_path_factory: pytest.TempPathFactory) -> Artefacts:
    """The artefacts of a run with one seed each, but for the sweep's grid."""
    folder = Path(shutil.copytree(STORED, tmp_path_factory.mktemp("one") / "artefacts"))
    for file in (
        *("retrain/trials", "retrain/history", "retrain/timings", "ablate/dev", "ablate/test"),
        *("results", "depth", "lengths", "correlations", "predictions"),
        *(*GRAVES, "halting/depth", "multihop/results", "multihop/hops"),
        *(f"nse/{name}" for name in ("results", "history", "steps", "timings")),
    ):
        place = file if "/" in file else f"evaluate/{file}"
        change(folder, f"{place}.csv", lambda row: row if row["seed"] == "1" else None)
    one = {"seeds": "1", "dev_accuracy_sd": ""}
    alone = {"p": ""}
    change(folder, "evaluate/paired.csv", lambda row: row | {"seeds": "1"} | alone)
    change(folder, "ablate/gains.csv", lambda row: row | {"seeds": "1"} | alone)
    change(
        folder, "fidelity/variants.csv", lambda row: row | one | {"test_accuracy_sd": ""} | alone
    )
    change(folder, "sizes/points.csv", lambda row: row | one | {"test_accuracy_sd": ""})
    change(folder, "halting/points.csv", lambda row: row | one | {"mean_steps_sd": ""})
    change(folder, "nse/runs.csv", lambda row: row | alone)
    settle(folder)
    return load(folder)
