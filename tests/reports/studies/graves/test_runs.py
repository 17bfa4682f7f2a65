from pathlib import Path

import pytest

from reports.blocks import DASH
from reports.spread import MINUS
from reports.stored.artefacts import Artefacts, load
from reports.studies.graves.runs import (
    best_run,
    graves_runs,
    graves_table,
    graves_tasks,
)
from reports.studies.graves.words import graves_note, graves_sentences, graves_story
from tests.reports.conftest import GRAVES, Edit, Row

WEIGHT = "ACT, ponder weight 0.001"


def rows(artefacts: Artefacts, task: str) -> list[list[str]]:
    lines = str(graves_table(artefacts, task)).splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def only(edit: Edit, *runs: str) -> None:
    for file in GRAVES:
        edit(f"{file}.csv", lambda row: row if row["run"] in runs else None)


def errors(edit: Edit, task: str, run: str, *values: str) -> None:
    """Another dev error for each of the three seeds."""

    def changed(row: Row, best: bool) -> Row:
        here = (row["task"], row["run"]) == (task, run) and best
        return row | {"dev_error": values[int(row["seed"]) - 1]} if here else row

    edit("graves/results.csv", lambda row: changed(row, True))
    edit("graves/history.csv", lambda row: changed(row, row["epoch"] == "3"))


def test_rows_by_hand(artefacts: Artefacts) -> None:
    assert graves_tasks(artefacts) == ("parity", "addition")
    header, _, *found = rows(artefacts, "parity")
    assert header == ["run", "seeds", "sequence error, %", "mean steps per input", "parameters"]
    assert found[0] == ["without ACT", "3", "40.0 ± 2.00", DASH, "1,201"]
    assert found[1] == [WEIGHT, "3", "4.0 ± 1.00", "9.00 ± 1.00", "1,301"]


def test_runs_that_diverged_are_counted(artefacts: Artefacts) -> None:
    header, _, *found = rows(artefacts, "addition")
    assert header[-1] == "runs diverged"
    assert [row[-1] for row in found] == ["0 of 3", "0 of 3", "1 of 3"]
    assert found[1][0] == "ACT, ponder weight 0.00005"


def test_growth_by_hand(artefacts: Artefacts) -> None:
    _, few, many = graves_runs(artefacts, "parity")
    assert few.growth is not None and many.growth is not None
    assert few.growth.slope.mean == 0.5 and few.growth.slope.sd == pytest.approx(0.1)
    assert few.growth.pearson is not None and few.growth.pearson.mean == pytest.approx(1)
    # slopes 0.1, -0.1 and 0, of which the last has no correlation
    assert many.growth.slope.mean == pytest.approx(0) and not many.growth.slope.clear()
    assert many.growth.pearson is not None and many.growth.pearson.n == 2
    assert graves_runs(artefacts, "addition")[2].growth is not None
    assert graves_runs(artefacts, "addition")[2].growth.pearson is None  # type: ignore[union-attr]
    assert graves_runs(artefacts, "addition")[0].growth is None


def test_the_best_of_equals_is_the_first(folder: Path, edit: Edit) -> None:
    errors(edit, "parity", "ACT, ponder weight 0.01", "0.04", "0.05", "0.03")
    best = best_run(graves_runs(load(folder), "parity"), "act")
    assert best is not None and best.name == WEIGHT


def test_act_against_none_pairs_seeds(artefacts: Artefacts) -> None:
    # seeds: 4 - 40, 5 - 42, 3 - 38
    assert (
        f"Sequence error with *{WEIGHT}* (the best of 2 on dev) is 4.0 ± 1.00 %, *without "
        f"ACT* 40.0 ± 2.00 %: clearly less ({MINUS}36.00 ± 1.00 points, sd over 3 paired seeds)."
    ) in graves_sentences(artefacts, "parity", published=True)
    text = graves_sentences(artefacts, "addition", published=True)
    # 22 - 20, 20 - 22, 24 - 24; and 25 - 20, 27 - 22, 26 - 24
    assert (
        "with *ACT, ponder weight 0.00005* is 22.0 ± 2.00 %, *without ACT* 22.0 ± 2.00 %: " in text
    )
    assert ": neither less nor more (0.00 ± 2.00 points, sd over 3 paired seeds)." in text
    assert "with *fixed steps 3* is 26.0 ± 1.00 %, *without" in text
    assert ": not clearly more (+4.00 ± 1.73 points" in text


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (("0.50", "0.52", "0.48"), "clearly more (+10.00 ± 0.00 points"),
        (("0.30", "0.52", "0.35"), f"not clearly less ({MINUS}1.00 ± 10.15 points"),
        (("0.30", "0.60", "0.48"), "not clearly more (+6.00 ± 14.42 points"),
    ],
)
def test_errors_whichever_way_they_fall(
    folder: Path, edit: Edit, values: tuple[str, ...], said: str
) -> None:
    only(edit, "without ACT", WEIGHT)
    errors(edit, "parity", WEIGHT, *values)
    assert said in graves_sentences(load(folder), "parity", published=True)


