"""Pages of traced pairs alone, and what a reader of them looks at first."""

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from reports.example_files import Examples, read_examples
from reports.page.examples import examples_island
from reports.page.page import write_page
from tests.reports.write_traces import write_traces

MARKDOWN = "# Report\n\nText.\n\n[Pairs](index.html#examples)\n\n## After\n\nMore text.\n"


def written(folder: Path, lines: Any = None) -> tuple[Path, Examples]:
    """A page with the browser alone, and what was traced."""
    write_traces(folder, lines)
    examples = read_examples(folder)
    path = folder / "page.html"
    write_page(path, "Report", MARKDOWN, {}, [examples_island(examples, 10_000)])
    return path, examples


def chosen(page: Page) -> str:
    return page.locator("#examples-one .id").inner_text()


def choose(page: Page, name: str, label: str) -> None:
    page.locator(f"#examples-filters [name={name}]").select_option(label=label)


def rows(page: Page) -> int:
    """How many rows the list has, in sight or not."""
    return int(page.locator("#examples-list [role=option]").first.get_attribute("aria-setsize"))


def percent(share: float) -> float:
    return round(1000 * share) / 10
