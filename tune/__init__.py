"""Sweeps on Ray Tune, tracked by MLflow; `Sweep` trains what the user brings."""

from typing import Any


def __getattr__(name: str) -> Any:
    """Import the public names on first use: workers and the pipeline do not need them."""
    if name not in __all__:
        raise AttributeError(f"module tune has no attribute {name}")
    from tune import own_sweep

    return getattr(own_sweep, name)


__all__ = ["Range", "SuccessiveHalving", "Sweep"]
