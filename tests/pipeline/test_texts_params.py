"""What the section `texts` may hold, and how its problems are worded."""

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.test_params import problems, tree

__all__ = ["tree"]

SOURCE = {"urls": ["https://host/a.zip"], "sha256": "0" * 64, "bytes": None, "members": ["a"]}


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("../a", {}, "texts.sources.../a: the name must be of letters, digits, _ and -"),
        (
            "a",
            {"members": ["x", "y", "x"]},
            "texts.sources.a.members[2] is 'x' again; each member must be given once",
        ),
        ("a", {"urls": []}, "texts.sources.a.urls is empty; must have at least one value"),
        (
            "a",
            {"urls": ["a.zip"]},
            "texts.sources.a.urls[0] is 'a.zip'; "
            "must be a URL that starts with https://, http:// or file:///",
        ),
        (
            "a",
            {"sha256": "12"},
            "texts.sources.a.sha256 is '12'; must be a SHA-256 of 64 lower-case hex digits",
        ),
        ("a", {"member": "x"}, "texts.sources.a.member is unknown; did you mean texts.sources.a."),
        ("a", {"bytes": 0}, "texts.sources.a.bytes is 0; must be a whole number of at least 1"),
    ],
)
def test_what_a_source_may_be(
    tree: Any, tmp_path: Path, name: str, change: dict[str, Any], sentence: str
) -> None:
    tree["texts"]["sources"] = {name: SOURCE | change}
    (found,) = problems(tree, tmp_path)
    assert found.startswith(sentence)
