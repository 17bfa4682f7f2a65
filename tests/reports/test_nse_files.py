from collections.abc import Callable
from pathlib import Path

import pytest

from actmodels.errors import ArtefactError
from reports.artefacts import load
from reports.nse import nse_runs
from tests.reports.conftest import Edit, Row
from tests.reports.write_nse import GATED, HALTING, ONE, settle

TABLES = ["history", "steps", "timings"]


def fails(folder: Path, file: str, problem: str) -> None:
    with pytest.raises(ArtefactError) as caught:
        load(folder)
    assert str(caught.value) == f"artefacts/nse/{file}: {problem}; run: dvc repro -f -s nse"


def test_nothing_was_asked_for(folder: Path, no_nse: Callable[[], None]) -> None:
    no_nse()
    nse = load(folder).nse
    assert nse.results.empty and nse.runs.empty and nse.traced == ()


def second(row: Row) -> bool:
    return (row["questions"], row["run"], row["seed"]) == ("NE", GATED, "2")


@pytest.mark.parametrize("file", TABLES)
def test_a_run_that_one_file_lacks(folder: Path, edit: Edit, file: str) -> None:
    edit(f"nse/{file}.csv", lambda row: None if second(row) else row)
    fails(folder, f"{file}.csv", f"lacks seed 2 of NE, {GATED}, which results.csv has")


@pytest.mark.parametrize("file", TABLES)
def test_a_run_that_results_have_not(folder: Path, edit: Edit, file: str) -> None:
    for other in {"results", *TABLES} - {file}:
        edit(f"nse/{other}.csv", lambda row: None if second(row) else row)
    fails(folder, f"{file}.csv", f"has seed 2 of NE, {GATED}, which results.csv has not")


@pytest.mark.parametrize("file", TABLES)
def test_a_run_that_diverged_may_be_lacking(folder: Path, edit: Edit, file: str) -> None:
    edit("nse/results.csv", lambda row: row | {"diverged": "True"} if second(row) else row)
    edit(f"nse/{file}.csv", lambda row: None if second(row) else row)
    assert [run.diverged for run in nse_runs(load(folder), "NE")] == [0, 1, 0]


def test_a_run_that_diverged_may_have_no_steps(folder: Path, edit: Edit) -> None:
    lost = {"diverged": "True", "dev_mean_steps": "", "dev_sd_steps": "", "test_mean_steps": ""}
    edit("nse/results.csv", lambda row: row | lost if second(row) else row)
    settle(folder)
    run = nse_runs(load(folder), "NE")[1]
    assert run.mean_steps is not None and (run.mean_steps.n, run.test.n) == (2, 3)


@pytest.mark.parametrize(
    ("column", "known"), [("questions", "NE, CN, WDW"), ("strategy", "query_gating, adaptive_comp")]
)
def test_an_unknown_name(folder: Path, edit: Edit, column: str, known: str) -> None:
    edit("nse/results.csv", lambda row: row | {column: "chess"})
    said = f"^artefacts/nse/results.csv: has the {column} 'chess'; must be one of {known}"
    with pytest.raises(ArtefactError, match=said):
        load(folder)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("results", f"NE, {ONE}, 1"),
        ("runs", f"NE, {ONE}"),
        ("baselines", "NE, train"),
        ("history", f"NE, {ONE}, 1, 1"),
        ("steps", f"NE, {ONE}, 1, 1"),
        ("timings", f"NE, {ONE}, 1"),
    ],
)
def test_a_row_twice(folder: Path, file: str, said: str) -> None:
    path = folder / "nse" / f"{file}.csv"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines, lines[1]]) + "\n", "utf-8")
    fails(folder, f"{file}.csv", f"has {said} twice")


def one(change: Row, run: str, **place: str) -> Callable[[Row], Row]:
    """A change of the rows of one run on names, at a place where one is given."""
    wanted = {"questions": "NE", "run": run, **place}

    def changed(row: Row) -> Row:
        return row | change if all(row.get(k) == v for k, v in wanted.items()) else row

    return changed


