"""The problems of the section `texts` that types do not show."""

import re
from collections.abc import Iterator
from typing import Any

from pipeline.parameters.problems import dotted

FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def texts_problems(tree: dict[str, Any]) -> Iterator[str]:
    """All problems of this kind; parts of the wrong type are passed over, they have their own."""
    texts = tree.get("texts")
    sources = texts.get("sources") if isinstance(texts, dict) else None
    for name, source in sources.items() if isinstance(sources, dict) else ():
        path = ("texts", "sources", name)
        if not FILE_NAME.fullmatch(str(name)):  # a file is called by it
            yield f"{dotted(path)}: the name must be of letters, digits, _ and -"
        members = source.get("members") if isinstance(source, dict) else None
        members = members if isinstance(members, list) else []
        for place, member in enumerate(members):
            if member in members[:place]:
                key = dotted((*path, "members", place))
                yield f"{key} is {member!r} again; each member must be given once"
