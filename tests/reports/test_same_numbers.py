"""The page, the markdown, the tables of CSV and the metrics say the same numbers."""

import csv
import json
import math
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from reports.spread import Spread, title

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


def test_metrics_are_the_cells_of_table_1(written: Path) -> None:
    metrics = json.loads((written / "metrics.json").read_text("utf-8"))
    (table,) = [
        t
        for t in markdown_tables((written / "report.md").read_text("utf-8"))
        if t[0][:3] == ["system", "corpus", "source"]
    ]
    rows = {row[0]: dict(zip(table[0], row, strict=True)) for row in table[1:] if "this" in row[2]}
    for model in MODELS:
        row, n = rows[title(model)], metrics[f"{model}.seeds"]

        def spread(name: str, model: str = model, n: int = n) -> Spread:
            return Spread(metrics[f"{model}.{name}_mean"], metrics[f"{model}.{name}_sd"], n)

        assert row["test accuracy, %"] == spread("test_accuracy").percent()
        assert row["dev accuracy, %"] == spread("dev_accuracy").percent()
        assert row["seeds"] == str(n)
        assert row["parameters"] == f"{metrics[f'{model}.parameters']:,}"
    assert rows[title(MODELS[1])]["mean steps"] == spread("mean_steps").plain()


def test_the_classifier_of_words_has_one_run(written: Path) -> None:
    metrics = json.loads((written / "metrics.json").read_text("utf-8"))
    place = "lexicalised_classifier"
    text = (written / "report.md").read_text("utf-8")
    (row,) = [line for line in text.splitlines() if line.startswith("| **Lexicalised")]
    test = f"{100 * metrics[f'{place}.test_accuracy_mean']:.1f}"
    dev = f"{100 * metrics[f'{place}.dev_accuracy_mean']:.1f}"
    assert f"| {metrics[f'{place}.parameters']:,} | **{test}** | {dev} | 1 |" in row
    assert f"{place}.test_accuracy_sd" not in metrics


def test_csv_has_the_numbers_of_the_metrics(written: Path) -> None:
    metrics = json.loads((written / "metrics.json").read_text("utf-8"))

    def rows(name: str) -> list[dict[str, str]]:
        with (written / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    by_system = {r["system"]: r for r in rows("table1.csv") if r["source"] == "this project"}
    for model in MODELS:
        for name in ("test_accuracy_mean", "test_accuracy_sd", "dev_accuracy_mean"):
            assert float(by_system[title(model)][name]) == metrics[f"{model}.{name}"]
    fixed = [r for r in rows("ablation.csv") if r["split"] == "test" and r["steps"]]
    assert fixed
    for row in fixed:
        place = f"ablation.{row['reading']}_{row['steps']}"
        assert float(row["accuracy_mean"]) == metrics[f"{place}.accuracy_mean"]
        gain = metrics[f"{place}.adaptive_gain_mean"]
        assert math.isclose(float(row["adaptive_minus_this_mean"]), gain)


def test_claims_are_those_of_the_metrics(written: Path) -> None:
    metrics = json.loads((written / "metrics.json").read_text("utf-8"))
    place = "adaptive_attention.minus_decomposable_attention"
    mean, low, high = (100 * metrics[f"{place}.{name}"] for name in ("mean", "low", "high"))
    said = f"| {mean:+.2f} ({low:+.2f} to {high:+.2f}) points |".replace("-", "\N{MINUS SIGN}")
    assert said in (written / "report.md").read_text("utf-8")
