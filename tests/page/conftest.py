"""Pages are opened from disk in a real browser that has no network and may not complain."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from reports.stored.examples import Examples
from reports.stored.load import load
from reports.stored.queries import Traced
from tests.page.example_pages import written
from tests.page.question_pages import written as asked_page
from tests.page.samples import grown, write_sample
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
    colours: str

    def __str__(self) -> str:
        return f"{self.width}x{self.height}-{self.colours}"


PHONE, DESK = (360, 800), (1440, 900)
SCREENS = tuple(Screen(*size, scheme) for size in (PHONE, DESK) for scheme in ("light", "dark"))
WIDE = Screen(*DESK, "light")
Visit = Callable[..., Page]


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


@pytest.fixture(params=SCREENS, ids=str)
def screen(request: pytest.FixtureRequest) -> Screen:
    """Phone and desk, light and dark."""
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


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Opens a file as a page: `visit(path, screen, fragment)`; without a network.

    The test fails if the page asks for anything beyond its file, throws, or writes an error or a
    warning to the console.
    """
    contexts, problems = [], []

    def visit(path: Path, screen: Screen = WIDE, fragment: str = "") -> Page:
        context = browser.new_context(
            viewport={"width": screen.width, "height": screen.height},
            color_scheme="dark" if screen.colours == "dark" else "light",
            offline=True,
        )
        context.set_default_timeout(20_000)
        page = context.new_page()
        contexts.append(context)
        problems.append(watch(page))
        page.goto(path.resolve().as_uri() + fragment)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert [problem for found in problems for problem in found] == []


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
    return written(tmp_path_factory.mktemp("page"), lines)


@pytest.fixture(scope="package")
def asked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[Traced, ...]]:
    """The stored questions, in a page of their own."""
    traced = load(STORED).nse.traced
    return asked_page(tmp_path_factory.mktemp("page"), traced), traced
