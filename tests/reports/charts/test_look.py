import json
from io import BytesIO
from pathlib import Path

import altair as alt
import pytest
import vl_convert
from PIL import Image

from reports.blocks import Figure
from reports.charts import look
from reports.charts.look import (
    COLOURS,
    ON_PAPER,
    SHAPES,
    VEGA_LITE,
    draw,
    page_spec,
    picture_spec,
    write_pictures,
)
from reports.charts.series import figure, legend

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


def point(x: float) -> Figure:
    chart = alt.Chart(alt.InlineData(values=[{"x": x}])).mark_point().encode(x="x:Q")
    return figure(chart, "A point", "of a test", f"A point at {x}.", height=60)


def test_equal_figures_give_equal_bytes() -> None:
    assert draw(point(3)) == draw(point(3)) != draw(point(4))


def test_twice_as_fine_as_a_screen() -> None:
    width = int.from_bytes(draw(point(3))[16:20], "big")
    assert width == 2 * 560


def test_no_text_with_versions_or_dates_is_stored() -> None:
    with Image.open(BytesIO(draw(point(3)))) as image:
        assert set(image.info) == {"dpi"}


def test_packing_changes_no_pixel() -> None:
    loose = vl_convert.vegalite_to_png(picture_spec(point(3)), vl_version=VEGA_LITE, ppi=144)
    packed = draw(point(3))
    assert len(packed) < len(loose) / 2
    with Image.open(BytesIO(packed)) as ours, Image.open(BytesIO(loose)) as theirs:
        assert list(ours.convert("RGBA").tobytes()) == list(theirs.convert("RGBA").tobytes())


def test_pictures_of_an_earlier_report_go(tmp_path: Path) -> None:
    (tmp_path / "old.png").write_bytes(b"of an earlier report")
    (tmp_path / "notes.txt").write_text("not a picture")
    assert write_pictures({"new": point(3)}, tmp_path) == {"new": tmp_path / "new.png"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.png", "notes.txt"]
    assert (tmp_path / "new.png").read_bytes() == draw(point(3))


def test_a_failed_picture_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_figure: Figure) -> bytes:
        raise RuntimeError("half way")

    (tmp_path / "new.png").write_bytes(b"before")
    monkeypatch.setattr(look, "draw", fail)
    with pytest.raises(RuntimeError, match="half way"):
        write_pictures({"new": point(3)}, tmp_path)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"before"]


def test_nothing_is_fetched() -> None:
    spec = {"data": {"url": "http://127.0.0.1:9/x.json"}, "mark": "point", "encoding": {}}
    with pytest.raises(ValueError, match="External data url not allowed"):
        draw(Figure(spec, "data from elsewhere"))
