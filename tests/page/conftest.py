"""Pages are opened from disk in a real browser that has no network and may not complain."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Page,
    Request,
    ViewportSize,
    sync_playwright,
)

from reports.stored.artefacts import load
from reports.stored.traces import Examples, Traced
from tests.page.samples import grown, write_sample
from tests.page.traced_pages import pairs_page, questions_page
from tests.reports.write_traces import PAIRS, line, random_lines

STORED = Path(__file__).parents[1] / "fixtures" / "artefacts"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
OWN = ("file:", "data:", "blob:", "about:")  # addresses that lead to no other machine


@dataclass(frozen=True)
class Screen:
    """The size of a window in CSS pixels, and the colours that its reader prefers."""

    width: int
    height: int
    colours: Literal["light", "dark"]

    def __str__(self) -> str:
        return f"{self.width}x{self.height}-{self.colours}"

    @property
    def size(self) -> ViewportSize:
        return {"width": self.width, "height": self.height}


PHONE, DESK = (360, 800), (1440, 900)
SCREENS = (Screen(*PHONE, "dark"), Screen(*DESK, "light"))  # each size and each scheme once
WIDE = Screen(*DESK, "light")
Visit = Callable[..., Page]
DRAWN = "[...document.querySelectorAll('figure[data-figure]')].every(f => f.dataset.drawn)"
# Waits until the drawings have had one size for a while.
SETTLED = """async () => {
  const drawings = document.querySelectorAll("svg.marks");
  const sizes = () => [...drawings].map((svg) => svg.getBoundingClientRect().width).join();
  for (let last = null, now = sizes(); last !== now; now = sizes()) {
    last = now;
    await new Promise((done) => setTimeout(done, 200));
  }
}"""


def executable() -> str | None:
    """The browser of this machine: the one that CHROMIUM names, or the first that is installed."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


# Not for the whole session: Playwright's event loop runs as long as it is open, and other tests
# start loops of their own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A headless Chromium; tests skip where there is none, or fail if REQUIRE_BROWSER is 1."""
    found = executable()
    if found is None:
        missing = "no Chromium found; install one, or name it in the variable CHROMIUM"
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture(scope="module", params=SCREENS, ids=str)
def screen(request: pytest.FixtureRequest) -> Screen:
    """A dark phone and a light desk."""
    chosen: Screen = request.param
    return chosen


def watch(page: Page) -> list[str]:
    """Collects what a page does wrong: requests beyond its file, errors and warnings."""
    problems: list[str] = []

    def said(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            problems.append(f"console {message.type}: {message.text}")

    def asked(request: Request) -> None:
        if not request.url.startswith(OWN):
            problems.append(f"asked for {request.url}")

    page.on("console", said)
    page.on("request", asked)
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    return problems


def opened(
    browser: Browser, path: Path, screen: Screen, fragment: str = ""
) -> tuple[Page, list[str]]:
    """A file as a page of its own, without a network, and what it does wrong from now on."""
    context = browser.new_context(viewport=screen.size, color_scheme=screen.colours, offline=True)
    context.set_default_timeout(20_000)
    page = context.new_page()
    problems = watch(page)
    page.goto(path.resolve().as_uri() + fragment)
    return page, problems


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Opens a file as a new page: `visit(path, screen, fragment)`.

    The test fails if the page asks for anything beyond its file, throws, or writes an error or a
    warning to the console.
    """
    pages = []

    def visit(path: Path, screen: Screen = WIDE, fragment: str = "") -> Page:
        pages.append(opened(browser, path, screen, fragment))
        return pages[-1][0]

    yield visit
    for page, _ in pages:
        page.context.close()
    assert [problem for _, found in pages for problem in found] == []


@pytest.fixture(scope="package")
def kept(browser: Browser) -> Iterator[dict[Path, tuple[Page, list[str]]]]:
    """Pages that stay open for the next test."""
    pages: dict[Path, tuple[Page, list[str]]] = {}
    yield pages
    for page, _ in pages.values():
        page.context.close()


FAILED = pytest.StashKey[bool]()


def pytest_exception_interact(node: pytest.Item) -> None:
    node.stash[FAILED] = True


@pytest.fixture
def shown(
    browser: Browser, kept: dict[Path, tuple[Page, list[str]]], request: pytest.FixtureRequest
) -> Iterator[Visit]:
    """Gives a file's page, all charts drawn, resized to a screen: opened once for many tests.

    They leave it as they found it; after one that failed it is opened anew. What a page does wrong
    is an error as in `visit`.
    """
    used = set[Path]()

    def shown(path: Path, screen: Screen = WIDE) -> Page:
        if path not in kept:
            kept[path] = opened(browser, path, screen)
        used.add(path)
        return resized(drawn(kept[path][0]), screen)

    yield shown
    problems = [problem for path in used for problem in kept[path][1]]
    if problems or FAILED in request.node.stash:
        for path in used:
            kept.pop(path)[0].context.close()
    assert problems == []


def drawn(page: Page) -> Page:
    """The page when all of its charts are there."""
    page.wait_for_function(DRAWN, timeout=60_000)
    return page


def resized(page: Page, screen: Screen) -> Page:
    """The page as it is on a screen, seen from its top, when its charts have followed."""
    page.mouse.move(0, 0)
    page.emulate_media(color_scheme=screen.colours)
    if page.viewport_size != screen.size:
        page.set_viewport_size(screen.size)
        page.wait_for_timeout(100)
        page.evaluate(SETTLED)
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    return page


@pytest.fixture(scope="package")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of the stored artefacts with the paper's grid, every figure and the explorer."""
    path = tmp_path_factory.mktemp("page") / "index.html"
    write_sample(path, grown(load(STORED)))
    return path


@pytest.fixture(scope="package")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Examples]:
    """Twenty random pairs behind the hand-made ones: more than the list shows at once."""
    lines = [*(line(pair) for pair in PAIRS), *random_lines(20)]
    return pairs_page(tmp_path_factory.mktemp("page"), lines)


@pytest.fixture(scope="package")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Traced, ...]]:
    """The stored questions, in a page of their own."""
    traced = load(STORED).nse.traced
    return questions_page(tmp_path_factory.mktemp("page"), *traced), traced
