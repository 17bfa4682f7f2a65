"""A worker starts trials of any kind, on what its kind needs of the data's folder."""

from pathlib import Path

import pytest

from tests.actmodels.sequences.samples import CHARACTERS, TEXT
from tests.actmodels.sequences.samples import sample_trial as sequence_trial
from tests.samples import sample_trial
from tune.grid import with_keys
from tune.packing import by_shape
from tune.trainable import checkpoint_path, started, train_pack


def test_sequences_need_no_data(tmp_path: Path) -> None:
    trials = started([sequence_trial()], tmp_path / "nothing", "cpu")
    (member,) = trials.run_epoch()
    assert [record.epoch for record in member.history] == [1]
    assert member.parameters > 0


def test_it_goes_on_from_its_last_saved_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = sequence_trial(max_epochs=3)
    reports: list[list[int]] = []

    def noted(members: dict[str, object], _: object = ()) -> None:
        reports.append([len(member.history) for member in members.values()])  # type: ignore[attr-defined]
        if len(reports) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("tune.trainable.report", noted)
    where = {"data_folder": tmp_path, "checkpoints": tmp_path, "device": "cpu", "threads": 1}
    pack = {"k": config}
    with pytest.raises(KeyboardInterrupt):
        train_pack(pack, **where)
    assert checkpoint_path(tmp_path, "k").is_file()
    train_pack(pack, **where)
    assert reports == [[1], [2], [2], [3]]


def test_characters_are_drawn_from_the_text_they_are_given(tmp_path: Path) -> None:
    """A trial says nothing of where its text lies; a worker with another text has other results."""
    config = sequence_trial(task=CHARACTERS, max_epochs=1)
    losses = []
    for name, content in (("a", TEXT), ("b", TEXT), ("c", TEXT.flip(0))):
        path = tmp_path / name
        path.write_bytes(bytes(content.tolist()))
        trials = started([config], tmp_path / "nothing", "cpu", path)
        losses.append(trials.run_epoch()[0].history[0].train_loss)
    assert losses[0] == losses[1] != losses[2]
    assert str(tmp_path) not in str(config.as_dict())


def test_characters_go_on_with_their_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "text"
    text.write_bytes(bytes(TEXT.tolist()))
    config = sequence_trial(task=CHARACTERS, max_epochs=2)
    reports: list[list[float]] = []

    def noted(members: dict[str, object], _: object = ()) -> None:
        (member,) = members.values()
        reports.append([record.train_loss for record in member.history])  # type: ignore[attr-defined]
        if len(reports) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr("tune.trainable.report", noted)
    where = {"data_folder": tmp_path, "device": "cpu", "threads": 1, "text": text}
    pack = {"k": config}
    with pytest.raises(KeyboardInterrupt):
        train_pack(pack, checkpoints=tmp_path / "one", **where)
    train_pack(pack, checkpoints=tmp_path / "one", **where)
    train_pack(pack, checkpoints=tmp_path / "two", **where)
    assert reports[-1] == reports[2] and len(reports[2]) == 2  # as one that was not interrupted


def test_each_sequence_trial_is_a_shape_of_its_own() -> None:
    configs = [sequence_trial(seed=1), sequence_trial(seed=2), sample_trial("adaptive_attention")]
    trials = with_keys(configs, data_digest="d", device="cpu", threads=1)
    groups = by_shape(trials)
    assert sorted(map(len, groups.values())) == [1, 1, 1]
    assert trials[0].key in groups and trials[1].key in groups
    assert trials[0].name.startswith(f"{configs[0].model}-")
