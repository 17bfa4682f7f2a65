"""Files of one run are read together; another's, or a damaged one, is named with its line."""

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from actmodels.config import setting_types
from actmodels.errors import ArtefactError
from actmodels.records import EpochRecord
from actmodels.sequences import byte_kinds
from reports.stored.artefacts import HISTORY, TIMINGS, Artefacts
from reports.stored.load import load
from reports.studies.graves.tasks import BYTE_KINDS
from reports.studies.nse.runs import nse_runs
from tests.reports.conftest import STORED, Edit, Row
from tests.reports.write_nse import GATED, ONE, settle

FILES = sorted(path.relative_to(STORED).as_posix() for path in STORED.rglob("*.*"))
AA = "adaptive_attention"
ACT = "ponder weight 0.001"  # a run on parity
Change = Callable[[Row], Row | None]


def fails(folder: Path, problem: str) -> None:
    with pytest.raises(ArtefactError) as caught:
        load(folder)
    assert str(caught.value) == problem


def change(cells: Row | None, **place: str) -> Change:
    """New cells for the rows at a place, or their loss (None)."""

    def changed(row: Row) -> Row | None:
        if any(row[column] != cell for column, cell in place.items()):
            return row
        return None if cells is None else row | cells

    return changed


def test_what_is_loaded(artefacts: Artefacts) -> None:
    assert artefacts.models == ("decomposable_attention", AA)
    assert artefacts.ablated == AA
    assert [artefacts.halts(model) for model in artefacts.models] == [False, True]
    assert artefacts.runs(AA)["test_accuracy"].tolist() == [0.83, 0.80, 0.83]


def test_settings_are_those_of_all_models(artefacts: Artefacts) -> None:
    known = {name for model in artefacts.models for name in setting_types(model)}
    assert set(artefacts.settings) == known | {"max_epochs", "patience"}


def test_columns_may_stand_in_any_order(artefacts: Artefacts, folder: Path) -> None:
    path = folder / "sweep" / "trials.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()]
    path.write_text("".join(",".join(reversed(row)) + "\n" for row in rows))
    assert load(folder).settings == artefacts.settings


def test_every_field_of_an_epoch_is_read() -> None:
    names = {f.name for f in fields(EpochRecord)}
    assert names <= set(HISTORY) | set(TIMINGS)


def test_kinds_of_bytes_are_those_of_the_stage() -> None:
    assert set(BYTE_KINDS) == set(byte_kinds.KINDS)


@pytest.mark.parametrize("file", FILES)
def test_each_file_is_needed(folder: Path, file: str) -> None:
    (folder / file).unlink()
    fails(folder, f"artefacts/{file} is missing; run: dvc repro {file.split('/')[0]}")


def test_a_setting_without_a_column(folder: Path) -> None:
    path = folder / "sweep" / "trials.csv"
    path.write_text(path.read_text().replace("ponder_weight", "tau"))
    with pytest.raises(
        ArtefactError, match=r"trials\.csv, line 1: has no column ponder_weight; run"
    ):
        load(folder)


@pytest.mark.parametrize(
    ("file", "column", "cell", "must"),
    [
        ("sweep/trials.csv", "model", "oracle", "one of decomposable_attention, "),
        ("evaluate/correlations.csv", "steps_against", "mood", "one of mean_length, depth;"),
        ("evaluate/correlations.csv", "spearman", "-2", "a number between -1 and 1, or empty;"),
        ("evaluate/lengths.csv", "steps", "2.5", "a whole number;"),
        ("ablate/dev.csv", "reading", "raw", "one of state, capped, adaptive;"),
        ("fidelity/variants.csv", "difference", "", "a number;"),
        ("fidelity/variants.csv", "largest_p", "1.5", "a number between 0 and 1;"),
        ("halting/points.csv", "kind", "oracle", "one of act, fixed_steps, "),
        ("halting/points.csv", "collapsed", "3", "a number between 0 and 1;"),
        ("graves/results.csv", "task", "chess", "one of parity, logic, addition, sort, char"),
        ("graves/results.csv", "halting", "never", "one of none, act, target_steps, fixed_steps;"),
        ("graves/results.csv", "dev_error", "40", "a number between 0 and 1;"),
        ("graves/difficulty.csv", "task", "characters", "one of parity, logic, addition, sort;"),
        ("graves/reading.csv", "loss", "much", "a number;"),
        ("graves/bytes.csv", "task", "parity", "one of characters;"),
        ("graves/bytes.csv", "kind", "vowel", "one of letter, digit, space, line end, "),
        ("nse/results.csv", "questions", "chess", "one of NE, CN, WDW;"),
        ("nse/results.csv", "strategy", "chess", "one of query_gating, adaptive_computation;"),
        ("nse/history.csv", "train_accuracy", "60", "a number between 0 and 1;"),
        ("nse/baselines.csv", "source", "novels", "one of cbt, whodidwhat, text NAME;"),
    ],
)
def test_a_damaged_cell_is_named(
    folder: Path, edit: Edit, file: str, column: str, cell: str, must: str
) -> None:
    edit(file, lambda row: row | {column: cell})
    with pytest.raises(ArtefactError) as caught:
        load(folder)
    wording = f"artefacts/{file}, line 2: {column} is '{cell}'; must be {must}"
    assert str(caught.value).startswith(wording)
    assert str(caught.value).endswith(f"; run: dvc repro -f -s {file.split('/')[0]}")


