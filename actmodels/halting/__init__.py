"""Halting mechanisms, found by name, for a step function of one's own; see docs/library.md."""

from typing import Any

from actmodels.registry import HALTINGS, load_class


def __getattr__(name: str) -> Any:
    if name in ("adapt_steps", "unroll"):
        return load_class(f"actmodels.halting.base:{name}")
    for kind in HALTINGS.values():
        if name == kind.settings.__name__:
            return kind.settings
        if name == kind.halting.rpartition(":")[2]:
            return load_class(kind.halting)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
