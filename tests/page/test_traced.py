"""What the browsers of traced pairs and of questions have in common, in a real browser."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import expect

from reports.stored.traces import Example, Examples, Traced
from tests.page.conftest import PHONE, Screen, Visit
from tests.page.traced_pages import Browser, check_words, pairs_page, title_of

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Case:
    """One of the two browsers: its page, what it shows, and how its fourth example is addressed."""

    name: str
    path: Path
    all: tuple[Example | Traced, ...]
    controls: set[str]
    address: str
    other: tuple[str, str]  # another address, and whose it is
    nobody: tuple[str, str]  # one of nothing, and what is said then

    @property
    def titles(self) -> list[str]:
        return [title_of(one) for one in self.all]


@pytest.fixture(scope="module", params=["examples", "questions"])
def case(request: pytest.FixtureRequest) -> Case:
    if request.param == "examples":
        path, examples = request.getfixturevalue("stored")
        return Case(
            "examples",
            path,
            tuple(examples.pairs),
            {"label", "predicted", "right", "outcome", "steps", "order"},
            "#pair=p3%23a&step=2",
            ("#pair=p5%23a", "p5#a"),
            ("#pair=nobody", "No pair nobody is on this page."),
        )
    path, traced = request.getfixturevalue("asked")
    return Case(
        "questions",
        path,
        traced,
        {"kind", "run", "right", "first"},
        "#question=NE-17&run=2&step=2",
        ("#question=CN-3&run=1", "Common nouns, question 3 of dev"),
        ("#question=CN-99", "No question CN-99 of that reader is on this page."),
    )


@pytest.fixture
def browser_of(shown: Visit, case: Case) -> Browser:
    return Browser(shown(case.path), case.name).fresh()


def test_keys(browser_of: Browser, case: Case) -> None:
    page, titles = browser_of.page, case.titles
    box = browser_of.at("list")
    box.focus()
    for key, place in (("j", 1), ("ArrowDown", 2), ("k", 1), ("ArrowUp", 0), ("ArrowUp", 0)):
        page.keyboard.press(key)
        assert browser_of.title() == titles[place]
        assert box.get_attribute("aria-activedescendant") == f"{case.name}-list-{place}"
    count = len(case.all[0].steps)
    for step in (2, *range(3, count + 1), count):
        page.keyboard.press("ArrowRight")
        browser_of.check_step(step, count)
    page.keyboard.press("ArrowLeft")
    browser_of.check_step(count - 1, count)
    page.keyboard.press("End")
    assert browser_of.title() == titles[-1]
    expect(browser_of.at(f"list-{len(titles) - 1}")).to_be_in_viewport()
    count = len(case.all[-1].steps)
    browser_of.at("rows", f"tr[data-step='{count - 1}'] button").focus()
    page.keyboard.press("Enter")
    browser_of.check_step(count, count)
    browser_of.search("")
    page.keyboard.type("jk")  # letters in the search stay letters
    assert browser_of.at("filters", "[name=search]").input_value() == "jk"


def test_every_control_is_reached_by_tab(browser_of: Browser, case: Case) -> None:
    page = browser_of.page
    browser_of.at("filters", "[name=search]").focus()
    reached = set()
    for _ in range(24):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.name"))
    parts = ("list", "next", "link", "step", "on")
    assert case.controls | {f"{case.name}-{part}" for part in parts} <= reached


def test_a_row_and_a_step_are_chosen_by_a_click(browser_of: Browser, case: Case) -> None:
    for place in (2, 3):
        browser_of.at(f"list-{place}").click()
        assert browser_of.title() == case.titles[place]
    one = case.all[3]
    count = len(one.steps)
    browser_of.at("rows", "tr[data-step='2'] button").click()
    browser_of.check_step(3, count)
    check_words(browser_of, one, 2)
    browser_of.at("maps", f"table tr[data-step='{count - 2}'] td").first.click()
    browser_of.check_step(count - 1, count)
    browser_of.at("step").fill("2")
    check_words(browser_of, one, 1)


def test_the_address_names_the_example_and_the_step(visit: Visit, case: Case) -> None:
    first = Browser(visit(case.path), case.name)
    assert first.page.evaluate("location.hash") == ""
    first.at("list-3").click()
    first.at("on").click()
    assert first.page.evaluate("location.hash") == case.address
    assert first.at("link").get_attribute("href") == case.address
    again = Browser(visit(case.path, Screen(*PHONE, "light"), case.address), case.name)
    assert again.title() == case.titles[3]
    check_words(again, case.all[3], 1)
    expect(again.at("filters")).to_be_in_viewport()
    again.page.evaluate(f"location.hash = '{case.other[0]}'")
    expect(again.at("one", ".id")).to_have_text(case.other[1])
    again.page.evaluate(f"location.hash = '{case.nobody[0]}'")
    expect(again.at("found")).to_have_text(case.nobody[1])


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Examples]:
    """The hand-made pairs alone."""
    return pairs_page(tmp_path_factory.mktemp("page"))


@pytest.mark.parametrize(
    ("searched", "found"),
    [
        ("guitar", ["p1#a", "p6#a"]),
        ("GUITAR  music", ["p1#a"]),
        ("man", ["p1#a", "p5#a", "p6#a"]),  # man and manual, but not woman
        ("p2#", ["p2#a", "p2#b"]),
        ("café", ["p3#a"]),
        ("nothing-of-this", []),
    ],
)
def test_search_of_pairs(
    few: tuple[Path, Examples], shown: Visit, searched: str, found: list[str]
) -> None:
    check_search(Browser(shown(few[0]), "examples"), searched, found, "8 pairs")


@pytest.mark.parametrize(
    ("searched", "found"),
    [("beans", [2, 3]), ("OWEN next", [0, 1]), ("rope", [4, 5]), ("eans", [])],
)
def test_search_of_questions(
    asked: tuple[Path, tuple[Traced, ...]], shown: Visit, searched: str, found: list[int]
) -> None:
    titles = [title_of(asked[1][place]) for place in found]
    check_search(Browser(shown(asked[0]), "questions"), searched, titles, "6")


def check_search(browser: Browser, searched: str, found: list[str], of: str) -> None:
    browser.fresh()
    browser.search(searched)
    if not found:
        expect(browser.at("found")).to_have_text(f"None of {of} fits.")
        expect(browser.at("one")).to_be_hidden()
        assert browser.at("list", "[role=option]").count() == 0
    else:
        assert browser.at("found").inner_text().startswith(f"{len(found)} of {of}; ")
        seen = [browser.title()]
        for _ in found[1:]:
            browser.at("next").click()
            seen.append(browser.title())
        assert seen == found
        expect(browser.at("next")).to_be_disabled()
    browser.clear()


def test_they_fit_every_screen(case: Case, shown: Visit, screen: Screen) -> None:
    check_fits(Browser(shown(case.path, screen), case.name), screen)


def check_fits(browser: Browser, screen: Screen) -> None:
    """Nothing reaches beyond the screen, no cell of the table of steps in particular."""
    assert browser.page.evaluate("document.documentElement.scrollWidth") == screen.width
    parts = [browser.at(part) for part in ("list", "words", "rows", "maps", "document")]
    for part in (*parts, *browser.at("rows", "td:visible").all()):
        box = part.bounding_box()
        assert box is not None and box["x"] >= 0
        assert box["x"] + box["width"] <= screen.width
