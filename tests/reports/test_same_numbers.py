"""The page, the markdown, the tables of CSV and the metrics say the same numbers."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

MODELS = ("decomposable_attention", "adaptive_attention")
Table = list[list[str]]


class Tables(HTMLParser):
    """The cells of all tables that the report's own text has; charts and data are passed over."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[Table] = []
        self.cell: list[str] | None = None
        self.islands = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "section":
            self.islands = int(("class", "island") in attrs)
        elif tag == "table" and not self.islands:
            self.tables.append([])
        elif tag == "tr" and not self.islands:
            self.tables[-1].append([])
        elif tag in ("td", "th") and not self.islands:
            self.cell = []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self.cell is not None:
            self.tables[-1][-1].append("".join(self.cell).strip())
            self.cell = None

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.cell.append(data)


def markdown_tables(text: str) -> Iterator[Table]:
    """The tables of a markdown text, without marks of emphasis and code."""
    for block in text.split("\n\n"):
        lines = block.strip().splitlines()
        if lines and lines[0].startswith("|"):
            plain = [re.sub(r"[*`]", "", line) for line in (lines[0], *lines[2:])]
            yield [[cell.strip() for cell in line[1:-1].split("|")] for line in plain]


def test_the_page_has_the_tables_of_the_markdown_cell_by_cell(written: Path) -> None:
    page = Tables()
    page.feed((written / "index.html").read_text("utf-8"))
    text = "\n\n".join((written / name).read_text("utf-8") for name in ("report.md", "timings.md"))
    expected = list(markdown_tables(text))
    assert len(expected) >= 15
    assert page.tables == expected


def test_the_page_has_the_sentences_of_the_markdown(written: Path) -> None:
    page = re.sub(r"<[^>]+>", "", (written / "index.html").read_text("utf-8"))
    text = (written / "report.md").read_text("utf-8")
    paragraphs = [p for p in text.split("\n\n") if re.match(r"(\*\*)?[A-Z]", p)]
    assert len(paragraphs) >= 8
    for paragraph in paragraphs:
        plain = re.sub(r"[*`]", "", paragraph).replace("&", "&amp;").replace("<", "&lt;")
        assert plain in page
