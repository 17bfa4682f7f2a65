"""Which settings hold for a model: those common to all models, then its own."""

from collections.abc import Mapping
from typing import Any

from actmodels.config import setting_types


def effective(
    model: str, common: Mapping[str, Any], own: Mapping[str, Any], grid: Mapping[str, Any]
) -> dict[str, Any]:
    """The settings of a model that its grid leaves open.

    Args:
        common: `sweep.settings`; those that the model does not have are passed over.
        own: the model's own settings, which win. grid: its axes, which win over common ones.
    """
    shared = {n: v for n, v in common.items() if n in setting_types(model) and n not in grid}
    return {**shared, **own}
