"""Selection by mean dev accuracy, and every tie rule."""

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations
from typing import Any

from actmodels.records import EpochRecord, TrialRecord
from pipeline.trials.selection import lost_models, select_best
from tests.pipeline.project import transcribe
from tests.samples import MODELS, sample_trial

ALL = ["dev_loss", "dev_mean_steps", "grid_order"]


def record(
    accuracy: float, dropout: float = 0.1, *, model: str = MODELS[1], seed: int = 1, **more: Any
) -> TrialRecord:
    """Return a record of two epochs; the second is better by 0.1."""
    steps, parameters = more.pop("steps", 3.0), more.pop("parameters", 10)
    diverged, loss = more.pop("diverged", False), more.pop("loss", 1.0)
    config = sample_trial(model, seed=seed, dropout=dropout, **more).as_dict()
    worse = EpochRecord(1, 1, 0.3, 1, 0, 2, 9.0, accuracy - 0.1, 1, 0, 2)
    best = EpochRecord(2, 1, 0.3, steps, 0, 2, loss, accuracy, steps, 0, 2)
    key = f"{accuracy}-{seed}-{dropout}-{more}"
    return TrialRecord(key, config, parameters, (worse, best), {}, diverged)


def stopped(record: TrialRecord, epochs: int) -> TrialRecord:
    return replace(
        record, history=record.history[:epochs], provenance={"early_stopping": "successive_halving"}
    )


def test_selection(golden: Callable[..., None]) -> None:
    def select(*records: TrialRecord, ties: list[str] = ALL) -> list[str]:
        return [
            f"{model}: dropout {best.config.network.dropout}, dev {best.dev_accuracy:.4g} ± "
            f"{best.dev_accuracy_sd}, {len(best.records)} seeds, {best.tied} tied of "
            f"{best.considered}"
            for model, best in select_best(records, ties).items()
        ] + [*lost_models(records).values()]

    def in_any_order(*records: TrialRecord) -> list[str]:
        """The finite records are in their order, as it decides ties."""
        orders = [o for o in permutations(records) if o.index(records[0]) < o.index(records[1])]
        every = {"; ".join(select(*o, ties=ties)) for o in orders for ties in (ALL, ["grid_order"])}
        return sorted(every)

    names = {"nan": float("nan"), "inf": float("inf"), "MODELS": MODELS}
    names |= {"select": select, "in_any_order": in_any_order}
    transcribe(golden, "selection.txt", names | {"record": record, "stopped": stopped})
