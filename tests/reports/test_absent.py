"""Reports of incomplete runs: without studies, one seed, without steps, stopped and diverged."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from actmodels.errors import ArtifactError
from reports.blocks import Report, Table
from reports.load import Artifacts, load
from reports.render import render, report
from tests.reports.conftest import STUDIES, edit, load_all, numbers_of, rows, table


def text_of(built: Report) -> list[str]:
    markdown = render(built, "markdown", built.sections)
    return (markdown + numbers_of(built)).splitlines()


def stages_off(folder: Path) -> Artifacts:
    """Remove the results of studies and of stages that were off."""
    for place in ("ablate/test", "ablate/gains", "ablate/dev"):
        edit(folder, place, lambda frame: frame.head(0))
    (folder / "trace/traces.jsonl").write_text("", encoding="utf-8")
    shutil.rmtree(folder / "studies")
    return load(folder, {})


def no_steps(folder: Path) -> Artifacts:
    """Keep the model without steps; the sweep has no setting of another one."""
    places = [f"evaluate/{n}" for n in ("results", "predictions", "depth", "lengths")]
    for place in (*places, "evaluate/correlations", "retrain/trials", "retrain/history"):
        edit(folder, place, lambda frame: frame[frame["model"] == "decomposable_attention"])
    edit(folder, "evaluate/paired", lambda frame: frame[frame["model"] != "adaptive_attention"])
    edit(folder, "retrain/trials", lambda frame: frame.drop(columns="ponder_weight"))
    edit(
        folder,
        "sweep/trials",
        lambda frame: frame[frame["model"] == "decomposable_attention"].drop(
            columns="ponder_weight"
        ),
    )
    return load_all(folder)


def on_snli(folder: Path) -> Artifacts:
    """Published results are comparable with those on all of SNLI."""
    for place, change in (
        ("corpus/summary.json", ('"captions"', '"snli"')),
        ("tensors/manifest.json", ("800", "549367")),
    ):
        path = folder / place
        path.write_text(path.read_text("utf-8").replace(*change), encoding="utf-8")
    return load_all(folder)


def stopped_and_diverged(folder: Path) -> Artifacts:
    """Stop aa08 after one epoch, so that means over trials are of one epoch; others diverge."""

    def end(place: str, key: str, column: str, epochs: str) -> None:
        def ended(frame: pd.DataFrame) -> pd.DataFrame:
            frame.loc[frame["key"] == key, [column, "epochs"]] = ["True", epochs]
            return frame

        edit(folder, place, ended)

    end("sweep/trials", "aa08", "stopped", "1")
    end("sweep/trials", "aa05", "diverged", "2")
    for key in ("da01", "da02", "da03", "da04"):
        end("sweep/trials", key, "diverged", "1")
    best = json.loads((folder / "select_best/best.json").read_text())
    del best["decomposable_attention"]
    (folder / "select_best/best.json").write_text(json.dumps(best))
    end("retrain/trials", "aa-seed3", "diverged", "4")
    edit(folder, "evaluate/results", lambda frame: frame[frame["key"] != "aa-seed3"])
    return load_all(folder)


@pytest.mark.parametrize("change", [stages_off, no_steps, on_snli, stopped_and_diverged])
def test_an_incomplete_run(
    change: Callable[[Path], Artifacts], folder: Path, built: Report, golden: Callable[..., None]
) -> None:
    """The golden file has the lines that are new, and the headings that are gone."""
    before, data = text_of(built), change(folder)
    after = text_of(report(data, {} if change is stages_off else STUDIES, 100))
    new = [line for line in after if line not in before]
    gone = [f"gone: {line}" for line in before if line.startswith("#") and line not in after]
    golden(f"report_{change.__name__}.txt", "\n".join([*new, *gone]) + "\n")


def test_one_seed_has_no_sd_and_no_test(folder: Path) -> None:
    for path in folder.rglob("*.csv"):
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        if "seed" in frame and path.parent.name != "sweep":
            frame = frame[frame["seed"].isin(["0", "1"])]
        if "seeds" in frame:
            sds = [name for name in frame if name.endswith("_sd") or name == "p"]
            frame = frame.assign(seeds="1", **dict.fromkeys(sds, ""))
        frame.to_csv(path, index=False)
    built = report(load_all(folder), STUDIES, examples=10)
    (part,) = (section for section in built.sections if section.title == "Claims")
    claims = rows(table(part, "claims"))
    assert {row["significance (Holm-corrected)"] for row in claims} == {
        "no test: one seed, or no variance"
    }
    assert {row["p"] for row in claims} == {"–"}
    with_sd = {t.name for t in built.parts(Table) if any("±" in c for row in t.rows for c in row)}
    # these sds are over trials and over questions
    assert with_sd <= {"sweep_settings", "cloze_overwritten"}


def drop(column: str) -> Callable[[Path], None]:
    return lambda folder: edit(folder, "sweep/trials", lambda frame: frame.drop(columns=column))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: (f / "evaluate/results.csv").unlink(), "results.csv is missing; .* evaluate"),
        (lambda f: (f / "sweep/environment.json").unlink(), "ent.json is missing; .* sweep"),
        (lambda f: (f / "studies/cloze/queries.json").unlink(), "missing; .* study@cloze"),
        (drop("dev_accuracy"), "trials.csv has no column dev_accuracy; .* -f -s sweep"),
        (drop("learning_rate"), "trials.csv has no column learning_rate; .* -f -s sweep"),
        (
            lambda f: edit(f, "evaluate/results", lambda frame: frame.assign(key="other")),
            "keys differ from those of retrain/trials.csv",
        ),
    ],
)
def test_missing_artifacts_columns_and_runs(
    folder: Path, change: Callable[[Path], object], message: str
) -> None:
    change(folder)
    with pytest.raises(ArtifactError, match=message):
        load_all(folder)


def test_text_stays_text(folder: Path) -> None:
    names = {"pair_id": "NA", "label": "entailment"}
    edit(folder, "evaluate/predictions", lambda frame: frame.assign(**names))
    for place in ("retrain/trials", "evaluate/results"):
        edit(folder, place, lambda frame: frame.assign(key="0123"))
    data = load_all(folder)
    assert set(data["evaluate/predictions"]["pair_id"]) == {"NA"}
    assert set(data["retrain/trials"]["key"]) == {"0123"}
    assert data.models == ["decomposable_attention", "adaptive_attention"]  # in file order
    assert data.adaptive == ["adaptive_attention"] and data.best_on_dev == "adaptive_attention"
