"""How problems of params.yaml are worded, and how its parts are looked at, whatever they are."""

import math
from collections.abc import Hashable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from actmodels.errors import shown
from actmodels.values import value_problem

MOST_TRIALS = 10_000  # ours: of a model; the paper's grid has 432
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


def setting_problems(
    path: KeyPath, known: dict[str, Any], settings: dict[str, Any]
) -> Iterator[str]:
    """Sentences for settings that are unknown or have a wrong value; known: their types."""
    for setting, value in settings.items():
        if setting not in known:
            yield unknown((*path, setting), list(known))
        elif problem := value_problem(known[setting], value):
            yield f"{dotted((*path, setting))} {problem}"


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
