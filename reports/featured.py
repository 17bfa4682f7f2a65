"""Which models the words and the crowded figures are about where there are too many for all."""

from reports.spread import Spread
from reports.stored.artefacts import Artefacts

MANY = 4  # as many are named one by one; with more, only the featured ones
PAPER = ("decomposable_attention", "adaptive_attention")


def best_on_dev(artefacts: Artefacts) -> str:
    """The retrained model with the highest mean dev accuracy (the first of equals).

    Chosen without the test set, so that its test accuracy is no maximum of many.
    """
    return max(artefacts.models, key=lambda m: Spread.of(artefacts.runs(m)["dev_accuracy"]).mean)


def featured(artefacts: Artefacts) -> tuple[str, ...]:
    """All models; of many the paper's two and the best on dev. In stored order."""
    if len(artefacts.models) <= MANY:
        return artefacts.models
    chosen = {*PAPER, best_on_dev(artefacts)}
    return tuple(model for model in artefacts.models if model in chosen)


def halting_models(artefacts: Artefacts) -> list[str]:
    """The models that choose their number of steps, in stored order."""
    return [model for model in artefacts.models if artefacts.adapts(model)]


def featured_halting(artefacts: Artefacts) -> list[str]:
    """Those of them that are featured."""
    return [model for model in halting_models(artefacts) if model in featured(artefacts)]
