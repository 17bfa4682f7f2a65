"""Pages of traced questions alone, and what a reader of them looks at first."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from reports.markdown import DASH
from reports.nse_queries import Traced
from reports.page.page import write_page
from reports.page.questions import questions_island

MARKDOWN = "# Report\n\nText.\n\n[Questions](index.html#questions)\n\n## After\n\nMore text.\n"
Stored = tuple[Path, tuple[Traced, ...]]


def written(folder: Path, traced: tuple[Traced, ...]) -> Path:
    """A page with the browser of these questions alone."""
    path = folder / "page.html"
    write_page(path, "Report", MARKDOWN, {}, [questions_island(traced)])
    return path


def name(page: Page) -> tuple[str, str]:
    """Which question is shown, and whose answer to it."""
    reader = page.locator("#questions-one dt", has_text="Reader").locator("xpath=../dd")
    return page.locator("#questions-one .id").inner_text(), reader.inner_text()


def names(one: Traced) -> tuple[str, str]:
    title = {"NE": "Named entities", "CN": "Common nouns"}[one.kind]
    return f"{title}, question {one.number} of dev", f"{one.run}, seed {one.seed}"


def check_query(page: Page, one: Traced, at: int) -> None:
    """The words of the query with what a step writes over them."""
    words = page.locator("#questions-words .word")
    assert words.locator(".token").all_inner_texts() == one.query
    assert page.locator("#questions-words .word.blank .token").all_inner_texts() == ["XXXXX"]
    shown = words.locator("small").all_inner_texts()
    if at == len(one.steps) - 1:
        assert set(shown) == {DASH}
        expect(page.locator("#questions-words .said")).to_contain_text("writes nothing")
        return
    wanted = [100 * share for share in one.steps[at].rewritten]
    assert [float(share) for share in shown] == pytest.approx(wanted, abs=0.11)
