from collections.abc import Callable
from pathlib import Path

import pytest

from actmodels.errors import ArtefactError
from actmodels.sequences.byte_kinds import KINDS as MADE
from reports.artefacts import load
from reports.characters_files import KINDS
from tests.reports.conftest import Edit, Row

WEIGHT = "ponder weight 0.1"
Change = Callable[[Row], Row | None]


def test_kinds_are_those_of_the_stage() -> None:
    assert set(KINDS) == set(MADE)


def one(change: Row | None, **place: str) -> Change:
    """A change of the rows at a place, or their loss."""

    def changed(row: Row) -> Row | None:
        if any(row[k] != v for k, v in place.items()):
            return row
        return None if change is None else row | change

    return changed


@pytest.mark.parametrize(
    ("file", "change", "problem"),
    [
        (
            *("bytes", one({"task": "parity"}, kind="digit")),
            "has the task 'parity'; must be characters",
        ),
        (
            *("bytes", one({"seed": "4"}, run=WEIGHT, seed="3")),
            f"has seed 4 of characters, {WEIGHT}, which results.csv has not",
        ),
        (
            *("bytes", one(None, run=WEIGHT, seed="3")),
            f"lacks seed 3 of characters, {WEIGHT}, which results.csv has",
        ),
        ("bytes", one({"kind": "digit"}, kind="space"), "has without ACT, 1, digit twice"),
        (
            *("bytes", one({"kind": "vowel"}, kind="letter")),
            "has the kind 'vowel'; must be one of letter; digit; space; line end; sentence end; "
            "comma, colon or semicolon; markup or other mark",
        ),
        (
            *("bytes", one({"bytes": "7"}, kind="digit", run=WEIGHT, seed="2")),
            f"seed 2 of characters, {WEIGHT}: bytes of each kind must be at least 1, and the same "
            "for all",
        ),
        (
            *("bytes", one({"bytes": "0"}, kind="digit")),
            "seed 1 of characters, without ACT: bytes of each kind must be at least 1, and the "
            "same for all",
        ),
        (
            *("bytes", one({"steps": ""}, kind="digit", run=WEIGHT, seed="2")),
            f"seed 2 of characters, {WEIGHT}: steps must be a number of at least 1",
        ),
        (
            *("bytes", one({"ponder": "2.0"}, run="without ACT", seed="2")),
            "seed 2 of characters, without ACT: ponder must be empty without halting",
        ),
        (
            *("reading", one(None, run=WEIGHT)),
            f"has 0 seeds of characters, {WEIGHT}; must have one",
        ),
        (
            *("reading", one({"seed": "2"}, run=WEIGHT, position="9")),
            f"has 2 seeds of characters, {WEIGHT}; must have one",
        ),
        (
            *("reading", one({"position": "99"}, run=WEIGHT, position="9")),
            f"seed 1 of characters, {WEIGHT}: position must count from 1",
        ),
        (
            *("reading", one({"byte": "65"}, run="ponder weight 0.03", position="9")),
            "seed 1 of characters, ponder weight 0.03: byte must be 0 to 255, and the passage the "
            "same for all",
        ),
        (
            *("reading", one({"byte": "256"}, position="9")),
            f"seed 1 of characters, {WEIGHT}: byte must be 0 to 255, and the passage the same for "
            "all",
        ),
        (
            *("reading", one({"steps": "0"}, run=WEIGHT, position="9")),
            f"seed 1 of characters, {WEIGHT}: steps must be a number of at least 1",
        ),
    ],
)
def test_what_must_hold(folder: Path, edit: Edit, file: str, change: Change, problem: str) -> None:
    edit(f"graves/{file}.csv", change)
    with pytest.raises(ArtefactError) as caught:
        load(folder)
    where = f"artefacts/graves/{file}.csv"
    assert str(caught.value) == f"{where}: {problem}; run: dvc repro -f -s graves"


def test_characters_have_no_difficulty(folder: Path, edit: Edit) -> None:
    edit("graves/difficulty.csv", lambda row: row | {"task": "characters"})
    with pytest.raises(ArtefactError, match=r"has characters; they have no difficulty; run: dvc"):
        load(folder)


def test_a_loss_that_is_no_number(folder: Path, edit: Edit) -> None:
    edit("graves/reading.csv", one({"loss": "much"}, run=WEIGHT, position="1"))
    with pytest.raises(ArtefactError, match=r"reading\.csv, line 2: loss is 'much'; must be a num"):
        load(folder)
