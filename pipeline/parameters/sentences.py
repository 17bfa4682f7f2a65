"""How problems of params.yaml are worded, and how its parts are looked at, whatever they are."""

import errno
import math
from collections.abc import Hashable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from actmodels.errors import shown
from actmodels.values import value_problem

MOST_TRIALS = 10_000  # ours: of a model; the paper's grid has 432
MOST_VALUES = 100_000  # ours; params.yaml has some 400, dvc.lock 2,000
KeyPath = tuple[int | str, ...]


def at(tree: Any, *path: str) -> Any:
    """What stands at a path; None where nothing does."""
    for part in path:
        tree = tree.get(part) if isinstance(tree, dict) else None
    return tree


def mapping(tree: Any, *path: str) -> dict[str, Any]:
    """The mapping at a path; empty where something else is, which has a problem of its own."""
    found = at(tree, *path)
    return found if isinstance(found, dict) else {}


def listing(tree: Any, *path: str) -> list[Any]:
    """The list at a path; empty where something else is."""
    found = at(tree, *path)
    return found if isinstance(found, list) else []


def dotted(path: KeyPath) -> str:
    """The path of a key as people write it: `sweep.models.x.grid.dropout[1]`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def unknown(path: KeyPath, known: Sequence[str]) -> str:
    """Sentence for a key that is none of `known`, with the nearest of them."""
    nearest = get_close_matches(str(path[-1]), known, n=1)
    if nearest:
        return f"{dotted(path)} is unknown; did you mean {dotted((*path[:-1], nearest[0]))}?"
    return f"{dotted(path)} is unknown; must be one of {', '.join(known)}"


def repeated(path: KeyPath, values: Sequence[Any], what: str = "value") -> Iterator[str]:
    """Sentences for the values of a list that it has before."""
    before: set[Any] = set()
    for place, value in enumerate(values):
        if not isinstance(value, Hashable):
            continue  # of the wrong type, which is said elsewhere
        if value in before:
            key = dotted((*path, place))
            yield f"{key} is {shown(value)} again; each {what} must be given once"
        before.add(value)


def axis_problems(path: KeyPath, hint: Any, values: Any) -> Iterator[str]:
    """Sentences for a list of values of a setting, of type `hint`."""
    if values == []:
        yield f"{dotted(path)} is empty; must have at least one value"
    for place, value in enumerate(values if isinstance(values, list) else ()):
        if problem := value_problem(hint, value):
            yield f"{dotted((*path, place))} {problem}"


def too_many(path: KeyPath, grid: dict[str, Any], seeds: list[Any]) -> Iterator[str]:
    """A sentence on a grid that nobody sees the end of."""
    trials = math.prod(len(v) for v in (*grid.values(), seeds) if isinstance(v, list))
    if trials > MOST_TRIALS:
        key = dotted(path)
        yield f"{key} makes {trials:,} trials with its seeds; must be at most {MOST_TRIALS:,}"


def none_of(key: str, value: Any, where: str, known: Sequence[str]) -> str:
    """Sentence for a value that must be a key of a section elsewhere."""
    present = ", ".join(map(str, known))
    return f"{key} is {shown(value)}; must be one of {where}: {present or 'which is empty'}"


def text_of(path: Path) -> str:
    """What a file holds; OSError also of what is none, such as a pipe that nobody writes to."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "is no file", str(path))
    return path.read_text(encoding="utf-8")


def endless(tree: Any) -> bool:
    """Whether YAML is a mass of values, as it is where an alias holds others, or itself."""
    waiting = [tree]
    for _ in range(MOST_VALUES):
        if not waiting:
            return False
        node = waiting.pop()
        waiting.extend(node.values() if isinstance(node, dict) else ())
        waiting.extend(node if isinstance(node, list) else ())
    return True