def test_steps_that_do_not_follow(folder: Path, edit: Edit) -> None:
    only(edit, "without ACT", "ACT, ponder weight 0.01")
    text = graves_sentences(load(folder), "parity", published=True)
    assert (
        "*ACT, ponder weight 0.01* do not clearly follow the entries that are not 0: 0.00" in text
    )
    assert "Pearson's r over the difficulties 0.00 of the 2 where they change)." in text


def test_steps_that_shrink(folder: Path, edit: Edit) -> None:
    def turned(row: Row) -> Row:
        return row | {"difficulty": str(9 - int(row["difficulty"]))}

    edit("graves/difficulty.csv", lambda row: turned(row) if row["task"] == "parity" else row)
    text = graves_sentences(load(folder), "parity", published=True)
    assert f"shrink with the entries that are not 0: {MINUS}0.50 ± 0.10 steps for each" in text
    assert f"difficulties {MINUS}1.00)" in text


def test_steps_that_never_change(folder: Path, edit: Edit) -> None:
    edit("graves/difficulty.csv", lambda r: r | {"mean_steps": r["mean_steps"] and "2.0"})
    text = graves_sentences(load(folder), "parity", published=True)
    assert "do not clearly follow the entries that are not 0: 0.00 ± 0.00 steps" in text
    assert "(sd over 3 seeds; the same for all)." in text


def test_one_difficulty_says_nothing_of_steps(folder: Path, edit: Edit) -> None:
    edit("graves/difficulty.csv", lambda row: row if row["difficulty"] == "2" else None)
    assert "mean steps of" not in graves_sentences(load(folder), "parity", published=True)


def test_a_story_without_parity_is_of_another_task(folder: Path, edit: Edit) -> None:
    for file in GRAVES:
        edit(f"{file}.csv", lambda row: None if row["task"] == "parity" else row)
    said = graves_story(load(folder))
    assert said.startswith("On Graves' addition task") and "with them: neither less nor" in said


def test_a_story_whose_steps_follow_nothing(folder: Path, edit: Edit) -> None:
    only(edit, "without ACT", "ACT, ponder weight 0.01")
    said = graves_story(load(folder))
    assert "Its steps do not clearly follow difficulty: 5.00 ± 1.21 at 1 and 5.00 ± 0.88" in said
    only(edit, "without ACT")
    assert graves_story(load(folder)) == ""


def test_a_harder_task(folder: Path, edit: Edit) -> None:
    edit("graves/difficulty.csv", lambda r: r | {"difficulty": str(2 * int(r["difficulty"]))})
    text = graves_sentences(load(folder), "addition", published=True)
    assert "up to 10 digits of a number here against 5 there, a harder task" in text


def test_without_act_there_is_nothing_to_compare(folder: Path, edit: Edit) -> None:
    only(edit, "without ACT")
    assert graves_sentences(load(folder), "parity", published=False) == ""


def test_with_act_alone_neither(folder: Path, edit: Edit) -> None:
    only(edit, WEIGHT)
    assert graves_sentences(load(folder), "parity", published=False).startswith("The mean steps")


def test_the_note_says_what_is_counted(artefacts: Artefacts) -> None:
    note = graves_note(artefacts)
    assert "mean ± sd over 3 seeds" in note
    assert "entries that are not 0 (parity, error of sequences); and digits of a number (" in note
