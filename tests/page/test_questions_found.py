"""Traced questions are searched, filtered and reached, by pointer, keys and address."""

import pytest
from playwright.sync_api import expect

from tests.page.conftest import PHONE, WIDE, Screen, Visit
from tests.page.question_pages import Stored, check_query, name, names

pytestmark = pytest.mark.slow


def test_keys(asked: Stored, visit: Visit) -> None:
    page, traced = visit(asked[0]), asked[1]
    box = page.locator("#questions-list")
    box.focus()
    for key, place in (("j", 1), ("ArrowDown", 2), ("k", 1), ("ArrowUp", 0), ("ArrowUp", 0)):
        page.keyboard.press(key)
        assert name(page) == names(traced[place])
        assert box.get_attribute("aria-activedescendant") == f"questions-list-{place}"
    for key, step in (("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2)):
        page.keyboard.press(key)
        expect(page.locator("#questions-at")).to_have_text(f"Step {step} of 6")
        current = page.locator("#questions [aria-current=step]")
        assert [row.get_attribute("data-step") for row in current.all()] == [str(step - 1)] * 3
    page.keyboard.press("End")
    assert name(page) == names(traced[-1])
    page.focus("#questions-rows tr[data-step='3'] button")
    page.keyboard.press("Enter")
    expect(page.locator("#questions-at")).to_have_text("Step 4 of 6")
    page.fill("[name=search]", "")
    page.keyboard.type("jk")  # letters in the search stay letters
    assert page.input_value("[name=search]") == "jk"


def test_every_control_is_reached_by_tab(asked: Stored, visit: Visit) -> None:
    page = visit(asked[0])
    page.focus("[name=search]")
    reached = []
    for _ in range(24):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.name"))
    for control in ("kind", "run", "right", "first", "questions-list", "questions-next"):
        assert control in reached
    assert {"questions-link", "questions-step", "questions-on"} <= set(reached)


@pytest.mark.parametrize(
    ("searched", "found"),
    [
        ("beans", [2, 3]),
        ("OWEN next", [0, 1]),
        ("rope", [4, 5]),
        ("eans", []),
    ],
)
def test_search(asked: Stored, visit: Visit, searched: str, found: list[int]) -> None:
    page = visit(asked[0])
    page.fill("[name=search]", searched)
    status = page.locator("#questions-found")
    if not found:
        expect(status).to_have_text("None of 6 fits.")
        expect(page.locator("#questions-one")).to_be_hidden()
        return
    assert status.inner_text().startswith(f"{len(found)} of 6; ")
    assert name(page) == names(asked[1][found[0]])
    page.click("#questions-next")
    assert name(page) == names(asked[1][found[1]])
    expect(page.locator("#questions-next")).to_be_disabled()


def test_filters(asked: Stored, visit: Visit) -> None:
    page, status = visit(asked[0]), "#questions-found"
    page.select_option("[name=kind]", label="Common nouns")
    said = (
        "2 of 6; 50.0 % of the answers are right, and 0.0 % of those of the first step by itself."
    )
    expect(page.locator(status)).to_have_text(said)
    page.select_option("[name=right]", label="wrong")
    assert name(page) == names(asked[1][5])
    page.click("#questions-filters [type=reset]")
    expect(page.locator(status)).to_contain_text("6 of 6; 83.3 %")
    assert name(page) == names(asked[1][5])  # what was looked at stays
    page.select_option("[name=run]", label="query gating, 6 steps, seed 1")
    page.select_option("[name=first]", label="right")
    expect(page.locator(status)).to_contain_text("1 of 6; 100.0 %")
    assert name(page) == names(asked[1][2])


def test_the_address_names_the_question_and_the_step(asked: Stored, visit: Visit) -> None:
    path, traced = asked
    page = visit(path)
    assert page.evaluate("location.hash") == ""
    page.click("#questions-list-3")
    page.click("#questions-on")
    named = page.evaluate("location.hash")
    assert named == "#question=NE-17&run=2&step=2"
    assert page.locator("#questions-link").get_attribute("href") == named
    other = visit(path, Screen(*PHONE, "light"), named)
    assert name(other) == names(traced[3])
    check_query(other, traced[3], 1)
    expect(other.locator("#questions-filters")).to_be_in_viewport()
    other.evaluate("location.hash = '#question=CN-3&run=1'")
    expect(other.locator("#questions-one .id")).to_have_text("Common nouns, question 3 of dev")
    other.evaluate("location.hash = '#question=CN-99'")
    said = "No question CN-99 of that reader is on this page."
    expect(other.locator("#questions-found")).to_have_text(said)


def test_the_contents_name_it(asked: Stored, visit: Visit) -> None:
    page = visit(asked[0], WIDE)
    link = page.locator("#contents a", has_text="what a reader writes over the query")
    link.click()
    expect(page.locator("#heading-questions")).to_be_in_viewport()
