"""The page as a reader has it: on a phone and at a desk, in light and dark, by pointer and keys."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from reports.blocks import DASH
from reports.spread import MINUS
from tests.page.conftest import WIDE, Screen, Visit, drawn

pytestmark = pytest.mark.slow

SIDEWAYS = "document.scrollingElement.scrollWidth - innerWidth"
# The least contrast of texts with what is behind them, with the text that has it.
CONTRAST = """selector => {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const painted = new Map();
  const paint = (...colours) => {
    const name = colours.join();
    if (!painted.has(name)) {
      pen.clearRect(0, 0, 1, 1);
      for (const colour of colours) { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); }
      painted.set(name, [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3));
    }
    return painted.get(name);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((c) => c / 255).map(
      (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      layers.unshift(getComputedStyle(at).backgroundColor);
    }
    return ["white", ...layers];
  };
  return [...document.querySelectorAll(selector)]
    .filter((e) => e.textContent.trim() && e.getClientRects().length).map((element) => {
    const style = getComputedStyle(element);
    const surface = behind(element);
    const colour = element instanceof SVGElement ? style.fill : style.color;
    const [one, other] = [light(paint(...surface, colour)), light(paint(...surface))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    return [ratio, `${element.tagName} ${element.textContent.trim().slice(0, 40)} ${colour}`];
  }).sort((a, b) => a[0] - b[0]);
}"""
TEXTS = (
    "main p, main li, td, th, .sort, h1, h2, h3, figcaption, summary, nav a, button, legend, "
    "label, select, output, code, a"
)
LABELS = ":is(.role-axis-label, .role-axis-title, .role-legend-label, .role-title-text) text"


# Of each figure: name, whether it is drawn, label, number of marks, widths of place and drawing.
FIGURES = """() => [...document.querySelectorAll("figure[data-figure]")].map((figure) => {
  const chart = figure.querySelector(".chart"), drawing = chart.querySelector("svg");
  const marks = drawing.querySelectorAll(":is(.role-mark, .role-scope) path").length;
  const [box, inner] = [chart, drawing].map((e) => e.getBoundingClientRect().width);
  const caption = document.getElementById(chart.getAttribute("aria-labelledby"));
  const { figure: name, drawn } = figure.dataset;
  return [name, drawn, caption.innerText, marks, box, inner];
})"""


def column(table: Locator, at: int) -> list[str]:
    return table.locator(f"tbody tr > :nth-child({at})").all_inner_texts()


def test_the_page_never_scrolls_sideways_and_every_chart_is_drawn(
    sample: Path, shown: Visit, screen: Screen
) -> None:
    page = shown(sample, screen)
    assert page.evaluate(SIDEWAYS) <= 0
    figures = page.evaluate(FIGURES)
    assert len(figures) >= 15
    for name, is_drawn, label, marks, box, inner in figures:
        assert is_drawn == "true", name
        assert len(label or "") > 40, name
        assert marks > 0, name
        assert 0.8 * box <= inner <= box + 1, name


def test_texts_stand_out_from_what_is_behind_them(
    sample: Path, shown: Visit, screen: Screen
) -> None:
    page = shown(sample, screen)
    page.wait_for_selector("#trials-chart[data-drawn]")
    closed = page.evaluate_handle("[...document.querySelectorAll('details:not([open])')]")
    closed.evaluate("all => all.forEach(d => { d.open = true; })")
    for selector in (TEXTS, LABELS, "#trials-chart text:not([stroke])"):
        ratios = page.evaluate(CONTRAST, selector)
        assert len(ratios) > 20
        assert ratios[0][0] >= 4.5, ratios[:5]
    assert page.evaluate(SIDEWAYS) <= 0  # with all details open
    closed.evaluate("all => all.forEach(d => { d.open = false; })")


def test_the_contrast_of_a_pale_text_is_seen(visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / "pale.html"
    path.write_text("<body style='background:#fff'><p style='color:#777'>Pale</p>")
    ((ratio, _),) = visit(path).evaluate(CONTRAST, "p")
    assert ratio == pytest.approx(4.48, abs=0.005)  # of #777 on white, as WCAG's own tools say


def test_colours_follow_the_button_without_drawing_again(
    sample: Path, shown: Visit, screen: Screen
) -> None:
    page = shown(sample, screen)
    label = page.locator("figure .role-axis-label text").first
    colours = "e => [getComputedStyle(document.body).backgroundColor, getComputedStyle(e).fill]"
    before = label.evaluate(colours)
    mark = label.evaluate_handle("e => e")
    button = page.locator("#theme")
    other = "dark" if screen.colours == "light" else "light"
    expect(button).to_have_text(f"{other.capitalize()} colours")
    button.click()
    after = label.evaluate(colours)
    assert all(one != two for one, two in zip(before, after, strict=True))
    assert mark.evaluate("e => e.isConnected")
    expect(button).to_have_text(f"{screen.colours.capitalize()} colours")
    page.reload()  # the choice is kept
    assert page.evaluate("document.documentElement.dataset.theme") == other
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == after[0]
    button.click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == before[0]
    page.evaluate("localStorage.clear(); delete document.documentElement.dataset.theme")


def test_contents_lead_to_their_sections(sample: Path, shown: Visit, screen: Screen) -> None:
    page = shown(sample, screen)
    contents = page.locator("#contents")
    narrow = screen.width < 1100
    assert contents.evaluate("d => d.open") is not narrow
    links = contents.locator("a")
    found = links.evaluate_all("all => all.map(a => !!document.getElementById(a.hash.slice(1)))")
    assert len(found) == 6 and all(found)
    if narrow:
        contents.locator("summary").click()
    contents.get_by_role("link", name="Ranges").click()
    page.wait_for_function(
        "Math.abs(document.getElementById('ranges').getBoundingClientRect().top) < 60"
    )
    assert contents.evaluate("d => d.open") is not narrow  # and closes over the text
    if not narrow:
        expect(contents.locator("[aria-current]")).to_have_text("Ranges")


def test_the_keyboard_skips_the_contents(sample: Path, visit: Visit) -> None:
    page = visit(sample)
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the report")
    page.keyboard.press("Enter")
    expect(page.locator(":focus")).to_have_id("content")


def test_a_table_sorts_by_numbers_and_comes_back(
    sample: Path, shown: Visit, screen: Screen
) -> None:
    page = shown(sample, screen)
    table = page.locator("section").first.locator("table")
    header = table.get_by_role("columnheader", name="parameters")
    first = column(table, 4)
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    up = column(table, 4)
    known = [text for text in up if text not in (DASH, "n/a")]
    assert known[:4] == ["1,203", "3,003", "5,005", "220k"]
    assert known[-3:] == ["355M", "355M", "3B"]
    assert set(up[len(known) :]) == {DASH, "n/a"}  # what is missing is last
    header.get_by_role("button").focus()
    page.keyboard.press("Enter")  # by keyboard alone
    assert header.get_attribute("aria-sort") == "descending"
    down = column(table, 4)
    assert down[:3] == ["3B", "355M", "355M"] and set(down[len(known) :]) == {DASH, "n/a"}
    page.keyboard.press("Space")
    assert header.get_attribute("aria-sort") == "none"
    assert column(table, 4) == first


def test_only_one_column_is_marked_as_sorted(sample: Path, visit: Visit) -> None:
    page = visit(sample)
    table = page.locator("section").first.locator("table")
    for name in ("system", "seeds"):
        table.get_by_role("button", name=name).click()
    assert table.locator("th[aria-sort=ascending]").all_inner_texts() == ["seeds"]


@pytest.mark.parametrize(
    ("cells", "ordered"),
    [
        (["10", "9", DASH, "1,000"], ["9", "10", "1,000", DASH]),
        (["72.0 ± 0.47", "8.5 ± 9.00"], ["8.5 ± 9.00", "72.0 ± 0.47"]),
        (
            [
                f"+0.10 ({MINUS}0.70 to +0.80)",
                f"{MINUS}5.20 ({MINUS}6.66 to {MINUS}3.96)",
                "0.00 (0.00 to 0.00)",
            ],
            [
                f"{MINUS}5.20 ({MINUS}6.66 to {MINUS}3.96)",
                "0.00 (0.00 to 0.00)",
                f"+0.10 ({MINUS}0.70 to +0.80)",
            ],
        ),
        (["0.040", "< 0.001", "1.000"], ["< 0.001", "0.040", "1.000"]),
        (["2.5M", "990k", "3.9M with word vectors"], ["990k", "2.5M", "3.9M with word vectors"]),
        (["1e-05", "0.001", "5e-05"], ["1e-05", "5e-05", "0.001"]),
        (["200D model", "30D model", "LSTM"], ["30D model", "200D model", "LSTM"]),
        (["adaptive (mean 4.50)", "8", "2"], ["2", "8", "adaptive (mean 4.50)"]),
        (["2 (chosen)", "1", "10"], ["1", "2 (chosen)", "10"]),
    ],
)
def test_cells_sort_by_what_they_mean(
    sample: Path, shown: Visit, cells: list[str], ordered: list[str]
) -> None:
    sort = """cells => {
      const { key, compare } = report.sorting;
      return cells.sort((one, other) => compare(key(one), key(other), 1));
    }"""
    assert shown(sample).evaluate(sort, cells) == ordered


def test_a_chart_tells_its_data_in_words_and_rows(
    sample: Path, shown: Visit, screen: Screen
) -> None:
    page = shown(sample, screen)
    figure = page.locator("#figure-ablation")
    figure.locator("summary").click()
    rows = figure.locator(".behind table").first.locator("tbody tr")
    expect(rows.nth(10)).to_be_visible()  # written when the browser says that it is open
    for kind in ("SVG", "PNG"):
        with page.expect_download() as saved:
            figure.get_by_role("button", name=f"Save as {kind}").click()
        content = saved.value.path().read_bytes()
        assert saved.value.suggested_filename == f"ablation.{kind.lower()}"
        assert b"<svg" in content[:500] if kind == "SVG" else content.startswith(b"\x89PNG")
        assert len(content) > 5_000
        assert b"var(--" not in content  # colours that another program knows
    assert page.evaluate(SIDEWAYS) <= 0
    figure.locator("summary").click()


def test_a_chart_that_cannot_be_drawn_says_so(sample: Path, visit: Visit, tmp_path: Path) -> None:
    html = sample.read_text(encoding="utf-8")
    spoilt = tmp_path / "spoilt.html"
    start = html.index('id="chart-ablation">') + len('id="chart-ablation">')
    spoilt.write_text(html[:start] + "{" + html[start + 1 :].replace('"', "", 1), encoding="utf-8")
    page = drawn(visit(spoilt, WIDE))
    figure = page.locator("#figure-ablation")
    expect(figure).to_have_attribute("data-drawn", "failed")
    expect(figure.locator(".chart")).to_contain_text("This chart could not be drawn")
    assert page.locator("figure[data-drawn=true]").count() >= 14  # the others are