@pytest.mark.parametrize(
    ("file", "edited", "problem"),
    [
        ("sweep/trials.csv", change(None), ": has no rows"),
        ("sweep/trials.csv", change(None, key="da02"), ": has 7 trials where summary.json has 8"),
        ("sweep/history.csv", change(None, key="aa05"), ": lacks aa05, which trials.csv has"),
        (
            *("sweep/history.csv", change({"key": "aa99"}, key="aa05", epoch="1")),
            ": has aa99, which trials.csv has not",
        ),
        ("lexicalised/results.csv", change(None), ": must have rows of one model"),
        (
            *("evaluate/correlations.csv", change({"steps_against": "depth"})),
            f": has {AA}, 1, depth twice",
        ),
        (
            *("fidelity/variants.csv", change({"variant": "siblings"}, variant="raw vectors")),
            ": has decomposable_attention, siblings twice",
        ),
        (
            *("fidelity/timings.csv", change(None, variant="siblings")),
            ": lacks decomposable_attention, siblings, which variants.csv has",
        ),
        (
            *("halting/timings.csv", change({"point": "steps 7"}, point="steps 6", seed="1")),
            ": has fixed_steps, steps 7, which points.csv has not",
        ),
        *(
            (f"graves/{file}.csv", change(None, run=ACT, seed="3"), f": lacks seed 3 of {of} has")
            for file in ("difficulty", "history", "timings")
            for of in (f"parity, {ACT}, which results.csv",)
        ),
        (
            *("graves/history.csv", change({"seed": "4"}, run=ACT, seed="3", epoch="1")),
            f": has seed 4 of parity, {ACT}, which results.csv has not",
        ),
        (
            *("graves/reading.csv", change({"seed": "4"}, run="ponder weight 0.1", position="1")),
            ": has seed 4 of characters, ponder weight 0.1, which results.csv has not",
        ),
        *(
            (
                *(f"nse/{file}.csv", change(None, questions="NE", run=GATED, seed="2")),
                f": lacks seed 2 of NE, {GATED}, which results.csv has",
            )
            for file in ("history", "steps", "timings")
        ),
        (
            *("nse/steps.csv", change({"run": "two steps"}, run=GATED, step="1")),
            ": has seed 1 of CN, two steps, which results.csv has not",
        ),
        (
            *("nse/runs.csv", change(None, questions="CN", run=ONE)),
            f": lacks CN, {ONE}, which results.csv has",
        ),
        ("nse/baselines.csv", change(None, split="dev"), ": lacks CN, dev, which results.csv has"),
        ("nse/baselines.csv", change({"split": "dev"}, split="test"), ": has NE, dev twice"),
    ],
)
def test_files_that_do_not_fit(
    folder: Path, edit: Edit, file: str, edited: Change, problem: str
) -> None:
    edit(file, edited)
    fails(folder, f"artefacts/{file}{problem}; run: dvc repro -f -s {file.split('/')[0]}")


