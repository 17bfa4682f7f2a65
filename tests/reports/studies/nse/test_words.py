from collections.abc import Callable
from pathlib import Path

import pytest

from reports.spread import MINUS
from reports.stored.artefacts import Artefacts, load
from reports.studies.nse.words import nse_note, nse_sentences
from tests.reports.conftest import GATED, HALTING, ONE, Edit, Row, settle

Change = Callable[..., str]


@pytest.fixture
def said(folder: Path, edit: Edit) -> Change:
    """What is said of names after changes of one run's figures."""

    def said(run: str, tests: tuple[str, ...] = (), published: bool = False, **more: str) -> str:
        def changed(row: Row) -> Row:
            if (row["questions"], row["run"]) != ("NE", run):
                return row
            test = {"test_accuracy": tests[int(row["seed"]) - 1]} if tests else {}
            return row | test | {k: v for k, v in more.items() if k in row}

        edit("nse/results.csv", changed)
        settle(folder)
        ends = {k: v for k, v in more.items() if k in ("difference", "low", "high", "p")}
        here = ("NE", run)
        edit("nse/runs.csv", lambda r: r | ends if (r["questions"], r["run"]) == here else r)
        return nse_sentences(load(folder), "NE", published)

    return said


def test_against_one_step(artefacts: Artefacts) -> None:
    text = nse_sentences(artefacts, "NE", published=False)
    assert (
        f"On test, *{GATED}* is clearly above *{ONE}*: +3.00 points, 95 % interval +1.20 to +4.80."
    ) in text
    assert (
        f"On test, *{HALTING}* is not clearly above *{ONE}*: +1.00 points, 95 % interval "
        f"{MINUS}1.10 to +3.10."
    ) in text
    nouns = nse_sentences(artefacts, "CN", published=False)
    assert f"*{GATED}* is clearly below *{ONE}*: {MINUS}2.00 points" in nouns
    assert f"*{HALTING}* is clearly above *{ONE}*: +1.00 points" in nouns


def test_no_difference_at_all(said: Change) -> None:
    text = said(GATED, ("0.57", "0.58", "0.59"), low="0.0", high="0.0")
    assert f"*{GATED}* is level with *{ONE}*: 0.00 points, 95 % interval 0.00 to 0.00" in text


def test_some_above_and_some_below_the_most_frequent_candidate(said: Change) -> None:
    text = said(GATED, ("0.20", "0.20", "0.20"))
    assert f"*{ONE}* and *{HALTING}*" not in text  # names with commas are parted by semicolons
    assert (
        f"; *{ONE}*; and *{HALTING}* are clearly above; *{GATED}* is clearly below it, by" in text
    )


@pytest.mark.parametrize(
    ("taken", "spread", "how"),
    [
        ("1.4", "0.5", "1.40 ± 0.00 of 6 steps: collapsed, the answer is as good as the first"),
        ("5.6", "0.5", "5.60 ± 0.00 of 6 steps: it hardly ever halts before the last step."),
        ("3.0", "0.05", "3.00 ± 0.00 of 6 steps, about as many for every question (sd between"),
        ("3.0", "0.5", "3.00 ± 0.00 of 6 steps, more for some questions than for others (sd bet"),
        ("3.0", "", "3.00 ± 0.00 of 6 steps."),
    ],
)
def test_halting(said: Change, taken: str, spread: str, how: str) -> None:
    text = said(HALTING, test_mean_steps=taken, dev_sd_steps=spread)
    assert f"In the mean, *{HALTING}* answers after {how}" in text


def test_halting_that_diverged(said: Change) -> None:
    text = said(HALTING, test_mean_steps="", dev_mean_steps="", diverged="True")
    assert f"With every seed, *{HALTING}* diverged." in text


def test_over_fitting(artefacts: Artefacts, said: Change) -> None:
    text = nse_sentences(artefacts, "NE", published=False)
    # 8 ± 2 against 3 ± 0: standard error 1.15; 4 ± 1 against 3 ± 0: 0.58
    assert (
        f"Dev minus test accuracy, points: +3.00 ± 0.00 for *{ONE}*; +4.00 ± 1.00 for *{GATED}*; "
        f"and +8.00 ± 2.00 for *{HALTING}*; clearly larger than with one step for *{HALTING}*, "
        "which fits dev more than test."
    ) in text
    assert (
        f"Training (with dropout) minus dev accuracy at the best epochs: +2.00 ± 0.00 for *{ONE}*;"
        in text
    )
    text = said(HALTING, ("0.63", "0.65", "0.64"))
    assert f"and +3.00 ± 0.00 for *{HALTING}*; clearly larger with more steps for none of" in text


def test_as_many_questions_as_were_published(folder: Path, edit: Edit, said: Change) -> None:
    counts = {"train": "108719", "dev": "2000", "test": "2500"}
    edit(
        "nse/baselines.csv",
        lambda r: r | {"count": counts[r["split"]]} if r["questions"] == "NE" else r,
    )
    edit(
        "nse/results.csv",
        lambda r: r | {"test_questions": "2500"} if r["questions"] == "NE" else r,
    )
    text = said(ONE, published=True)
    assert (
        "There are as many questions here as in their Children's Book Test (named entities)" in text
    )
    assert "no yardstick" not in text


def test_only_one_step(folder: Path, edit: Edit, no_nse: Callable[[], None]) -> None:
    for file in ("results", "runs", "history", "steps", "timings"):
        edit(f"nse/{file}.csv", lambda row: row if row["run"] == ONE else None)
    (folder / "nse" / "queries.jsonl").write_text("", encoding="utf-8")
    text = nse_sentences(load(folder), "NE", published=False)
    assert text.startswith("The most frequent candidate") and "Dev minus test" not in text


@pytest.mark.parametrize(
    ("source", "said"),
    [("cbt", "of the Children's Book Test"), ("whodidwhat", "of Who-Did-What")],
)
def test_the_note_says_whose_questions(folder: Path, edit: Edit, source: str, said: str) -> None:
    edit("nse/baselines.csv", lambda row: row | {"source": source})
    note = nse_note(load(folder))
    assert f"Questions {said} ask for names and common nouns." in note
    assert "fewer than they seem" not in note
