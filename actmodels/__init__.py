"""Adaptive computation: halting mechanisms for any network, and models of sentence pairs."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "2.0.0"

if TYPE_CHECKING:
    from actmodels import halting as halting
else:  # on first use: processes without torch import the declarations and records of this package

    def __dir__():
        return sorted({*globals(), "halting"})

    def __getattr__(name):
        if name != "halting":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module("actmodels.halting")
