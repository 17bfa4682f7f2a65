"""The stage `sweep`: the order in which trials start."""

from collections.abc import Callable
from pathlib import Path

import pytest

from actmodels.errors import SweepError
from pipeline.parameters.load import checked
from pipeline.sweep import start_order
from tests.pipeline.project import params_tree
from tests.samples import MODELS, keyed, sample_trial
from tests.tune.conftest import empty_database, state
from tune.cluster import runner
from tune.sweep import run_trials
from tune.trials.execution import Execution
from tune.trials.grid import Trial

__all__ = ["empty_database", "state"]  # fixtures


def test_a_shuffled_sweep_starts_its_trials_in_an_order_of_the_seed(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials, started = keyed([sample_trial(MODELS[0], seed=n) for n in range(9)]), list[Trial]()
    monkeypatch.setattr(runner, "train", lambda _, trials: started.extend(trials))

    def order(**changes: object) -> list[int]:
        tree = params_tree()
        tree["sweep"] |= changes
        priority: Callable[[Trial], float] = start_order(checked(tree, "").sweep)
        started.clear()
        with pytest.raises(SweepError, match="9 of 9 trials did not finish"):
            run_trials("sweep", trials, Execution(state, state, state), priority=priority)
        return [trial.config.seed for trial in started]

    assert order() == order(order="listed") == [*range(9)]
    first = order(order="shuffled")
    assert sorted(first) == [*range(9)] and first not in ([*range(9)], [*reversed(range(9))])
    assert first == order(order="shuffled") != order(order="shuffled", search_seed=2)