@pytest.mark.parametrize(
    ("file", "change", "run", "place", "problem"),
    [
        (
            *("results", {"parameters": "7"}, GATED, {"seed": "2"}),
            f"NE, {GATED}: parameters must be the same for all seeds",
        ),
        (
            *("results", {"steps": "7"}, GATED, {"seed": "2"}),
            f"NE, {GATED}: steps must be the same for all seeds",
        ),
        (
            *("results", {"steps": "0"}, ONE, {}),
            f"seed 1 of NE, {ONE}: steps is 0; must be at least 1",
        ),
        (
            *("results", {"dev_mean_steps": ""}, HALTING, {"seed": "3"}),
            f"seed 3 of NE, {HALTING}: dev_mean_steps is empty; must be a number",
        ),
        (
            *("results", {"test_mean_steps": "5.5"}, GATED, {"seed": "3"}),
            f"seed 3 of NE, {GATED}: test_mean_steps is 5.5; must be 6, as all steps are taken",
        ),
        (
            *("results", {"test_mean_steps": "6.5"}, HALTING, {"seed": "3"}),
            f"seed 3 of NE, {HALTING}: test_mean_steps is 6.5; must be 1 to 6",
        ),
        (
            *("runs", {"steps": "5"}, GATED, {}),
            f"NE, {GATED}: steps is 5 where results.csv has 6",
        ),
        (
            *("runs", {"seeds": "2"}, GATED, {}),
            f"NE, {GATED}: seeds is 2 where results.csv has 3",
        ),
        (
            *("runs", {"difference": "0.1"}, ONE, {}),
            f"NE: {ONE}, its first run, differs by 0.1; must be 0, as the others are compared "
            "with it",
        ),
        (*("runs", {"low": "0.1"}, GATED, {}), f"NE, {GATED}: low is above high"),
        (
            *("runs", {"test_accuracy_mean": "0.5"}, GATED, {}),
            f"NE, {GATED}: test_accuracy_mean is 0.5; must be 0.61, as the seeds'",
        ),
        (
            *("runs", {"dev_accuracy_sd": ""}, GATED, {}),
            f"NE, {GATED}: dev_accuracy_sd is nan; must be 0.01, as the seeds'",
        ),
        (
            *("results", {"test_questions": "99"}, GATED, {"seed": "2"}),
            f"NE: test has 200 questions where results.csv has 99 for seed 2 of NE, {GATED}",
        ),
        (
            *("history", {"dev_accuracy": "0.5"}, GATED, {"seed": "1", "epoch": "3"}),
            f"seed 1 of NE, {GATED}: dev_accuracy of its best epoch is 0.5 where results.csv has "
            "0.64",
        ),
        (
            *("history", {"epoch": "9"}, GATED, {"seed": "1", "epoch": "3"}),
            f"seed 1 of NE, {GATED}: lacks epoch 3, its best",
        ),
        (
            *("steps", {"step": "7"}, GATED, {"seed": "1", "step": "6"}),
            f"seed 1 of NE, {GATED}: has the steps 1, 2, 3, 4, 5, 7; must have 1 to 6",
        ),
        (
            *("steps", {"weight": "0.9"}, GATED, {"seed": "1", "step": "6"}),
            f"seed 1 of NE, {GATED}: weights add up to 0.9; must add up to 1",
        ),
    ],
)
def test_what_does_not_fit(
    folder: Path, edit: Edit, file: str, change: Row, run: str, place: Row, problem: str
) -> None:
    edit(f"nse/{file}.csv", one(change, run, **place))
    where = {"test_questions": "baselines"}.get(next(iter(change)), file)
    fails(folder, f"{where}.csv", problem)


def test_weights_of_another_mean(folder: Path, edit: Edit) -> None:
    def turned(row: Row) -> Row:
        return row | {"weight": "1.0" if row["step"] == "1" else "0.0"}

    here = ("NE", HALTING, "1")
    edit(
        "nse/steps.csv", lambda r: turned(r) if (r["questions"], r["run"], r["seed"]) == here else r
    )
    fails(
        *(folder, "steps.csv"),
        f"seed 1 of NE, {HALTING}: weights make 1 steps in the mean where results.csv has 2.4 on "
        "dev",
    )


def test_a_spread_of_one_seed(one_seed: Path, edit: Edit) -> None:
    edit("nse/runs.csv", one({"test_accuracy_sd": "0.1"}, ONE))
    problem = f"NE, {ONE}: test_accuracy_sd is 0.1; must be empty with one seed"
    fails(one_seed, "runs.csv", problem)


def test_a_run_without_a_line_of_its_own(folder: Path, edit: Edit) -> None:
    edit("nse/runs.csv", lambda row: None if (row["questions"], row["run"]) == ("CN", ONE) else row)
    fails(folder, "runs.csv", f"lacks CN, {ONE}, which results.csv has")


def test_a_split_that_lacks(folder: Path, edit: Edit) -> None:
    edit("nse/baselines.csv", lambda row: None if row["split"] == "dev" else row)
    fails(folder, "baselines.csv", "lacks the split dev of CN, which results.csv has")


def test_a_split_of_no_run(folder: Path, edit: Edit) -> None:
    edit("nse/baselines.csv", lambda r: r | {"split": "more"} if r["split"] == "dev" else r)
    fails(folder, "baselines.csv", "lacks the split dev of CN, which results.csv has")
    path = folder / "nse" / "baselines.csv"
    path.write_text(path.read_text().replace("more", "dev") + "WDW,text stories,dev,1,2,0.5,0.5\n")
    fails(folder, "baselines.csv", "has the split dev of WDW, which no run of results.csv has")


def test_questions_are_of_one_known_source(folder: Path, edit: Edit) -> None:
    edit("nse/baselines.csv", lambda r: r | {"source": "novels"})
    fails(
        folder,
        "baselines.csv",
        "has the source 'novels'; must be one of cbt, whodidwhat, text NAME",
    )
    edit("nse/baselines.csv", lambda r: r | {"source": "cbt" if r["split"] == "dev" else "text a"})
    fails(folder, "baselines.csv", "has questions of cbt and text a; must be of one source")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"difference": 0.03', '"difference": 0.04', "difference is 0.04 where runs.csv has 0.03"),
        ('"difference": 0.03', '"gain": 0.03', "has no number difference"),
        ('"difference": 0.03', '"difference": null', "has no number difference"),
    ],
)
def test_a_summary_of_another_run(folder: Path, old: str, new: str, problem: str) -> None:
    path = folder / "nse" / "summary.json"
    path.write_text(path.read_text("utf-8").replace(old, new), "utf-8")
    fails(folder, "summary.json", f"NE, {GATED}: {problem}")


def test_a_summary_without_a_kind(folder: Path) -> None:
    (folder / "nse" / "summary.json").write_text("{}", "utf-8")
    fails(folder, "summary.json", "has no key NE, CN")


def test_a_damaged_cell_is_named(folder: Path, edit: Edit) -> None:
    edit("nse/history.csv", lambda row: row | {"train_accuracy": "60"})
    said = "artefacts/nse/history.csv, line 2: train_accuracy is '60'; must be a number between 0"
    with pytest.raises(ArtefactError, match=said):
        load(folder)
