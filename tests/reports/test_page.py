"""The page in a real browser, offline: first screen, charts, tables, and traced pairs."""

import os
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from reports.load import Artifacts
from reports.render import render, report
from tests.reports.conftest import STUDIES

pytestmark = [pytest.mark.slow, pytest.mark.smoke]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
LOCAL = ("file:", "data:", "blob:", "about:")  # URL schemes without network
# viewport in CSS pixels, and preferred color scheme
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
DESK: dict[str, Any] = {"viewport": {"width": 1400, "height": 900}, "color_scheme": "light"}
DRAW = """async () => {
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    figure.closest("details")?.setAttribute("open", "");
    figure.scrollIntoView();
    while (!["true", "failed"].includes(figure.dataset.drawn)) {
      await new Promise((done) => setTimeout(done, 20));
    }
  }
  scrollTo(0, 0);
}"""
# Text elements that overflow their chart.
OUTSIDE = """() => [...document.querySelectorAll("figure[data-chart]")].flatMap((figure) => {
  const edge = figure.querySelector(".chart").getBoundingClientRect();
  return [...figure.querySelectorAll("svg.marks text")].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.width && (box.left < edge.left - 2 || box.right > edge.right + 2);
  }).map((text) => `${figure.dataset.chart}: ${text.textContent}`);
})"""
FAILED = "[...document.querySelectorAll('figure[data-drawn=failed]')].map((f) => f.textContent)"
WIDTH = "document.documentElement.scrollWidth"
BACKGROUND = "getComputedStyle(document.documentElement).backgroundColor"
Visit = Callable[..., Page]


