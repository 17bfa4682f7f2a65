import json

import pytest

from reports.blocks import Figure
from reports.charts.look import COLOURS, ON_PAPER, SHAPES, page_spec, picture_spec
from reports.charts.series import legend

FIGURE = Figure({"mark": {"type": "rule", "color": "var(--ink)"}, "width": "container"}, "a rule")
WHITE, DARK = "#ffffff", "#1b1f26"  # a page is darker still


def luminance(colour: str) -> float:
    """Relative luminance of sRGB, as WCAG 2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("ground", [WHITE, DARK])
def test_series_can_be_seen_on_light_and_dark(colour: str, ground: str) -> None:
    assert contrast(colour, ground) >= 3


def test_a_shape_for_each_colour() -> None:
    assert len(set(SHAPES)) == len(set(COLOURS)) == len(SHAPES)


def test_a_page_fills_the_frames_colours_in() -> None:
    spec = page_spec(FIGURE)
    assert spec["width"] == "container" and spec["mark"]["color"] == "var(--ink)"
    assert spec["config"]["background"] == "transparent"
    for part in ("axis", "legend"):
        assert spec["config"][part]["labelColor"] == spec["config"][part]["titleColor"]
        assert spec["config"][part]["labelColor"] == "var(--ink)"
    assert spec["config"]["axis"]["gridColor"] == "var(--grid)"


def test_a_pictures_legend_has_the_columns_that_axes_leave_room_for() -> None:
    # 34 + 6.6 px a letter: 173 px, of which 490 hold 2; and 1 of any length
    entries = [legend(["x" * 21]).to_dict(), legend(["x" * 200]).to_dict()]
    assert "containerSize()[0]" in entries[0]["columns"]["expr"]
    spec = picture_spec(Figure({**FIGURE.spec, "legends": entries}, "a rule"))
    assert [entry["columns"] for entry in spec["legends"]] == [2, 1]


def test_a_picture_has_those_of_paper() -> None:
    spec = picture_spec(FIGURE)
    assert "var(" not in json.dumps(spec)
    assert spec["width"] == 560 and spec["mark"]["color"] == ON_PAPER["var(--ink)"]
    assert spec["config"]["background"] == WHITE
    assert FIGURE.spec["width"] == "container"  # unchanged
