"""A worker starts trials of any kind, on what its kind needs of the data's folder."""

from pathlib import Path

import pytest

from tests.actmodels.sequences.samples import sample_trial as sequence_trial
from tests.samples import sample_trial
from tune.grid import with_keys
from tune.packing import by_shape
from tune.trainable import Trials, checkpoint_path, started, train_pack


def nobody(*_: object) -> Trials:
    raise AssertionError("no pairs were asked for")


def test_sequences_need_no_data(tmp_path: Path) -> None:
    trials = started([sequence_trial()], tmp_path / "nothing", "cpu", nobody)
    (member,) = trials.run_epoch()
    assert [record.epoch for record in member.history] == [1]
    assert member.parameters > 0


def test_it_goes_on_from_its_last_saved_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = sequence_trial(max_epochs=3)
    reports: list[list[int]] = []

    def noted(members: dict[str, object]) -> None:
        reports.append([len(member.history) for member in members.values()])  # type: ignore[attr-defined]
        if len(reports) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("tune.trainable.report", noted)
    where = {"data_folder": tmp_path, "checkpoints": tmp_path, "device": "cpu", "threads": 1}
    pack = {"pack": {"k": config.as_dict()}}
    with pytest.raises(KeyboardInterrupt):
        train_pack(pack, **where)
    assert checkpoint_path(tmp_path, "k").is_file()
    train_pack(pack, **where)
    assert reports == [[1], [2], [2], [3]]


def test_each_sequence_trial_is_a_shape_of_its_own() -> None:
    configs = [sequence_trial(seed=1), sequence_trial(seed=2), sample_trial("adaptive_attention")]
    trials = with_keys(configs, data_digest="d", device="cpu", threads=1)
    groups = by_shape(trials)
    assert sorted(map(len, groups.values())) == [1, 1, 1]
    assert trials[0].key in groups and trials[1].key in groups
    assert trials[0].name.startswith(f"{configs[0].model}-")
