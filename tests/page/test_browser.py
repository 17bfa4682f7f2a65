"""The browser of the tests notices what a page must not do."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.page.conftest import Screen, Visit, watch

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("blank") / "blank.html"
    path.write_text("<!doctype html><title>Blank</title><link rel=icon href=data:,><p>Text</p>")
    return path


def test_a_page_has_the_size_and_colours_asked_for(
    blank: Path, visit: Visit, shown: Visit, screen: Screen
) -> None:
    for page in (visit(blank, screen), shown(blank, screen)):
        assert page.evaluate("innerWidth") == screen.width
        dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        assert dark is (screen.colours == "dark")


@pytest.mark.parametrize(
    ("script", "noticed"),
    [
        ("console.error('broken')", "console error: broken"),
        ("console.warn('odd')", "console warning: odd"),
        ("setTimeout(() => { throw Error('thrown') })", "error: thrown"),
        ("new Image().src = 'http://127.0.0.1:9/x.png'", "asked for http://127.0.0.1:9/x.png"),
    ],
)
def test_what_a_page_does_wrong_is_noticed(
    browser: Browser, tmp_path: Path, script: str, noticed: str
) -> None:
    path = tmp_path / "bad.html"
    path.write_text(f"<!doctype html><title>Bad</title><script>{script}</script>")
    context = browser.new_context(offline=True)
    page = context.new_page()
    problems = watch(page)
    page.goto(path.as_uri())
    page.wait_for_timeout(100)
    context.close()
    assert noticed in problems
