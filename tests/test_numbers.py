"""Means with a spread on the first pages are on pages of results; these equal their files."""

import csv
import json
import re
from itertools import chain
from pathlib import Path
from statistics import mean, stdev

import pytest

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
NUMBER = re.compile(r"[−+]?\d+(?:\.\d+)? ± \d+\.\d+")
DECIMAL = re.compile(r"\d+\.\d+")


def numbers(*files: Path) -> set[str]:
    """Return the numbers of files that have a spread."""
    return {found for file in files for found in NUMBER.findall(file.read_text("utf-8"))}


@pytest.mark.parametrize("page", ["README.md", "docs/results.md", "docs/report.md"])
def test_a_number_of_a_first_page_is_on_a_page_of_results(page: str) -> None:
    found = numbers(ROOT / page)
    assert len(found) > 8 and found - numbers(*RESULTS.glob("*.md")) == set()


def test_a_decimal_of_the_report_is_a_result_or_was_published() -> None:
    report = re.sub(
        r"\(https://.*?\)|\[arXiv.*?\]", "", (ROOT / "docs/report.md").read_text("utf-8")
    )
    files = [*RESULTS.rglob("*.md"), *RESULTS.rglob("*.csv"), ROOT / "reports/published/snli.csv"]
    known = {found for file in files for found in DECIMAL.findall(file.read_text("utf-8"))}
    found = set(DECIMAL.findall(report))
    assert len(found) > 60 and found - known == set()


def test_numbers_of_the_demo_are_those_of_its_runs() -> None:
    """Means over all runs, over the seeds of a processor, and the ranges, in their order."""
    demo = json.loads((ROOT / "reports/published/demo.json").read_text("utf-8"))
    means, ranges = set[str](), set[str]()
    for line in chain.from_iterable(part["lines"].values() for part in demo["parts"].values()):
        for number, (low, high) in enumerate(line["ranges"]):
            ranges.add(f"{low} to {high:{'g' if high == 100 else ''}}")
            seeds = [values[number] for values in line["values"].values()]
            for one in (*seeds, list(chain.from_iterable(seeds))):
                means |= {f"{mean(one):.{digits}f} ± {stdev(one):.2f}" for digits in (1, 2)}
    page = (RESULTS / "embedded-corpus.md").read_text("utf-8").partition("## Steps")[0]
    started = (ROOT / "docs/getting-started.md").read_text("utf-8")
    found = NUMBER.findall(page)
    assert len(found) > 20 and {*found, *NUMBER.findall(started)} - means == set()
    shown = re.findall(r"\| ([\d.]+ to [\d.]+) \|", page)
    assert len(shown) == 10 and set(shown) - ranges == set()


def test_numbers_of_what_stops_a_network_are_in_its_file() -> None:
    page = (RESULTS / "halting.md").read_text("utf-8").partition("## What stops")[2]
    table = page.partition("\n## ")[0].partition("|---|")[2].partition("\n\n")[0]
    with (RESULTS / "halting/stopping.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    stored = [row["strings right, %"] for row in rows] + [row["mean steps"] for row in rows]
    known = {number for text in stored for number in (text, text.partition(" ")[0])}
    cells = [cell.strip() for line in table.splitlines()[1:] for cell in line.split("|")[2:-1]]
    parts = [part for cell in cells for part in cell.split(", ")]
    assert len(parts) == 9 * 8 and set(parts) - known == set()


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [("halting", "## What stops", "## Subset"), ("sequences", "## Sort and", "## Characters")],
)
def test_a_number_of_a_section_is_in_its_file(name: str, start: str, end: str) -> None:
    page = (RESULTS / f"{name}.md").read_text("utf-8")
    section = page.partition(start)[2].partition(end)[0]
    found = NUMBER.findall(section)
    assert len(found) > 7 and {*found} - numbers(*RESULTS.glob(f"{name}/*.csv")) == set()
    linked = set(re.findall(rf"\(({name}/[\w-]+\.csv)\)", section))
    assert linked == {f"{name}/{file.name}" for file in RESULTS.glob(f"{name}/*.csv")}


def test_a_number_of_the_multi_hop_page_is_in_a_file() -> None:
    page = RESULTS / "multi-hop.md"
    assert numbers(page) - numbers(*RESULTS.glob("multi-hop/*.csv")) == set()
    linked = set(re.findall(r"\((multi-hop/[\w-]+\.csv)\)", page.read_text("utf-8")))
    assert linked == {f"multi-hop/{file.name}" for file in RESULTS.glob("multi-hop/*.csv")}


def test_means_of_the_page_are_those_of_the_seeds() -> None:
    with (RESULTS / "multi-hop/hundred-seeds.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    page = (RESULTS / "multi-hop.md").read_text("utf-8")
    for halting in ("DACT", "exit at a fixed point", "PonderNet", "ACT, its sum"):
        line = next(
            s for s in page.splitlines() if s.startswith(("| **" + halting, "| " + halting))
        )
        for hops in (10, 30, 60, 100):
            seeds = [float(row[f"{hops} hops, %"]) for row in rows if row["halting"] == halting]
            assert len(seeds) == 5 and f"{mean(seeds):.1f} ± {stdev(seeds):.2f}" in line
    by_seed = [row for row in rows if row["halting"] == "DACT"]
    for row in by_seed:
        accuracies = " | ".join(row[f"{hops} hops, %"] for hops in (10, 30, 60, 100))
        assert f"| {row['seed']} | {accuracies} |" in page
