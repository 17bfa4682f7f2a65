"""Choose the best model among those that stage `export` writes."""

from collections.abc import Mapping
from typing import Any

from actmodels.registry import MODELS
from actmodels.statistics import LEVEL, holm

Models = Mapping[str, Mapping[str, Any]]


def best_model(models: Models) -> str:
    """Return the name of the best model.

    A policy: models with inference steps take precedence unless their dev accuracy is significantly
    below the highest, which a few seeds rarely show. Among the remaining models, the highest dev
    accuracy wins.

    Args:
        models: by name, with the fields
            dev_accuracy_mean: mean over seeds.
            dev_minus_highest: difference from the model with the highest mean: low and high of
                the 95 % CI, and p (None with one seed). None for that model.
    """
    below = significantly_below(models)
    return max(
        (name for name in models if name not in below),
        key=lambda name: (takes_steps(name), float(models[name]["dev_accuracy_mean"])),
    )


def takes_steps(name: str) -> bool:
    """Return whether a model takes inference steps."""
    return name in MODELS and MODELS[name].halting is not None


def significantly_below(models: Models) -> set[str]:
    """Return the models below the highest by Holm's procedure (1979).

    With one seed there is no p-value; the CI over pairs decides, without correction.
    """
    gaps = {name: gap for name in models if (gap := models[name]["dev_minus_highest"])}
    below = {name for name, gap in gaps.items() if gap["p"] is None and gap["high"] < 0}
    adjusted = holm({name: gap["p"] for name, gap in gaps.items() if gap["p"] is not None})
    return below | {name for name, p in adjusted.items() if p <= LEVEL}
