"""A hook of MkDocs: search finds the pages of *Use it* before all others."""

from typing import Any


def on_page_markdown(markdown: str, page: Any, **_: Any) -> None:
    """Give a page outside of *Use it* a tenth of the weight in search."""
    if page.parent and page.parent.title != "Use it":
        page.meta["search"] = {"boost": 0.1}