@pytest.mark.parametrize(
    ("file", "edited", "problem"),
    [
        (
            *("evaluate/results.csv", change(None, seed="3")),
            f"lacks seed 3 of {AA}, which was retrained",
        ),
        (
            *("evaluate/results.csv", change({"seed": "4"}, seed="3", model=AA)),
            f"lacks seed 3 of {AA}, which was retrained",
        ),
        (
            *("evaluate/predictions.csv", change(None, seed="2")),
            f"lacks seed 2 of {AA}, which was retrained",
        ),
        (
            *("ablate/test.csv", change(None, seed="2", reading="capped")),
            f"lacks seed 2 of {AA}, which was retrained",
        ),
        *(
            (f"evaluate/{file}.csv", change(None, seed="2"), f"lacks seed 2 of {AA}, which was ev")
            for file in ("lengths", "correlations")
        ),
        (
            *("evaluate/lengths.csv", change({"model": "decomposable_attention"}, steps="2")),
            "has seed 1 of decomposable_attention, which took no steps on test",
        ),
        (
            *("evaluate/paired.csv", change(None, model=AA)),
            f"compares lexicalised_classifier; must compare {AA}, lexicalised_classifier",
        ),
        (
            *("evaluate/paired.csv", change({"reference": "lstm_encoders"})),
            "must have one tested model as reference, not lstm_encoders",
        ),
        ("evaluate/paired.csv", change(None), "must have one tested model as reference, not none"),
        (
            *("fidelity/variants.csv", change({"model": "lstm_encoders"}, model=AA)),
            "has the model lstm_encoders, which was not swept",
        ),
    ],
)
def test_files_of_another_run(
    folder: Path, edit: Edit, file: str, edited: Change, problem: str
) -> None:
    edit(file, edited)
    with pytest.raises(ArtefactError) as caught:
        load(folder)
    assert str(caught.value).startswith(f"artefacts/{file} {problem}")
    assert str(caught.value).endswith(f"; run: dvc repro {file.split('/')[0]}")


def test_a_seed_that_was_not_retrained(folder: Path, edit: Edit) -> None:
    edit("retrain/trials.csv", change(None, seed="2"))
    with pytest.raises(
        ArtefactError, match=r"results\.csv has seed 2 of .* was not retrained; run"
    ):
        load(folder)


def test_a_traced_model_that_was_not_retrained(folder: Path) -> None:
    for name in ("traces.jsonl", "summary.json"):
        path = folder / "trace" / name
        path.write_text(
            path.read_text().replace('"seed":1', '"seed":9').replace("seed_1", "seed_9")
        )
    where = f"artefacts/trace/traces.jsonl has seed 9 of {AA}, which was not retrained"
    fails(folder, f"{where}; run: dvc repro trace")


def test_a_traced_reader_that_results_have_not(folder: Path) -> None:
    path = folder / "nse" / "queries.jsonl"
    path.write_text(path.read_text().replace('"seed":1', '"seed":9'))
    with pytest.raises(ArtefactError, match=r"queries\.jsonl: has seed 9 of .*results\.csv has no"):
        load(folder)


def test_a_model_without_a_selection(folder: Path) -> None:
    path = folder / "select_best" / "best.json"
    best = json.loads(path.read_text())
    del best[AA]
    path.write_text(json.dumps(best))
    with pytest.raises(ArtefactError, match=r"has no model adaptive_attention; run: dvc repro sel"):
        load(folder)


def test_no_question_was_asked(folder: Path, no_nse: Callable[[], None]) -> None:
    no_nse()
    nse = load(folder).nse
    assert nse.results.empty and nse.runs.empty and nse.traced == ()


@pytest.mark.parametrize("file", ["history", "steps", "timings"])
def test_a_run_that_diverged_may_be_lacking(folder: Path, edit: Edit, file: str) -> None:
    second = {"questions": "NE", "run": GATED, "seed": "2"}
    edit("nse/results.csv", change({"diverged": "True"}, **second))
    edit(f"nse/{file}.csv", change(None, **second))
    assert [run.diverged for run in nse_runs(load(folder), "NE")] == [0, 1, 0]


def test_a_run_that_diverged_may_have_no_steps(folder: Path, edit: Edit) -> None:
    lost = {"diverged": "True", "dev_mean_steps": "", "dev_sd_steps": "", "test_mean_steps": ""}
    edit("nse/results.csv", change(lost, questions="NE", run=GATED, seed="2"))
    settle(folder)
    run = nse_runs(load(folder), "NE")[1]
    assert run.mean_steps is not None and (run.mean_steps.n, run.test.n) == (2, 3)
