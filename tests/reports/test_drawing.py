from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from reports.drawing import save


def draw(figure: Figure) -> None:
    figure.add_subplot().plot([1, 2], [3, 4])


def chunks(png: bytes) -> set[bytes]:
    """The kinds of chunk in a PNG file."""
    kinds, at = set(), 8
    while at < len(png):
        kinds.add(png[at + 4 : at + 8])
        at += 12 + int.from_bytes(png[at : at + 4], "big")
    return kinds


def test_the_readers_own_settings_play_no_part(tmp_path: Path) -> None:
    save(tmp_path / "plain.png", draw, (2, 2))
    with mpl.rc_context({"lines.linewidth": 20, "figure.facecolor": "red", "savefig.dpi": 30}):
        save(tmp_path / "mine.png", draw, (2, 2))
    assert (tmp_path / "plain.png").read_bytes() == (tmp_path / "mine.png").read_bytes()


def test_no_text_with_versions_or_dates_is_stored(tmp_path: Path) -> None:
    save(tmp_path / "plain.png", draw, (2, 2))
    assert chunks((tmp_path / "plain.png").read_bytes()) == {b"IHDR", b"pHYs", b"IDAT", b"IEND"}


def test_a_failed_figure_leaves_nothing(tmp_path: Path) -> None:
    def fail(figure: Figure) -> None:
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        save(tmp_path / "plain.png", fail, (2, 2))
    assert list(tmp_path.iterdir()) == []
