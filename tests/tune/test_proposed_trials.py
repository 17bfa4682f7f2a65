"""A sequential search asks for exactly its number of points, also after crashes."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from actmodels.ranges import Axes, Range
from actmodels.records import TrialRecord
from actmodels.trial_config import TrialConfig, trial_from_dict
from pipeline.trials.selection import mean_accuracy
from tests.end_to_end.project import ROOT, kill_session, wait_for
from tests.samples import MODELS, keyed, sample_data, sample_trial, save_sample_data
from tests.tune.tracking_samples import children, parents
from tune.sweep import run_trials
from tune.trials.early_stopping import SuccessiveHalving
from tune.trials.execution import Execution
from tune.trials.grid import Trial
from tune.trials.proposed_trials import ProposedTrials
from tune.trials.search import OptunaSearch
from tune.trials.storage import storage

DA, AA = MODELS
CONFIGS = [sample_trial(model, dropout=0.0, width=8) for model in (AA, DA)]
AXES: dict[str, Axes] = {
    AA: {"dropout": [0.0, 0.1, 0.2], "width": [8, 16, 32]},
    DA: {"width": Range(8, 9)},
}
LOST = -1.0  # the score of a trial that diverged
POINTS, EPOCHS = 5, 9  # of the sweeps on Ray


@dataclass
class Store:
    """A fake of the store of finished trials: accuracy by key."""

    folder: Path
    finished: dict[str, float]
    noise: dict[int, float] = field(default_factory=lambda: {1: 0.0})  # of the accuracy, by seed

    def load(self, trial: Trial) -> Any:
        accuracy = self.finished.get(trial.key)
        lost = accuracy == LOST
        return None if accuracy is None else SimpleNamespace(score=accuracy, diverged=lost)

    def opened(self, points: int | None) -> ProposedTrials:
        searches = {model: OptunaSearch(points, 1, axes) for model, axes in AXES.items()}
        configs = [replace(config, seed=seed) for config in CONFIGS for seed in self.noise]
        planned = keyed(configs, searches=searches if points else {})
        return ProposedTrials(planned, storage(self.folder), self.load)

    def train(self, trial: Trial) -> None:
        flat = trial.config.flat()
        noise = self.noise[trial.config.seed]
        self.finished[trial.key] = float(flat["width"]) / 40 - float(flat["dropout"]) + noise


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path, {})


def run(store: Store, points: int, most: int = 100) -> ProposedTrials:
    """Train one trial at a time, at most a number of them; the last may be left unfinished."""
    proposed = store.opened(points)
    waiting = proposed.unfinished()
    while waiting and most:
        store.train(waiting.pop(0))
        if not waiting:
            assert all(map(proposed.is_finished, proposed.keys))
            waiting += proposed.ask()
        most -= 1
    return proposed


def test_a_grid_is_proposed_as_a_whole(store: Store) -> None:
    proposed = store.opened(None)
    assert (proposed.total, proposed.remaining, proposed.templates) == (2, 0, [])
    assert [trial.config for trial in proposed.unfinished()] == CONFIGS
    assert list(store.folder.iterdir()) == []


def test_the_same_search_continues_and_more_points_keep_the_earlier_ones(store: Store) -> None:
    whole = run(store, 5)
    models = [trial.config.model for trial in whole.trials]
    assert models == [AA] * 5 + [DA] * 2  # a smaller grid as a whole
    points = [(t.config.flat()["dropout"], t.config.flat()["width"]) for t in whole.trials]
    assert points[:5] == sorted(points[:5])  # in the order of the grid
    assert len(set(whole.keys)) == 7 and whole.unfinished() == []
    killed = Store(store.folder / "killed", {})
    killed.folder.mkdir()
    run(killed, 5, most=3)
    proposed = killed.opened(5)
    assert proposed.keys == whole.keys[:4] and proposed.remaining == 3
    assert [trial.key for trial in proposed.unfinished()] == whole.keys[3:4]
    assert run(killed, 5).keys == whole.keys and run(killed, 6).keys[:7] == whole.keys
    assert set(run(killed, 2).keys) == set(whole.keys[:4])


def test_the_objective_is_the_mean_over_seeds(store: Store) -> None:
    """Seeds whose noise cancels leave the proposals as they are; every point has all seeds."""
    two = Store(store.folder / "two", {}, {1: 0.3, 2: -0.3})
    two.folder.mkdir()
    proposed, one = run(two, 5), run(store, 5)
    assert (proposed.total, proposed.remaining, len(two.finished)) == (14, 0, 14)
    points = [[t.configuration for t in p.trials if t.config.seed == 1] for p in (proposed, one)]
    assert points[0] == points[1] and proposed.keys[::2] == one.keys
    assert [trial.config.seed for trial in proposed.trials] == [1, 2] * 7
    del two.finished[proposed.keys[1]]
    (unfinished,) = two.opened(5).unfinished()  # of a point whose other seed has finished
    assert unfinished.key == proposed.keys[1]


def test_a_point_with_a_diverged_seed_has_the_score_of_that_seed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[float | None] = []
    propose = OptunaSearch.propose

    def noting(search: OptunaSearch, model: str, scores: Any) -> Any:
        seen.extend(score for _, score in scores)
        return propose(search, model, scores)

    monkeypatch.setattr(OptunaSearch, "propose", noting)
    store.noise = {1: 0.0, 2: 0.0}
    proposed = store.opened(5)
    first, second = proposed.unfinished()
    store.finished |= {first.key: 0.9, second.key: LOST}
    assert all(map(proposed.is_finished, (first.key, second.key)))
    proposed.ask(), proposed.ask()  # for the other model, then for this one
    assert LOST in seen


def test_finished_trials_of_another_sweep_are_reused(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = run(store, 5).keys
    (ledger,) = (store.folder / "search").iterdir()
    ledger.write_text("corrupt")
    proposed = store.opened(5)
    assert proposed.keys == []
    assert proposed.unfinished() == [] and proposed.keys == keys
    assert "the search starts over" in capsys.readouterr().err


@pytest.mark.parametrize(
    "content",
    [
        {"a": 1},
        ["key"],
        [[]],
        3,
        [["x", {}]],
        [[DA, {}]],
        [[DA, {"width": -1}]],
        [[DA, []]],
        "twice",
    ],
)
def test_a_ledger_with_other_content_is_quarantined(
    store: Store, content: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    run(store, 5)
    (ledger,) = (store.folder / "search").iterdir()
    content = [[DA, {"width": 8}]] * 2 if content == "twice" else content
    storage(store.folder).write_named(f"search/{ledger.name}", json.dumps(content).encode())
    assert store.opened(5).keys == []
    note = f"{ledger} is corrupt: its JSON has other content; quarantined as {ledger.name}.corrupt"
    assert note in capsys.readouterr().err


def search(
    state: Path, rule: SuccessiveHalving | None = None, seeds: Sequence[int] = (1,)
) -> list[TrialRecord]:
    save_sample_data(state, sample_data(train=640, dev=240))
    axes: Axes = {"dropout": [0.0, 0.1], "learning_rate": Range(0.0003, 0.01, "log")}
    searches = {model: OptunaSearch(POINTS, 1, axes) for model in MODELS}
    configs = [sample_trial(m, max_epochs=EPOCHS, seed=seed) for m in MODELS for seed in seeds]
    trials = keyed(configs, early_stopping=rule, searches=searches)
    execution = Execution(state, state, state / "ray", max_failures=2)
    return run_trials("sweep", trials, execution)


def config_of(record: TrialRecord) -> TrialConfig:
    return trial_from_dict(record.config)


def finished(state: Path) -> set[str]:
    return {path.stem for path in (state / "trials").glob("*.json")}


@pytest.mark.slow(minutes=2)
def test_a_killed_driver_continues_to_exactly_the_number_of_points(
    state: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = f"import sys, pathlib; sys.path.insert(0, {str(ROOT)!r})\n"
    script += (
        "from tests.tune.test_proposed_trials import search; search(pathlib.Path(sys.argv[1]))"
    )
    command = [sys.executable, "-c", script, str(state)]
    driver = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    wait_for(lambda: len(finished(state)) >= 3 or driver.poll() is not None, "three trials")
    driver.send_signal(signal.SIGKILL)
    kill_session(driver.pid)
    assert driver.wait() == -signal.SIGKILL
    before = finished(state)
    records = search(state)
    keys = {record.key for record in records}
    assert keys == finished(state) and before <= keys
    assert [record.config["model"] for record in records] == [
        model for model in MODELS for _ in range(POINTS)
    ]
    assert all(len(record.history) == EPOCHS for record in records)
    assert {run.info.status for run in children(state).values()} == {"FINISHED"}
    assert children(state).keys() == keys and len(parents(state)) == 1
    assert f"sweep: {10 - len(before)} of 10 trials to run" in capfd.readouterr().out
    assert search(state) == records  # without Ray


@pytest.mark.slow(minutes=1)
def test_early_stopping_compares_the_proposed_points(state: Path) -> None:
    """By the mean of two seeds, which end together."""
    records = search(state, SuccessiveHalving(grace_period=1, reduction_factor=2), seeds=(1, 2))
    for model in MODELS:
        own = [record for record in records if record.config["model"] == model]
        points = [*zip(own[::2], own[1::2], strict=True)]
        assert len(points) == POINTS
        assert all(replace(a, seed=2) == b for a, b in ([*map(config_of, p)] for p in points))
        lengths = [{len(record.history) for record in point} for point in points]
        assert all(len(each) == 1 for each in lengths)
        best = max(points, key=mean_accuracy)
        assert {len(record.history) for record in best} == {EPOCHS}
        assert min(min(each) for each in lengths) < EPOCHS  # compared, and stopped
    assert list((state / "ray" / "checkpoints").glob("rungs/*/*.json")) == []
