"""Means with a spread on the first pages are on pages of results; these equal their files."""

import csv
import re
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