# Module scope: Playwright's event loop must be closed before other tests start theirs.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start a headless Chromium; without one tests are skipped, or fail if REQUIRE_BROWSER=1."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        message = "no Chromium found; install it, or set CHROMIUM to its path"
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def file(stored: Artifacts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Render the page of the fixture artifacts, with all studies."""
    path = tmp_path_factory.mktemp("page") / "index.html"
    built = report(stored, STUDIES, examples=100)
    path.write_text(render(built, "html", built.sections), encoding="utf-8")
    return path


@pytest.fixture
def visit(browser: Browser, file: Path) -> Iterator[Visit]:
    """Open the page in a new window: `visit(screen, fragment)`.

    The test fails if the page requests another file, throws, or logs an error or a warning.
    """
    problems: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            problems.append(f"console {message.type}: {message.text}")

    def on_request(request: Request) -> None:
        if not request.url.startswith(LOCAL):
            problems.append(f"request for {request.url}")

    def visit(screen: dict[str, Any] = DESK, fragment: str = "") -> Page:
        context = browser.new_context(**screen, offline=True)
        context.set_default_timeout(20_000)
        page = context.new_page()
        page.on("console", on_console)
        page.on("request", on_request)
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.goto(file.resolve().as_uri() + fragment)
        return page

    yield visit
    for context in browser.contexts:
        context.close()
    assert problems == []


@pytest.mark.parametrize(
    ("screen", "background"),
    [(PHONE, "rgb(22, 24, 27)"), (DESK, "rgb(255, 255, 255)")],
    ids=["phone-dark", "desk-light"],
)
def test_every_chart_fits_its_container(
    visit: Visit, screen: dict[str, Any], background: str
) -> None:
    page = visit(screen)
    page.evaluate(DRAW)
    assert page.evaluate(FAILED) == []
    assert page.locator("figure[data-drawn=true]").count() > 30
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(WIDTH) == screen["viewport"]["width"]  # no horizontal overflow
    assert page.evaluate(BACKGROUND) == background
    page.locator("figure[data-chart=multihop_accuracy] .mark-symbol path").first.hover()
    expect(page.locator("#vg-tooltip-element")).to_contain_text("ACT, ponder_weight 0.001")


def test_the_first_screen_has_the_main_results(visit: Visit) -> None:
    page = visit()
    overview, height = page.locator(".overview"), DESK["viewport"]["height"]
    texts = ("82.0 ± 1.73 %", "4.50 ± 0.50", "Hops solved", "2 reused, 6 run", "ACT")
    charts = overview.locator("figure").all()
    assert len(charts) == 3
    for item in [overview.get_by_text(text, exact=False).first for text in texts] + charts:
        box = item.bounding_box()
        assert box is not None and box["y"] + box["height"] < height, item


def test_contents_lead_to_their_sections(visit: Visit) -> None:
    page = visit()
    links = page.locator("#contents a")
    targets = [link.get_attribute("href") for link in links.all()]
    assert len(targets) == 14
    assert all(page.locator(f"[id='{str(target)[1:]}']").count() == 1 for target in targets)
    links.last.click()
    expect(page.locator("#timings-and-machine h2")).to_be_in_viewport()
    row = page.get_by_role("cell", name="94.7")
    expect(row).to_be_hidden()
    page.get_by_text("Published for SNLI: 26 systems").click()
    expect(row).to_be_visible()


def test_a_phone_folds_contents_and_scrolls_tables_by_keyboard(visit: Visit) -> None:
    page = visit(PHONE)
    expect(page.locator("#contents a").first).to_be_hidden()
    page.get_by_text("Contents").click()
    expect(page.locator("#contents a").first).to_be_visible()
    page.locator("#claims .scroll").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('#claims .scroll').scrollLeft > 0")
    for region in page.locator(".scroll").all():
        assert region.get_attribute("tabindex") == "0"


def test_a_printed_page_has_its_folded_parts(visit: Visit) -> None:
    page = visit(PHONE)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.get_by_role("cell", name="94.7")).to_be_visible()


def test_the_report_of_the_demo_has_ten_pages_on_paper(
    browser: Browser, stored: Artifacts, tmp_path: Path
) -> None:
    """With all parts unfolded and the demo's study; each chart fits the paper."""
    built, path = report(stored, {"multihop": STUDIES["multihop"]}, 100), tmp_path / "index.html"
    path.write_text(render(built, "html", built.sections), encoding="utf-8")
    page = browser.new_page(**DESK)
    page.goto(path.as_uri())
    page.evaluate(DRAW)
    page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
    paper = page.pdf(prefer_css_page_size=True)
    assert 1 < len(re.findall(rb"/Type\s*/Page\b", paper)) <= 10
    page.set_viewport_size({"width": 1047, "height": 718})  # A4 without its margins, in CSS pixels
    page.emulate_media(media="print")
    assert page.evaluate(WIDTH) == 1047
    page.context.close()


FOCUSED = """() => {
  const at = document.activeElement;
  return at.dataset.chart ?? at.getAttribute("aria-label") ?? at.name ?? "";
}"""


def test_all_charts_and_pairs_are_reached_by_keyboard(visit: Visit) -> None:
    page, reached = visit(), list[str]()
    page.evaluate(DRAW)
    charts = page.evaluate("[...document.querySelectorAll('figure')].map((f) => f.dataset.chart)")
    wanted = {*charts, "words", "Matching pairs", "Step", "steps", "premise", "hypothesis"}
    while len(reached) < 300 and not wanted <= {*reached}:
        page.keyboard.press("Tab")
        reached.append(page.evaluate(FOCUSED))
    assert wanted - {*reached} == set()


INJECTED = """<script>window.injected = 1</script>
<img src="missing:" onerror="window.injected = 1"><a href="javascript:window.injected = 1">link</a>
<img src="{0}/image"><link rel="stylesheet" href="{0}/style"><iframe src="{0}/frame"></iframe>
<script src="{0}/script"></script><form action="{0}/form"><input name="a"></form>"""
LEAKS = """async (url) => {
  navigator.sendBeacon(`${url}/beacon`);
  await fetch(`${url}/fetch`, { mode: "no-cors" }).catch(() => null);
  document.querySelector("form").submit();
  document.querySelector("a[href^=javascript]").click();
  await new Promise((done) => setTimeout(done, 500));
}"""


def test_an_injected_script_and_a_request_are_blocked(
    browser: Browser, file: Path, tmp_path: Path
) -> None:
    """By the page's Content-Security-Policy, if the escaping of a sentence failed."""
    requested: list[str] = []

    class Recorder(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requested.append(self.path)
            self.send_error(404)

        do_POST = do_GET  # noqa: N815

    with ThreadingHTTPServer(("127.0.0.1", 0), Recorder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url, changed = f"http://127.0.0.1:{server.server_port}", tmp_path / "index.html"
        injected = file.read_text("utf-8").replace("<main>", "<main>" + INJECTED.format(url), 1)
        changed.write_text(injected, "utf-8")
        page = browser.new_page(**DESK)
        page.goto(changed.as_uri())
        page.evaluate(LEAKS, url)
        assert page.evaluate("window.injected") is None
        page.evaluate(DRAW)
        assert page.evaluate(FAILED) == []
        page.context.close()
        server.shutdown()
    assert requested == []


def pairs(page: Page, name: str) -> str:
    return page.locator(f"#pairs {name}").inner_text()


def test_a_pair_is_shown_step_by_step(visit: Visit) -> None:
    page = visit()
    assert pairs(page, "h3") == "p1#a"
    assert pairs(page, "output") == "Step 1 of 3"
    assert "12.3" in pairs(page, ".steps tr[data-step='0']")
    assert "neutral ✗ incorrect" in pairs(page, ".steps table")
    assert "entailment ✓ correct" in pairs(page, ".steps .answer")
    page.locator("#pairs input[type=range]").press("ArrowRight")
    assert pairs(page, "output") == "Step 2 of 3"
    shares = page.locator("#pairs .words p").first.locator("small").all_inner_texts()
    assert shares == ["16.7", "16.7", "16.7", "50.0"]  # stored per mille
    expect(page.locator("#pairs tr[data-current]")).to_have_count(3)  # the table and both heat maps
    page.locator("#pairs .steps tr[data-step='2']").click()
    assert pairs(page, "output") == "Step 3 of 3"


def test_pairs_are_filtered(visit: Visit) -> None:
    page = visit()
    page.locator("#pairs select[name=label]").select_option("contradiction")
    assert pairs(page, "[role=status]") == "3 of 8 pairs, 66.7 % correct"
    page.locator("#pairs input[type=search]").fill("crowd nobody")
    assert pairs(page, "[role=status]").startswith("1 of 8 pairs")
    assert pairs(page, "h3") == "p7#a"
    page.locator("#pairs input[type=search]").fill("no such word")
    assert pairs(page, "[role=status]") == "0 of 8 pairs"
    expect(page.locator("#pairs .pair")).to_be_hidden()
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#pairs [role=status]")).to_contain_text("8 of 8 pairs")


def test_pairs_are_chosen_by_keyboard(visit: Visit) -> None:
    page = visit()
    page.get_by_role("listbox", name="Matching pairs").focus()
    page.keyboard.press("ArrowDown")
    assert pairs(page, "h3") == "p2#a"
    assert "spoiled" in pairs(page, ".head")


def test_a_link_leads_to_a_step_of_a_pair(visit: Visit) -> None:
    page = visit(PHONE, "#pair=p4%23a&run=0&step=2")
    assert pairs(page, "h3") == "p4#a" and pairs(page, "output").startswith("Step 2 of")
    link = page.get_by_role("link", name="Link to this step").get_attribute("href")
    assert link == "#pair=p4%23a&run=0&step=2"
    assert page.evaluate(WIDTH) == PHONE["viewport"]["width"]
    words = page.locator("#pairs .words")  # escaped text
    expect(words).to_contain_text("<b>song</b>")
    assert words.locator("p b").count() == 2  # labels of the sentences
