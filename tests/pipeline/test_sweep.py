"""The stage `sweep`: the order of its trials, its imports, a time limit that ends it too early."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from actmodels.errors import SweepError
from pipeline.parameters.load import checked
from pipeline.runtime.results import write_json
from pipeline.sweep import main, start_order
from tests.pipeline.project import ROOT, params_tree, read_output, write_params, written
from tests.samples import MODELS, keyed, sample_trial
from tests.tune.conftest import empty_database, state
from tests.tune.tracking_samples import record
from tune.cluster import runner
from tune.running_sweep import RunningSweep
from tune.sweep import run_trials
from tune.trials.execution import Execution
from tune.trials.grid import Trial
from tune.trials.stops import TIME_LIMIT, with_end

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


@pytest.mark.parametrize(
    ("modules", "heavy"),
    [
        ("pipeline.sweep, pipeline.retrain", "torch"),
        ("pipeline.corpus, pipeline.watch", "requests"),
    ],
)
def test_a_stage_imports_what_most_reruns_do_not_need_when_it_needs_it(
    modules: str, heavy: str
) -> None:
    script = f"import sys, {modules}; sys.exit('{heavy}' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, timeout=60).returncode == 0


def test_a_time_limit_before_each_model_has_a_result_is_an_error_that_writes_nothing(
    folder: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_params(folder)
    write_json(folder / "artifacts/tensors/manifest.json", {"digest": "d1"})

    def train(sweep: RunningSweep, trials: list[Trial]) -> None:
        assert sweep.stops
        sweep.stops.request(sweep.group, TIME_LIMIT)
        assert sweep.is_ending()
        for trial in (trial for trial in trials if trial.config.model in trained):
            done = with_end(replace(record(trial.key), provenance=trial.origin), TIME_LIMIT)
            assert sweep.record(replace(done, config=trial.config.as_dict()))

    monkeypatch.setattr(runner, "train", train)
    trained: tuple[str, ...] = MODELS
    with pytest.raises(SweepError, match="before a trial of compare_adaptive_attention had an ep"):
        main()
    assert written(folder, "sweep") == {}
    trained += ("compare_adaptive_attention",)
    main()
    summary = read_output(folder, "sweep")
    assert summary["ended"].startswith("the time limit ended the sweep: 7 of 7")
    assert [model["trials"] for model in summary["models"].values()] == [4, 2, 1]
