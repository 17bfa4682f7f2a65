"""The store of finished trials never hands out another configuration's result."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from actmodels.errors import ArtefactError
from actmodels.records import EpochRecord, TrialRecord
from tests.samples import MODELS, sample_trial
from tune.grid import Trial, with_keys
from tune.store import TrialStore


def trial(seed: int = 1) -> Trial:
    configs = [sample_trial(MODELS[0], seed=seed)]
    return with_keys(configs, data_digest="data", device="cpu", threads=1)[0]


def record(of: Trial, accuracy: float = 0.5) -> TrialRecord:
    epoch = EpochRecord(1, 1.0, 0.4, None, None, None, 1.1, accuracy, None, None, None, 2.0, 9.0)
    return TrialRecord(of.key, of.config.as_dict(), 10, (epoch,), of.origin)


def test_round_trip(tmp_path: Path) -> None:
    store, ours = TrialStore(tmp_path / "trials"), record(trial())
    assert store.load(ours.key, needs_weights=False) is None
    store.save(ours, None)
    assert store.load(ours.key, needs_weights=False) == ours
    assert store.load(trial(2).key, needs_weights=False) is None


def test_a_record_without_the_weights_that_are_needed_does_not_count(tmp_path: Path) -> None:
    store, ours = TrialStore(tmp_path), record(trial())
    store.save(ours, None)
    assert store.load(ours.key, needs_weights=True) is None
    store.save(ours, {"a": torch.ones(2)})
    assert store.load(ours.key, needs_weights=True) == ours


def test_a_result_under_another_name_is_refused(tmp_path: Path) -> None:
    store, ours, other = TrialStore(tmp_path), record(trial(1)), trial(2)
    store.save(ours, None)
    store.record_path(ours.key).rename(store.record_path(other.key))
    with pytest.raises(ArtefactError, match=r"holds the result of another configuration"):
        store.load(other.key, needs_weights=False)
    store.save(replace(ours, key=other.key), None)
    with pytest.raises(ArtefactError, match=r"another configuration \(" + ours.key):
        store.load(other.key, needs_weights=False)


def test_a_damaged_record_is_told(tmp_path: Path) -> None:
    store, ours = TrialStore(tmp_path), trial()
    store.record_path(ours.key).write_text('{"key": ')
    with pytest.raises(ArtefactError, match=r"is not the record of a trial .* delete it"):
        store.load(ours.key, needs_weights=False)


def test_result_lines_have_no_timings() -> None:
    slow = record(trial())
    fast = replace(slow, history=(replace(slow.history[0], seconds=0.1),))
    assert slow.to_json() != fast.to_json()
    assert slow.result_json() == fast.result_json()
    assert "seconds" not in slow.result_json()
    assert TrialRecord.from_json(slow.result_json()).best.dev_accuracy == 0.5
