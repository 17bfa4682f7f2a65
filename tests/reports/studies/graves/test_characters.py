from pathlib import Path

import pytest

from reports.blocks import DASH
from reports.spread import MINUS
from reports.stored.artefacts import Artefacts, load
from reports.studies.graves.characters import (
    characters_sentences,
    characters_table,
    kinds_table,
)
from tests.reports.conftest import GRAVES, Edit, Row

WEIGHT = "ACT, ponder weight 0.1"


def rows(table: str) -> list[list[str]]:
    return [[c.strip() for c in line.strip("|").split(" | ")] for line in table.splitlines()]


def only(edit: Edit, *runs: str) -> None:
    """Characters alone, and of them these runs."""
    for file in GRAVES:
        edit(f"{file}.csv", lambda r: r if r["task"] == "characters" and r["run"] in runs else None)


def steps(edit: Edit, kind: str, *values: str) -> None:
    """Other steps of the first weight on a kind, by seed."""

    def changed(row: Row) -> Row:
        here = (row["run"], row["kind"]) == (WEIGHT, kind)
        return row | {"steps": values[int(row["seed"]) - 1]} if here else row

    edit("graves/bytes.csv", changed)


def bits(edit: Edit, *values: float) -> None:
    """Other bits of the first weight, by seed."""

    def changed(row: Row) -> Row:
        here = (row["task"], row["run"]) == ("characters", WEIGHT)
        loss = str(values[int(row["seed"]) - 1] * 0.6931471805599453)
        return row | {"dev_loss": loss} if here else row

    edit("graves/results.csv", changed)


def test_rows_by_hand(artefacts: Artefacts) -> None:
    header, _, *found = rows(str(characters_table(artefacts)))
    assert header[2:6] == [
        *("bits per character", "bytes wrong, %"),
        *("mean steps per byte", "mean N + R"),
    ]
    assert found[0] == ["without ACT", "3", "3.10 ± 0.10", "51.0 ± 1.00", DASH, DASH, "2,345"]
    assert found[1][2:6] == ["3.00 ± 0.10", "50.0 ± 1.00", "1.60 ± 0.10", "2.10 ± 0.10"]


def test_kinds_by_hand(artefacts: Artefacts) -> None:
    header, _, *found = rows(str(kinds_table(artefacts)))
    assert header[:4] == ["run", "kind of byte", "share, %", "mean steps"]
    assert [row[1] for row in found[:4]] == ["letter", "digit", "space", "line end"]
    # 1,500 of 10,000 bytes; seeds 2.0, 2.2, 2.1
    assert found[2] == [
        *(WEIGHT, "space", "15.0", "2.10 ± 0.10", "2.60 ± 0.10", "2.20 ± 0.00", "3.20 ± 0.00"),
    ]
    assert {row[0] for row in found} == {WEIGHT, "ACT, ponder weight 0.03"}


def test_runs_that_diverged_are_counted(folder: Path, edit: Edit) -> None:
    def lost(row: Row) -> Row:
        here = (row["task"], row["run"], row["seed"]) == ("characters", WEIGHT, "3")
        return row | {"diverged": "True"} if here else row

    edit("graves/results.csv", lost)
    header, _, *found = rows(str(characters_table(load(folder))))
    assert header[-1] == "runs diverged"
    assert [row[-1] for row in found] == ["0 of 3", "1 of 3", "0 of 3"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((3.2, 3.3, 3.4), "3.30 ± 0.10, *without ACT* 3.10 ± 0.10: clearly more (+0.20 ± 0.00"),
        ((2.5, 3.2, 3.3), f"not clearly fewer ({MINUS}0.10 ± 0.35 bits"),
        ((3.0, 3.1, 4.0), "not clearly more (+0.27 ± 0.46 bits"),
    ],
)
def test_bits_whichever_way_they_fall(
    folder: Path, edit: Edit, values: tuple[float, ...], said: str
) -> None:
    only(edit, "without ACT", WEIGHT)
    bits(edit, *values)
    assert said in characters_sentences(load(folder), published=False)


def test_pauses_by_hand(artefacts: Artefacts) -> None:
    assert (
        f"*{WEIGHT}* takes 1.60 ± 0.10 steps on a letter, and compared with that clearly more on a "
        "space (+0.50 ± 0.10); clearly more on a line end (+1.00 ± 0.00); neither fewer nor more "
        "on a sentence end (0.00 ± 0.50); clearly fewer on a comma, colon or semicolon "
        f"({MINUS}0.10 ± 0.00) (sd over 3 paired seeds); most, 2.60, on a line end: it clearly "
        "pauses at 2 of the 4 kinds of boundaries."
    ) in characters_sentences(artefacts, published=False)


def test_pauses_everywhere(folder: Path, edit: Edit) -> None:
    only(edit, WEIGHT)
    for kind in ("sentence end", "comma, colon or semicolon"):
        steps(edit, kind, "3.0", "3.1", "3.2")
    text = characters_sentences(load(folder), published=False)
    assert text.endswith(
        "most, 3.10, on a sentence end: it clearly pauses at every kind of boundary."
    )


def test_pauses_nowhere(folder: Path, edit: Edit) -> None:
    only(edit, WEIGHT)
    for kind in ("space", "line end", "sentence end", "comma, colon or semicolon"):
        steps(edit, kind, "1.5", "1.6", "1.7")
    text = characters_sentences(load(folder), published=False)
    assert text.endswith("on a markup or other mark: it pauses clearly at no kind of boundary.")
    steps(edit, "space", "1.0", "1.1", "1.2")
    text = characters_sentences(load(folder), published=False)
    assert text.endswith("it pauses clearly at no kind of boundary, and hurries over 1.")


def test_a_text_without_letters_says_nothing_of_pauses(folder: Path, edit: Edit) -> None:
    only(edit, WEIGHT)
    edit("graves/bytes.csv", lambda row: None if row["kind"] == "letter" else row)
    assert characters_sentences(load(folder), published=False) == ""


def test_without_act_there_are_no_steps(folder: Path, edit: Edit) -> None:
    only(edit, "without ACT")
    artefacts = load(folder)
    assert characters_sentences(artefacts, published=False) == ""
    assert kinds_table(artefacts).rows == []
