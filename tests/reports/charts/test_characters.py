from pathlib import Path

import pytest

from reports.blocks import Figure
from reports.charts.characters import LINE, characters_charts, shown
from reports.charts.look import BLUE, ORANGE
from reports.stored.artefacts import Artefacts, load
from tests.reports.charts.reading import axes, by_name, legend, marks, pick, rows
from tests.reports.conftest import GRAVES, Edit


def characters_figures(artefacts: Artefacts) -> dict[str, Figure]:
    return by_name(characters_charts(artefacts))


def test_a_figure_for_each_run_that_halts(artefacts: Artefacts) -> None:
    names = ["characters_passage_1", "characters_passage_2", "characters_curves"]
    assert list(characters_figures(artefacts)) == names


def test_the_passage_can_be_read(artefacts: Artefacts) -> None:
    found = rows(characters_figures(artefacts)["characters_passage_1"], "sign")
    lines: dict[int, str] = {}
    for row in found:
        lines[row["y"]] = lines.get(row["y"], "") + row["sign"]
    assert list(lines.values()) == [
        'The·caf\u25a1\u25a1·[[fox]],·12·years¶old,·is·"red',
        '".·It·naps.·<br>',
    ]
    assert [len(line) for line in lines.values()] == [LINE, 56 - LINE]
    assert [row["x"] for row in found[:3]] == [0, 1, 2] and found[LINE]["x"] == 0


def test_bars_by_hand(artefacts: Artefacts) -> None:
    """Up: steps of at most 3; down: loss of 1 to 5 bits."""
    figure = characters_figures(artefacts)["characters_passage_1"]
    found = rows(figure, "sign")
    end = pick(found, byte="line end")
    assert end["steps"] == "3" and end["ponder"] == "3.25"
    full, least = end["up"] - end["foot"], found[0]["up"] - found[0]["foot"]
    assert least == pytest.approx(full / 3, abs=1e-4)
    most = [row["drop"] - row["down"] for row in found if row["bits"] == "5.00"]
    fewest = [row["drop"] - row["down"] for row in found if row["bits"] == "1.00"]
    assert fewest[0] == pytest.approx(most[0] / 5, abs=1e-4)
    assert {row["entropy"] for row in found} == {"2.50"}
    drawn = [(mark, encoding["y"]["field"]) for mark, encoding in marks(figure.spec)]
    assert drawn == [("rect", "foot"), ("rect", "drop"), ("text", "y")]
    colours = [layer["mark"]["color"] for layer in figure.spec["layer"][:2]]
    assert colours == [BLUE, ORANGE] and axes(figure) == {}


def test_lines_do_not_touch(artefacts: Artefacts) -> None:
    found = rows(characters_figures(artefacts)["characters_passage_1"], "sign")
    lowest = min(row["down"] for row in found if row["y"] == 0)
    highest = max(row["up"] for row in found if row["y"] == -1)
    assert highest < lowest


def test_the_words_have_its_figures(artefacts: Artefacts) -> None:
    figure = characters_figures(artefacts)["characters_passage_1"]
    # of the 18 others 3 have one step (two digits, half a letter), the line end 3, the rest 2
    assert figure.alternative == (
        "Characters: steps of ACT, ponder weight 0.1 along 56 bytes that were not trained on, one "
        "seed: 1.43 in the mean, 1 to 3; 1.00 on 30 letters, 2.00 on 8 spaces, 1.89 on 18 other "
        "bytes."
    )


@pytest.mark.parametrize(
    ("byte", "drawn", "called"),
    [
        (ord("a"), "a", "a"),
        (32, "·", "space"),
        (10, "¶", "line end"),
        (9, "·", "tab"),
        (0xC3, "\u25a1", "byte 195"),
        (7, "\u25a1", "byte 7"),
        (127, "\u25a1", "byte 127"),
    ],
)
def test_how_bytes_are_shown(byte: int, drawn: str, called: str) -> None:
    assert shown(byte) == (drawn, called)


def test_bits_by_epoch(artefacts: Artefacts) -> None:
    figure = characters_figures(artefacts)["characters_curves"]
    assert legend(figure) == ["without ACT", "ACT, ponder weight 0.1", "ACT, ponder weight 0.03"]
    found = [row["y"] for row in rows(figure, "x") if row["series"] == "without ACT"]
    assert found == pytest.approx([4.1, 3.6, 3.1], abs=1e-4)
    assert axes(figure) == {"x": "epoch", "y": "bits per character"}


def test_nothing_was_read(folder: Path, edit: Edit) -> None:
    for file in GRAVES:
        edit(f"{file}.csv", lambda row: None if row["task"] == "characters" else row)
    assert characters_figures(load(folder)) == {}
