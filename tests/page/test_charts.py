"""Charts as a browser draws them: within their place, in the page's colours, with their numbers."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page

from tests.page.conftest import Screen, Visit, drawn, resized

pytestmark = pytest.mark.slow

AA = "adaptive_attention"
TOLD = "run ACT, ponder_weight 0.001 hops 2 test accuracy 97.0 ± 1.41 % seeds 2"
# Texts that reach beyond their drawing, and drawings that are wider than their place.
OUTSIDE = """() => [...document.querySelectorAll("figure[data-figure]")].flatMap((figure) => {
  const svg = figure.querySelector("svg.marks"), edge = svg.getBoundingClientRect();
  const beyond = [...svg.querySelectorAll("text")].filter((text) => {
    const box = text.getBoundingClientRect();
    const aside = box.left < edge.left - 1 || box.right > edge.right + 1;
    return box.width && (aside || box.bottom > edge.bottom + 1);
  }).map((text) => `${figure.dataset.figure}: ${text.textContent}`);
  const room = figure.querySelector(".chart").clientWidth;
  return edge.width > room + 1 ? [...beyond, `${figure.dataset.figure} is wider`] : beyond;
})"""


def chart(page: Page, name: str) -> Locator:
    """The drawing of a figure, in view."""
    found = page.locator(f"figure[data-figure='{name}'] svg.marks")
    found.scroll_into_view_if_needed()
    return found


def test_charts_stay_within_their_place(sample: Path, shown: Visit, screen: Screen) -> None:
    page = shown(sample, screen)
    assert page.locator("figure[data-figure] svg.marks").count() > 15
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= screen.width


def test_charts_follow_the_pages_colours_without_being_drawn_again(
    sample: Path, shown: Visit
) -> None:
    page = shown(sample)
    ink = "getComputedStyle(document.body).color"
    parts = (".role-axis-label text", ".role-axis-title text", ".role-legend-label text")
    for theme in ("light", "dark"):
        page.evaluate("(theme) => { document.documentElement.dataset.theme = theme }", theme)
        for part in parts:
            label = chart(page, f"learning_curves_{AA}").locator(part).first
            assert label.evaluate("(text) => getComputedStyle(text).fill") == page.evaluate(ink)
    grid = chart(page, "ablation").locator(".role-axis-grid line").first
    variable = "getComputedStyle(document.documentElement).getPropertyValue('--grid').trim()"
    wanted = page.evaluate(
        f"(() => {{ const probe = document.createElement('i'); probe.style.color = {variable};"
        "document.body.append(probe); const found = getComputedStyle(probe).color; probe.remove();"
        "return found; })()"
    )
    assert grid.evaluate("(line) => getComputedStyle(line).stroke") == wanted
    page.evaluate("delete document.documentElement.dataset.theme")


def test_pointing_at_a_mark_tells_its_numbers(sample: Path, shown: Visit) -> None:
    page = shown(sample)
    chart(page, "multihop_accuracy").locator(".mark-symbol.role-mark path").nth(1).hover(force=True)
    told = page.locator("#vg-tooltip-element.visible")
    told.wait_for()
    assert told.inner_text().split() == (TOLD.split())


def test_clicking_the_legend_leaves_the_other_series_pale(sample: Path, visit: Visit) -> None:
    page = drawn(visit(sample))
    found = chart(page, "multihop_steps")
    points = found.locator(".mark-symbol.role-mark path")
    shades = "(all) => [...new Set(all.map((path) => path.getAttribute('opacity')))]"
    assert points.evaluate_all(shades) == ["1"]
    found.locator(".role-legend-label text", has_text="fixed").click(force=True)
    page.wait_for_function(
        "(one) => one.getAttribute('opacity') !== '1'", arg=points.first.element_handle()
    )
    assert sorted(points.evaluate_all(shades)) == ["0.1", "1"]


def test_a_narrower_window_puts_legends_in_fewer_columns(sample: Path, shown: Visit) -> None:
    page = shown(sample)
    labels = chart(page, "graves_ponder_parity").locator(".role-legend-label text")
    tops = "(all) => new Set(all.map((text) => Math.round(text.getBoundingClientRect().top))).size"
    assert labels.evaluate_all(tops) == 1
    resized(page, Screen(320, 800, "light"))
    chart(page, "graves_ponder_parity")
    assert labels.evaluate_all(tops) == 2
    assert page.evaluate(OUTSIDE) == []
