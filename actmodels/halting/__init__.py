"""Ways of halting, for a step function of one's own; docs/library.md shows how.

`Act`, `PonderNet` and the others of `actmodels.registry.HALTINGS` with their settings, and the
loop `adapt_steps`. They are found when asked for: a trial rests on the files of its own halting.
"""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name in ("adapt_steps", "unroll"):
        return getattr(import_module("actmodels.halting.loop"), name)
    registry = import_module("actmodels.registry")
    for kind in registry.HALTINGS.values():
        if name == kind.settings.__name__:
            return kind.settings
        if name == kind.halting.rpartition(":")[2]:
            return registry.load_class(kind.halting)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
