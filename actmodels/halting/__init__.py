"""Halting mechanisms for any step function, imported on first use; see docs/library.md."""

from typing import Any

from actmodels.registry import HALTINGS, load_class


def __getattr__(name: str) -> Any:
    if name in ("adapt_steps", "unroll"):
        return load_class(f"actmodels.halting.base:{name}")
    for mechanism in HALTINGS.values():
        if name == mechanism.settings.__name__:
            return mechanism.settings
        if name == mechanism.halting.rpartition(":")[2]:
            return load_class(mechanism.halting)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
