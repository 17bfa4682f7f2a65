"""The report's figures as flat names and numbers, for `dvc metrics show` and MLflow."""

from reports.ablation import FIXED, points
from reports.artefacts import Artefacts
from reports.spread import Spread
from reports.sweep import sweep_models, trials_of
from reports.tables import mean_steps, parameters, test_accuracy


def metrics(artefacts: Artefacts) -> dict[str, float]:
    """Shares in [0, 1]; a standard deviation is left out where there is one seed."""
    flat: dict[str, float] = {"sweep.trials": len(artefacts.trials)}
    for model in sweep_models(artefacts):
        best = max(float(a) for a in trials_of(artefacts, model)["dev_accuracy"])
        flat[f"sweep.{model}.best_dev_accuracy"] = best
    for model in artefacts.models:
        flat[f"{model}.seeds"] = len(artefacts.runs(model))
        flat[f"{model}.parameters"] = parameters(artefacts, model)
        flat |= _spread(f"{model}.test_accuracy", test_accuracy(artefacts, model))
        dev = Spread.of(artefacts.runs(model)["dev_accuracy"])
        flat |= _spread(f"{model}.dev_accuracy", dev)
        if (steps := mean_steps(artefacts, model)) is not None:
            flat |= _spread(f"{model}.mean_steps", steps)
    if artefacts.ablated:
        for point in points(artefacts.ablation_test, "test"):
            if point.reading in FIXED and point.gain is not None:
                place = f"ablation.{point.reading}_{point.steps}"
                flat |= _spread(f"{place}.accuracy", point.accuracy)
                flat |= _spread(f"{place}.adaptive_gain", point.gain)
    return flat


def _spread(name: str, spread: Spread) -> dict[str, float]:
    flat = {f"{name}_mean": spread.mean}
    return flat if spread.sd is None else flat | {f"{name}_sd": spread.sd}
