"""The user ends a trial, or a sweep with its best, and the same command goes on."""

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from actmodels.errors import SweepError
from actmodels.records import TrialRecord
from tests.samples import MODELS, keyed, sample_trial
from tests.tune.own_request import Request
from tests.tune.tracking_samples import children, parents, record
from tune import Sweep
from tune.running_sweep import RunningSweep
from tune.sweep import run_trials
from tune.trials.execution import Execution
from tune.trials.grid import Trial, grid_hash
from tune.trials.stops import TIME_LIMIT, USER, Stops, ended_by, ended_text, with_end
from tune.trials.store import TrialStore


@pytest.fixture
def execution(state: Path) -> Execution:
    return Execution(state, state, state / "ray", max_concurrent=1)


@pytest.fixture
def trials(execution: Execution, tmp_path: Path) -> list[Trial]:
    """Three trials of four epochs, which request an end if a file of their seed says so."""
    settings = {"rate": 1.0, "folder": execution.checkpoints.location}
    limits = {"metric": "loss", "mode": "min", "max_epochs": 4, "seeds": [1, 2, 3]}
    return Sweep(name="requests", training=Request, settings=settings, **limits).planned()  # type: ignore[arg-type]


def epochs(records: list[TrialRecord]) -> list[int]:
    return [len(record.history) for record in records]


def request(execution: Execution, seed: int, name: str) -> None:
    execution.checkpoints.make()
    Path(execution.checkpoints.location, f"request-{seed}").write_text(name)


def withdraw(execution: Execution, seed: int) -> None:
    Path(execution.checkpoints.location, f"request-{seed}").unlink()


@pytest.mark.slow(minutes=1)
def test_a_trial_and_a_sweep_end_and_continue(
    trials: list[Trial],
    execution: Execution,
    state: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    request(execution, 1, trials[0].key)
    request(execution, 2, grid_hash(trials))
    records = run_trials("sweep", trials, execution)
    assert epochs(records) == [2, 2]  # the third did not start
    assert [ended_by(record) for record in records] == [USER, USER]
    assert "sweep: the user ends it; running trials end after their" in capfd.readouterr().err
    text = "the user ended the sweep: 2 of 3 trials have results, 2 of them stopped early"
    assert parents(state)[0].data.tags["stopped"] == text == ended_text(USER, records, 3, [])
    tags = {run.data.tags["trial_key"]: run.data.tags for run in children(state).values()}
    assert tags.keys() == {trial.key for trial in trials[:2]}
    assert tags[trials[0].key]["stopped"] == "stopped by the user after epoch 2"

    withdraw(execution, 2)  # the same command continues the sweep, but not the stopped trial
    records = run_trials("sweep", trials, execution)
    assert (epochs(records), ended_by(records[0])) == ([2, 4, 4], USER)
    assert "stopped" not in parents(state)[0].data.tags
    tags = {run.data.tags["trial_key"]: run.data.tags for run in children(state).values()}
    assert [key for key, of in tags.items() if "stopped" in of] == [trials[0].key]
    assert run_trials("sweep", trials, execution) == records

    Stops(execution.checkpoints, grid_hash(trials)).withdraw(trials[0].key)
    TrialStore(execution.trials).resume(trials[0].key)
    withdraw(execution, 1)
    records = run_trials("sweep", trials, execution)
    assert epochs(records) == [4, 4, 4]
    undisturbed = [record.result_json() for record in records]
    other = Execution(state, state, state / "other", shared_state=state / "others")
    again = run_trials("sweep", trials, other)
    for text, same in zip(undisturbed, again, strict=True):
        assert '"ended_by"' not in text
        assert TrialRecord.from_json(text).best.score == same.best.score


def test_a_time_limit_ends_a_sweep(
    trials: list[Trial], execution: Execution, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("tune.running_sweep.time.monotonic", lambda: now[0])
    sweep = RunningSweep("sweep", trials, replace(execution, time_limit=60), keep_weights=False)
    with contextlib.suppress(KeyboardInterrupt), sweep.opened():
        for now[0], ends in ((100.0, False), (159.9, False), (160.0, False), (162.0, True)):
            assert sweep.is_ending() is ends  # it looks every two seconds
        assert Stops(execution.checkpoints, sweep.group).reason(trials[0].key) == TIME_LIMIT
        raise KeyboardInterrupt
    again = RunningSweep("sweep", trials, execution, keep_weights=False)
    with contextlib.suppress(KeyboardInterrupt), again.opened():
        assert not again.is_ending()
        raise KeyboardInterrupt


@pytest.mark.parametrize("by", [USER, TIME_LIMIT])
def test_a_sweep_that_ends_before_each_model_has_an_epoch(
    by: str, execution: Execution, state: Path
) -> None:
    """The time limit is an error, which the same command repairs; the user knows the state."""
    trials = keyed([sample_trial(model, seed=seed) for model in MODELS for seed in (1, 2)])

    def ended(*records: TrialRecord) -> list[TrialRecord]:
        sweep = RunningSweep("sweep", trials, execution, keep_weights=False)
        with sweep.opened() as unfinished:
            assert [trial.key for trial in unfinished] == [trial.key for trial in trials]
            Stops(execution.checkpoints, sweep.group).request(sweep.group, by)
            assert sweep.is_ending()
            assert all(map(sweep.record, records))
            return sweep.records()

    def refused(*records: TrialRecord) -> str:
        with pytest.raises(SweepError) as raised:
            ended(*records)
        assert parents(state)[0].info.status == "FAILED"
        return str(raised.value)

    def sentence(*models: str) -> str:
        why = f"sweep: {by} ended it before a trial of {', '.join(models)} had an epoch"
        longer = ", or set a longer sweep.time_limit" if by == TIME_LIMIT else ""
        return f"{why}; nothing was written; run the same command again to go on{longer}"

    one, _, other, _ = (with_end(replace(record(t.key), provenance=t.origin), by) for t in trials)
    other = replace(other, config=trials[2].config.as_dict())
    assert refused() == sentence(*MODELS)
    if by == TIME_LIMIT:
        assert refused(one) == sentence(MODELS[1]) and refused(other) == sentence(MODELS[0])
    else:
        assert ended(one) == [one]
        tag = parents(state)[0].data.tags["stopped"]
        assert tag == ended_text(USER, [one], 4, MODELS)
        assert tag.endswith(f"; the next stages leave out {MODELS[1]}, without a result")
    assert ended(one, other) == [one, other]  # the same command
    assert "leave out" not in parents(state)[0].data.tags["stopped"]


def test_a_stage_that_needs_whole_trials_is_not_ended(
    trials: list[Trial], execution: Execution
) -> None:
    sweep = RunningSweep("retrain", trials, execution, keep_weights=True)
    Stops(execution.checkpoints, sweep.group).request(sweep.group, USER)
    with contextlib.suppress(SweepError), sweep.opened():
        assert sweep.stops is None and not sweep.is_ending()
