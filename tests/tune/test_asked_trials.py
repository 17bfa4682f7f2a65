"""A sequential search asks for exactly its number of points, also after crashes."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.samples import MODELS, keyed, sample_trial
from tune.asked_trials import AskedTrials
from tune.grid import Trial
from tune.search import OptunaSearch
from tune.storage import storage

DA, AA = MODELS
CONFIGS = [sample_trial(AA, dropout=d, width=w) for d in (0.0, 0.1, 0.2) for w in (8, 16, 32)]
CONFIGS += [sample_trial(DA, width=width) for width in (8, 16)]


@dataclass
class Store:
    """A fake of the store of finished trials: accuracy by key."""

    folder: Path
    finished: dict[str, float]

    def load(self, trial: Trial) -> Any:
        accuracy = self.finished.get(trial.key)
        best = SimpleNamespace(dev_accuracy=accuracy)
        return None if accuracy is None else SimpleNamespace(best=best, diverged=False)

    def opened(self, points: int | None) -> AskedTrials:
        search = OptunaSearch(points, 1) if points else None
        return AskedTrials(keyed(CONFIGS, search=search), storage(self.folder), self.load)  # type: ignore[arg-type]

    def train(self, trial: Trial) -> None:
        flat = trial.config.flat()
        self.finished[trial.key] = flat["width"] / 40 - flat["dropout"]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path, {})


def run(store: Store, points: int, most: int = 100) -> AskedTrials:
    """Train one trial at a time, at most a number of them; the last may be left unfinished."""
    asked = store.opened(points)
    waiting = asked.unfinished()
    while waiting and most:
        store.train(waiting.pop(0))
        asked.is_finished(asked.keys[-1])
        if not waiting and (trial := asked.ask()):
            waiting.append(trial)
        most -= 1
    return asked


def test_a_grid_is_asked_for_as_a_whole(store: Store) -> None:
    asked = store.opened(None)
    assert (asked.total, asked.remaining, asked.unasked) == (11, 0, [])
    assert [trial.config for trial in asked.unfinished()] == CONFIGS
    assert list(store.folder.iterdir()) == []


def test_the_same_search_continues_and_more_points_keep_the_earlier_ones(store: Store) -> None:
    whole = run(store, 5)
    models = [trial.config.model for trial in whole.trials]
    assert models == [AA] * 5 + [DA] * 2  # a smaller grid as a whole
    assert len(set(whole.keys)) == 7 and whole.unfinished() == []
    killed = Store(store.folder / "killed", {})
    killed.folder.mkdir()
    run(killed, 5, most=3)
    asked = killed.opened(5)
    assert asked.keys == whole.keys[:4] and asked.remaining == 3
    assert [trial.key for trial in asked.unfinished()] == whole.keys[3:4]
    assert run(killed, 5).keys == whole.keys and run(killed, 6).keys[:7] == whole.keys
    assert set(run(killed, 2).keys) == set(whole.keys[:4])


def test_finished_trials_of_another_sweep_are_reused(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = run(store, 5).keys
    (ledger,) = (store.folder / "search").iterdir()
    ledger.write_text("corrupt")
    asked = store.opened(5)
    assert asked.keys == []
    assert asked.unfinished() == [] and asked.keys == keys
    assert "the search starts over" in capsys.readouterr().err
