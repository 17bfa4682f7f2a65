"""The store of finished trials never returns the result of another configuration."""

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch

from actmodels.records import EpochRecord, TrialRecord
from tests.samples import MODELS, keyed, sample_trial
from tune.trials.grid import Trial
from tune.trials.storage import Storage, storage
from tune.trials.store import TrialStore


def trial(seed: int = 1) -> Trial:
    return keyed([sample_trial(MODELS[0], seed=seed)])[0]


def record(of: Trial, accuracy: float = 0.5) -> TrialRecord:
    epoch = EpochRecord(1, 1.0, 0.4, None, None, None, 1.1, accuracy, None, None, None, 2.0, 9.0)
    return TrialRecord(of.key, of.config.as_dict(), 10, (epoch,), of.origin)


def test_round_trip(tmp_path: Path) -> None:
    store, stored = TrialStore(storage(tmp_path / "trials")), record(trial())
    assert store.load(stored.key, needs_weights=False) is None
    store.save(stored, None)
    assert store.load(stored.key, needs_weights=False) == stored
    assert store.load(trial(2).key, needs_weights=False) is None
    assert store.load(stored.key, needs_weights=True) is None
    store.save(stored, {"a": torch.ones(2)})
    loaded = store.load(stored.key, needs_weights=True)
    assert loaded is not None and replace(loaded, weights=None) == stored


def test_no_record_lacks_its_weights_after_a_kill(tmp_path: Path) -> None:
    store, stored = TrialStore(storage(tmp_path)), record(trial())
    write = Storage.write

    def dies(place: Storage, name: str, content: Any) -> None:
        if name.endswith(".pt"):
            raise KeyboardInterrupt
        write(place, name, content)

    with patch.object(Storage, "write", dies), pytest.raises(KeyboardInterrupt):
        store.save(stored, {"a": torch.ones(2)})
    assert not store.holds(stored.key)


def test_a_result_under_another_name_is_quarantined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, stored, other = TrialStore(storage(tmp_path)), record(trial(1)), trial(2)
    store.save(stored, None)
    path = tmp_path / f"{other.key}.json"
    (tmp_path / f"{stored.key}.json").rename(path)
    assert store.load(other.key, needs_weights=False) is None
    why = f"{path} holds the result of another configuration ({stored.key}); quarantined as "
    assert capsys.readouterr().err == f"{why}{path.name}.corrupt, the trial is run again\n"
    store.save(replace(stored, key=other.key), None)
    assert store.load(other.key, needs_weights=False) is None
    assert capsys.readouterr().err == f"{why}{path.name}.corrupt1, the trial is run again\n"


@pytest.mark.parametrize("suffix", ["json", "pt"])
def test_a_corrupt_file_is_quarantined(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, stored = TrialStore(storage(tmp_path)), record(trial())
    path = tmp_path / f"{stored.key}.{suffix}"
    for number, content in enumerate((b"", b"?", None)):
        store.save(stored, {"a": torch.ones(2)})
        original = path.read_bytes()
        path.unlink()
        if content is None:
            (path / "lost").mkdir(parents=True)
        else:
            path.write_bytes(original[:50] + content + original[51:])
        assert store.load(stored.key, needs_weights=True) is None
        quarantined = f"{path.name}.corrupt{number or ''}"
        note = capsys.readouterr().err
        assert note.startswith(f"{path} is corrupt: ")
        assert note.endswith(f"; quarantined as {quarantined}, the trial is run again\n")
    assert (tmp_path / quarantined / "lost").is_dir()
    (path / "lost").mkdir(parents=True)  # again, replaced by a write
    store.save(stored, {"a": torch.ones(2)})
    assert store.load(stored.key, needs_weights=True) is not None
