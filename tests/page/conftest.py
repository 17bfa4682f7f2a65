"""Open pages from disk in a real browser, offline; console errors and warnings fail the test."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from reports.load import load
from reports.render import render, report

STORED = Path(__file__).parents[1] / "fixtures" / "artifacts"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
LOCAL = ("file:", "data:", "blob:", "about:")  # URL schemes without network


# viewport in CSS pixels, and preferred color scheme
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
DESK: dict[str, Any] = {"viewport": {"width": 1400, "height": 900}, "color_scheme": "light"}
Visit = Callable[..., Page]
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


def executable() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


# Package scope: Playwright's event loop must be closed before other tests start theirs.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Start a headless Chromium; without one tests are skipped, or fail if REQUIRE_BROWSER=1."""
    path = executable()
    if path is None:
        message = "no Chromium found; install it, or set CHROMIUM to its path"
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


def watch(page: Page) -> list[str]:
    """Collect the problems of a page: external requests, errors and warnings."""
    problems: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            problems.append(f"console {message.type}: {message.text}")

    def on_request(request: Request) -> None:
        if not request.url.startswith(LOCAL):
            problems.append(f"request for {request.url}")

    page.on("console", on_console)
    page.on("request", on_request)
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    return problems


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Open a file as a new offline page: `visit(path, screen, fragment)`.

    The test fails if the page requests another file, throws, or logs an error or a warning.
    """
    pages: list[tuple[Page, list[str]]] = []

    def visit(path: Path, screen: dict[str, Any] = DESK, fragment: str = "") -> Page:
        context = browser.new_context(**screen, offline=True)
        context.set_default_timeout(20_000)
        page = context.new_page()
        pages.append((page, watch(page)))
        page.goto(path.resolve().as_uri() + fragment)
        return page

    yield visit
    for page, _ in pages:
        page.context.close()
    assert [problem for _, problems in pages for problem in problems] == []


@pytest.fixture(scope="package")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Render the page of the fixture artifacts, with all studies."""
    path = tmp_path_factory.mktemp("page") / "index.html"
    built = report(load(STORED), published=True, examples=100)
    path.write_text(render(built, "html", built.sections), encoding="utf-8")
    return path
