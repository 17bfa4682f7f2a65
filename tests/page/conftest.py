"""Pages are opened from disk in a real browser that has no network and may not complain."""

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
OWN = ("file:", "data:", "blob:", "about:")  # addresses that lead to no other machine


# the size of a window in CSS pixels, and the colors that its reader prefers
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


# Not for the session: while it is open Playwright has an event loop, and other tests start theirs.
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


def watch(page: Page) -> list[str]:
    """Collect what a page does wrong: requests beyond its file, errors and warnings."""
    problems: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            problems.append(f"console {message.type}: {message.text}")

    def on_request(request: Request) -> None:
        if not request.url.startswith(OWN):
            problems.append(f"asked for {request.url}")

    page.on("console", on_console)
    page.on("request", on_request)
    page.on("pageerror", lambda error: problems.append(f"error: {error}"))
    return problems


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    """Opens a file as a new page without a network: `visit(path, screen, fragment)`.

    The test fails if the page asks for anything beyond its file, throws, or writes an error or a
    warning to the console.
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
    assert [problem for _, found in pages for problem in found] == []


@pytest.fixture(scope="package")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the stored artifacts, all studies on."""
    path = tmp_path_factory.mktemp("page") / "index.html"
    made = report(load(STORED), published=True, examples=100)
    path.write_text(render(made, "html", made.sections), encoding="utf-8")
    return path
