"""The report's figures as flat names and numbers, for `dvc metrics show` and MLflow."""

import re

from reports.spread import Spread
from reports.stored.artefacts import Artefacts
from reports.studies.fidelity import fidelity_models, variants
from reports.studies.graves.characters import readers
from reports.studies.graves.runs import act_gap, graves_runs, graves_tasks
from reports.studies.graves.tasks import CHARACTERS
from reports.studies.halting import halting_points
from reports.studies.multihop import multihop_runs, trained_hops
from reports.studies.nse.runs import nse_kinds, nse_runs
from reports.studies.sizes import laws, sized_models, sizes
from reports.tables.ablation import FIXED, points
from reports.tables.claims import comparisons
from reports.tables.length_and_depth import correlations
from reports.tables.step_habits import examples_metrics
from reports.tables.sweep import sweep_models, trials_of
from reports.tables.table_1 import systems


def metrics(artefacts: Artefacts) -> dict[str, float]:
    """Shares in [0, 1]; a standard deviation is left out where there is one seed."""
    flat: dict[str, float] = {"sweep.trials": len(artefacts.trials)}
    for model in sweep_models(artefacts):
        best = max(float(a) for a in trials_of(artefacts, model)["dev_accuracy"])
        flat[f"sweep.{model}.best_dev_accuracy"] = best
    classifier, *models = systems(artefacts)
    for one in (*models, classifier):
        flat |= {} if one is classifier else {f"{one.model}.seeds": one.test.n}
        flat[f"{one.model}.parameters"] = one.parameters
        flat |= _spread(f"{one.model}.test_accuracy", one.test)
        flat |= _spread(f"{one.model}.dev_accuracy", one.dev)
        flat |= _spread(f"{one.model}.mean_steps", one.steps)
    if artefacts.ablated:
        for point in points(artefacts.ablation_test):
            if point.reading in FIXED:
                place = f"ablation.{point.reading}_{point.steps}"
                flat |= _spread(f"{place}.accuracy", point.accuracy)
                flat |= _spread(f"{place}.adaptive_gain", point.gain)
    flat |= _paired(artefacts) | _studies(artefacts) | _graves(artefacts) | _nse(artefacts)
    flat |= _multihop(artefacts) | _correlations(artefacts)
    return flat | examples_metrics(artefacts.examples)


def _paired(artefacts: Artefacts) -> dict[str, float]:
    """Each model against the reference; p-values are in claims.csv."""
    flat: dict[str, float] = {}
    for c in comparisons(artefacts):
        place = f"{c.model}.minus_{c.reference}"
        flat |= {f"{place}.mean": c.difference, f"{place}.low": c.low, f"{place}.high": c.high}
    return flat


def _studies(artefacts: Artefacts) -> dict[str, float]:
    """Differences of variants, steps and accuracy of points; with nothing where there are none."""
    flat: dict[str, float] = {}
    for model in fidelity_models(artefacts):
        for variant in variants(artefacts, model):
            place = f"fidelity.{model}.{plain(variant.name)}.difference"
            flat |= {place: variant.difference.mean}
    for model in sized_models(artefacts):
        for at in sizes(artefacts, model):
            flat |= _spread(f"sizes.{model}.{at.pairs}.test_accuracy", at.test)
        for law in laws(artefacts, model):
            flat[f"sizes.{model}.foretold_at_{law.pairs}"] = law.accuracy
    for point in halting_points(artefacts):
        place = f"halting.{point.kind}.{plain(point.text)}"
        flat |= {f"{place}.mean_steps": point.steps.mean}
        flat |= {f"{place}.dev_accuracy": point.accuracy.mean}
    return flat


def _graves(artefacts: Artefacts) -> dict[str, float]:
    """Errors and steps of runs on Graves' tasks, and what ACT at its best changes."""
    flat: dict[str, float] = {}
    for task in graves_tasks(artefacts):
        runs = graves_runs(artefacts, task)
        for run in runs:
            place = f"graves.{task}.{plain(run.name)}"
            flat |= _spread(f"{place}.dev_error", run.error)
            flat |= _spread(f"{place}.mean_steps", run.steps)
        flat |= _spread(f"graves.{task}.act_minus_without", act_gap(runs))
    for reader in readers(artefacts):
        place = f"graves.{CHARACTERS}.{plain(reader.name)}"
        flat |= _spread(f"{place}.bits_per_character", reader.bits)
        flat |= _spread(f"{place}.mean_steps", reader.steps)
    return flat


def _nse(artefacts: Artefacts) -> dict[str, float]:
    """Accuracies and steps of readers of cloze questions, and what more steps change."""
    flat: dict[str, float] = {}
    for kind in nse_kinds(artefacts):
        for run in nse_runs(artefacts, kind):
            place = f"nse.{kind}.{plain(run.name)}"
            flat |= _spread(f"{place}.dev_accuracy", run.dev)
            flat |= _spread(f"{place}.test_accuracy", run.test)
            flat |= _spread(f"{place}.mean_steps", run.mean_steps)
            flat |= {} if run.first else {f"{place}.difference": run.difference.mean}
    return flat


def _multihop(artefacts: Artefacts) -> dict[str, float]:
    """Return accuracies and steps by run; `next` is the first depth that is not trained."""
    flat: dict[str, float] = {}
    for run in multihop_runs(artefacts):
        place = f"multihop.{run.model}.{plain(run.settings)}"
        following = run.accuracy.get(trained_hops(artefacts) + 1)
        flat |= _spread(f"{place}.accuracy_trained", run.trained_accuracy)
        flat |= _spread(f"{place}.accuracy_next", following)
        flat |= _spread(f"{place}.mean_steps", run.trained_steps)
        flat |= _spread(f"{place}.correlation", run.correlation)
    return flat


def _correlations(artefacts: Artefacts) -> dict[str, float]:
    """Means over seeds, of those that are defined."""
    found = [c for model in artefacts.models for c in correlations(artefacts, model)]
    return {
        f"{c.model}.steps_against_{c.against}.{name}": spread.mean
        for c in found
        for name, spread in (("pearson", c.pearson), ("spearman", c.spearman))
        if spread is not None
    }


def plain(text: str) -> str:
    """A text as part of a metric's name, which MLflow takes with few signs besides letters."""
    return re.sub(r"[^A-Za-z0-9.-]+", "_", text.replace("'", "")).strip("_")


def _spread(name: str, spread: Spread | None) -> dict[str, float]:
    figures = {} if spread is None else {"mean": spread.mean, "sd": spread.sd}
    return {f"{name}_{of}": figure for of, figure in figures.items() if figure is not None}
