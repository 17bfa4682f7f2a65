"""Which figures a report has, by name."""

from reports.charts.along_text import characters_figures
from reports.charts.depths import depth_accuracy, depth_steps, shown_models, stepping_models
from reports.charts.epochs import learning_curves
from reports.charts.figure import Figure
from reports.charts.fixed_steps import ablation
from reports.charts.lengths import lengths
from reports.charts.reader import nse_figures
from reports.charts.sequences import graves_figures
from reports.charts.slices import slices
from reports.charts.step_shares import accuracy_by_steps, steps_taken
from reports.charts.studies import fidelity, halting
from reports.charts.trial_curves import sweep_curves
from reports.charts.weights import ponder_steps, ponder_weight, steps_while_training
from reports.featured import featured_halting, halting_models
from reports.stored.artefacts import Artefacts
from reports.studies.fidelity.variants import fidelity_models
from reports.tables.steps import weighed_models
from reports.tables.sweep import sweep_models, varied

# Kinds of figures that each model has for itself: KIND_MODEL.
PONDERING = {
    "steps_by_epoch": steps_while_training,
    "ponder_weight": ponder_weight,
    "ponder_steps": ponder_steps,
}


def figures(artefacts: Artefacts, published: bool = True) -> dict[str, Figure]:
    """The figures that the artefacts allow, by name; those of a model end with its name.

    Args:
        artefacts: what the stages wrote.
        published: show the paper's figures where they are for the same corpus.
    """
    found: dict[str, Figure] = {}
    if artefacts.ablated:
        found["ablation"] = ablation(artefacts, published)
    for model in artefacts.models:
        found[f"learning_curves_{model}"] = learning_curves(artefacts, model)
    return found | _on_steps(artefacts) | _studies(artefacts) | _sweep(artefacts)


def _on_steps(artefacts: Artefacts) -> dict[str, Figure]:
    """Steps while training, by ponder weight, on test, and by what the pairs are like."""
    found: dict[str, Figure] = {}
    for model in weighed_models(artefacts):
        for kind, of_model in PONDERING.items():
            found[f"{kind}_{model}"] = of_model(artefacts, model)
    for model in halting_models(artefacts):
        found[f"steps_{model}"] = steps_taken(artefacts, model)
    if named := featured_halting(artefacts):
        found["step_accuracy"] = accuracy_by_steps(artefacts, named)
    for model in named:
        found[f"lengths_{model}"] = lengths(artefacts, model)
    if shown_models(artefacts):
        found["depth"] = depth_accuracy(artefacts)
    if stepping_models(artefacts):
        found["depth_steps"] = depth_steps(artefacts)
    return found


def _studies(artefacts: Artefacts) -> dict[str, Figure]:
    """What deviations cost, the ways of halting, Graves' tasks, and readers."""
    models = fidelity_models(artefacts)
    found = {f"fidelity_{model}": fidelity(artefacts, model) for model in models}
    if not artefacts.halting.empty:
        found["halting"] = halting(artefacts)
    found |= graves_figures(artefacts) | characters_figures(artefacts)
    return found | nse_figures(artefacts)


def _sweep(artefacts: Artefacts) -> dict[str, Figure]:
    """The trials of each model; slices where its grid varies anything."""
    found: dict[str, Figure] = {}
    for model in sweep_models(artefacts):
        found[f"sweep_curves_{model}"] = sweep_curves(artefacts, model)
        if varied(artefacts, model):
            found[f"slices_{model}"] = slices(artefacts, model)
    return found
