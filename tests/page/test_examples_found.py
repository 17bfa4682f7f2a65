"""Traced pairs are searched, filtered and sorted in a real browser."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from reports.example_files import Example, Examples
from tests.page.conftest import Visit
from tests.page.example_pages import choose, chosen, percent, rows, written

pytestmark = pytest.mark.slow


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
def test_search(tmp_path: Path, visit: Visit, searched: str, found: list[str]) -> None:
    page = visit(written(tmp_path)[0])
    page.fill("[name=search]", searched)
    status = page.locator("#examples-found")
    if not found:
        expect(status).to_have_text("None of 8 pairs fits.")
        expect(page.locator("#examples-one")).to_be_hidden()
        assert page.locator("#examples-list [role=option]").count() == 0
        return
    assert status.inner_text().startswith(f"{len(found)} of 8 pairs; ")
    seen = [chosen(page)]
    for _ in found[1:]:
        page.click("#examples-next")
        seen.append(chosen(page))
    assert seen == found
    expect(page.locator("#examples-next")).to_be_disabled()


@pytest.mark.parametrize(
    ("choices", "fits"),
    [
        ({"label": "neutral"}, lambda p: p.label == "neutral"),
        ({"predicted": "contradiction"}, lambda p: p.predicted == "contradiction"),
        ({"right": "wrong"}, lambda p: p.predicted != p.label),
        ({"outcome": "corrected"}, lambda p: p.outcome == "corrected"),
        ({"outcome": "spoiled"}, lambda p: p.outcome == "spoiled"),
        ({"outcome": "changed in between"}, lambda p: p.outcome == "changed_in_between"),
        ({"steps": "4"}, lambda p: len(p.steps) == 4),
        (
            {"label": "entailment", "right": "right", "steps": "3"},
            lambda p: p.label == p.predicted == "entailment" and len(p.steps) == 3,
        ),
    ],
)
def test_filters(
    stored: tuple[Path, Examples],
    visit: Visit,
    choices: dict[str, str],
    fits: Callable[[Example], bool],
) -> None:
    path, examples = stored
    wanted = [pair for pair in examples.pairs if fits(pair)]
    assert 0 < len(wanted) < len(examples.pairs)
    page = visit(path)
    for name, label in choices.items():
        choose(page, name, label)
    right = 100 * sum(pair.predicted == pair.label for pair in wanted) / len(wanted)
    steps = sum(len(pair.steps) for pair in wanted) / len(wanted)
    said = page.locator("#examples-found").inner_text()
    assert said.startswith(f"{len(wanted)} of {len(examples.pairs)} pairs; {right:.1f} % of")
    assert abs(float(said.split("right, ")[1].split(" ")[0]) - steps) < 0.0051
    assert (rows(page), chosen(page)) == (len(wanted), wanted[0].pair_id)
    page.locator("#examples-list").press("End")
    assert chosen(page) == wanted[-1].pair_id
    page.click("#examples-filters [type=reset]")
    expect(page.locator("#examples-found")).to_contain_text(f"{len(examples.pairs)} of")
    assert chosen(page) == wanted[-1].pair_id  # what was looked at stays


@pytest.mark.parametrize(
    ("order", "key"),
    [
        ("most steps first", lambda pair: -len(pair.steps)),
        ("fewest steps first", lambda pair: len(pair.steps)),
        ("most confident first", lambda pair: -percent(max(pair.answer))),
        ("least confident first", lambda pair: percent(max(pair.answer))),
    ],
)
def test_order(
    stored: tuple[Path, Examples], visit: Visit, order: str, key: Callable[[Example], float]
) -> None:
    path, examples = stored
    wanted = [pair.pair_id for pair in sorted(examples.pairs, key=key)]
    page = visit(path)
    choose(page, "order", order)
    page.locator("#examples-list").press("Home")
    seen = []
    for _ in wanted:
        seen.append(chosen(page))
        page.keyboard.press("ArrowDown")
    assert seen == wanted
    choose(page, "order", "as stored")
    page.locator("#examples-list").press("Home")
    assert chosen(page) == examples.pairs[0].pair_id
