"""Page, Markdown, tables and figures of a report."""

import csv
import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest
from PIL import Image

from actmodels.errors import ArtifactError
from reports.blocks import Report
from reports.marks import png, png_spec
from reports.render import plain, write_report
from tests.reports.conftest import STUDIES, edit

MAX_BYTES = 2_000_000


def test_the_report_equals_the_golden_file(
    written: Path, golden: Callable[[str, str], None]
) -> None:
    golden("report.md", (written / "report.md").read_text("utf-8"))
    assert not list(written.rglob("old.*"))  # files of an earlier report


def markdown_rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [line[2:-2].split(" | ") for line in lines if not line.startswith("| ---")]
    return [[re.sub(r"\\(.)", r"\1", cell) for cell in row] for row in cells]


def page_rows(text: str) -> list[list[str]]:
    text = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    rows = re.findall(r"<tr.*?</tr>", text, re.DOTALL)
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in rows]
    return [[unescape(re.sub(r"<[^>]+>", "", cell)) for cell in row] for row in cells]


def test_page_and_markdown_have_the_same_tables(written: Path) -> None:
    page = page_rows((written / "index.html").read_text("utf-8"))
    names = ("report.md", "timings.md")
    text = [row for name in names for row in markdown_rows((written / name).read_text("utf-8"))]
    tiles = 2  # rows: the page has them in another form
    assert page == text[tiles:] and len(page) > 200


def test_every_table_is_a_file_with_plain_numbers(written: Path) -> None:
    with (written / "tables" / "table_1.csv").open(encoding="utf-8", newline="") as file:
        first = next(csv.DictReader(file))
    assert first["model"] == "decomposable_attention"
    assert float(first["test_accuracy_mean"]) == 0.81 and float(first["test_accuracy_sd"]) == 0.01
    names = {path.stem for path in (written / "tables").glob("*.csv")}
    assert {"claims", "ablation", "multihop", "sweep_settings", "published"} <= names


def test_the_page_is_small_and_loads_nothing(written: Path) -> None:
    page = (written / "index.html").read_text("utf-8")
    assert len(page.encode()) < MAX_BYTES
    text = re.sub(r"<script>\(\(\) => \{.*?\n\}\)\(\);</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", text)


def test_artifact_text_is_escaped(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reports.render.write_pictures", lambda charts, folder: None)
    name = "</script><b>*x*|`y`"
    edit(folder, "studies/fidelity/variants", lambda f: f.replace({"variant": {"unmasked": name}}))
    write_report(folder, tmp_path / "report", STUDIES, examples=10)
    page = (tmp_path / "report" / "index.html").read_text("utf-8")
    assert "</script><b>" not in page
    assert (
        "&lt;/script&gt;&lt;b&gt;*x*|`y`" in page
        and "\\u003c/script\\u003e\\u003cb\\u003e*x*" in page
    )
    assert plain(name) in (tmp_path / "report" / "report.md").read_text("utf-8")


def test_nothing_is_written_without_an_artifact(folder: Path, tmp_path: Path) -> None:
    (folder / "studies" / "cloze" / "runs.csv").unlink()
    with pytest.raises(ArtifactError):
        write_report(folder, tmp_path / "report", STUDIES, examples=10)
    assert not (tmp_path / "report").exists()


def test_every_chart_has_a_reproducible_figure(written: Path, built: Report) -> None:
    charts = built.charts
    figures = {path.stem for path in (written / "figures").glob("*.png")}
    assert figures == {chart.name for chart in charts} and len(charts) == len(figures)
    first = charts[0]
    assert png(first) == (written / "figures" / f"{first.name}.png").read_bytes()
    with Image.open(written / "figures" / f"{first.name}.png") as image:
        assert image.width > 1000
    assert "var(--" not in json.dumps(png_spec(first))
