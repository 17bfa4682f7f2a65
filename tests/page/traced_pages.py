"""Pages of traced pairs or questions alone, and what a reader of them does first."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from reports.blocks import DASH, Island
from reports.page.browsers import examples_island, questions_island
from reports.page.page import write_page
from reports.stored.traces import Example, Examples, Traced, read_examples
from tests.page.samples import around
from tests.reports.write_traces import write_traces


def page_of(folder: Path, island: Island) -> Path:
    """A page with this part alone."""
    path = folder / "page.html"
    write_page(path, "Report", around(island))
    return path


def pairs_page(folder: Path, lines: Any = None) -> tuple[Path, Examples]:
    """A page with the browser of pairs alone, and what was traced."""
    write_traces(folder, lines)
    examples = read_examples(folder)
    return page_of(folder, examples_island(examples, 10_000)), examples


def questions_page(folder: Path, *traced: Traced) -> Path:
    """A page with the browser of these questions alone."""
    return page_of(folder, questions_island(traced))


class Browser:
    """A browser of traced `examples` or `questions`, as a reader has it."""

    def __init__(self, page: Page, name: str) -> None:
        self.page, self.name = page, name

    def at(self, part: str, inside: str = "") -> Locator:
        return self.page.locator(f"#{self.name}-{part} {inside}")

    def fresh(self) -> "Browser":
        """As it is when the page is opened."""
        self.clear()
        self.at("list").press("Home")
        self.page.evaluate("history.replaceState(null, '', location.pathname)")
        return self

    def clear(self) -> None:
        self.at("filters", "[type=reset]").click()
        self.page.evaluate("new Promise((done) => setTimeout(done))")  # the page waits as well

    def choose(self, name: str, label: str) -> None:
        self.at("filters", f"[name={name}]").select_option(label=label)

    def search(self, words: str) -> None:
        self.at("filters", "[name=search]").fill(words)

    def title(self) -> str:
        """Which example is shown, and whose answer to it if that is told."""
        reader = self.at("one", "dt:text-is('Reader') + dd").all_inner_texts()
        return ", ".join([self.at("one", ".id").inner_text(), *reader])

    def rows(self) -> int:
        """How many rows the list has, in sight or not."""
        return int(self.at("list", "[role=option]").first.get_attribute("aria-setsize") or 0)

    def check_step(self, step: int, count: int) -> None:
        """The step that is shown, in words and in every table."""
        expect(self.at("at")).to_have_text(f"Step {step} of {count}")
        current = self.at("browser", "[aria-current=step]").evaluate_all(
            "rows => rows.map(row => row.dataset.step)"
        )
        assert len(current) >= 2 and set(current) == {str(step - 1)}

    def table(self, part: str, at: int = 0) -> list[list[str]]:
        """The texts of a table's cells, row by row, the head first; hidden ones too in maps."""
        text = "textContent" if part == "maps" else "innerText"
        cells = f"t => [...t.rows].map(r => [...r.cells].map(c => c.{text}))"
        found: list[list[str]] = self.at(part, "table").nth(at).evaluate(cells)
        return found

    def words(self, inside: str = "") -> list[tuple[str, str, str]]:
        """Words at the step that is shown, with what stands below them and their titles."""
        script = """words => words.map((word) => [
          ...[".token", "small"].map((part) => word.querySelector(part).innerText), word.title])"""
        return [tuple(word) for word in self.at("words", f"{inside} .word").evaluate_all(script)]


def title_of(one: Example | Traced) -> str:
    """What `Browser.title` says of it."""
    if isinstance(one, Example):
        return one.pair_id
    kind = {"NE": "Named entities", "CN": "Common nouns"}[one.questions]
    return f"{kind}, question {one.number} of dev, {one.run}, seed {one.seed}"


def percent(share: float) -> float:
    return round(1000 * share) / 10


def judged(word: str, right: bool) -> str:
    return f"{word} ✓ right" if right else f"{word} ✗ wrong"


def check_words(browser: Browser, one: Example | Traced, at: int) -> None:
    """The words that are shown, with what is told of them at a step."""
    if isinstance(one, Traced):
        check_query(browser, one, at)
        return
    for name in ("hypothesis", "premise"):
        weights = [percent(weight) for weight in getattr(one.steps[at], name)]
        tokens = getattr(one, name)
        titles = [
            f"{token}: {weight:.1f} % of the attention"
            for token, weight in zip(tokens, weights, strict=True)
        ]
        found = [(word, float(below), title) for word, below, title in browser.words(f".{name}")]
        assert found == list(zip(tokens, weights, titles, strict=True))


def check_query(browser: Browser, one: Traced, at: int) -> None:
    """The words of the query with what a step writes over them."""
    words, below, _ = zip(*browser.words(), strict=True)
    assert list(words) == one.query
    assert browser.at("words", ".word.blank .token").all_inner_texts() == ["XXXXX"]
    if at == len(one.steps) - 1:
        assert set(below) == {DASH}
        expect(browser.at("words", ".said")).to_contain_text("writes nothing")
        return
    wanted = [100 * share for share in one.steps[at].rewritten]
    assert [float(share) for share in below] == pytest.approx(wanted, abs=0.11)
