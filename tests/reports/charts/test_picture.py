from io import BytesIO
from pathlib import Path

import altair as alt
import pytest
import vl_convert
from PIL import Image

from reports.blocks import Figure
from reports.charts import look
from reports.charts.look import VEGA_LITE, draw, picture_spec, write_pictures
from reports.charts.series import figure


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
