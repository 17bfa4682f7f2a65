"""Training of fusions in a worker, without Ray: its reports are caught."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import ray.tune
import torch

from actmodels.records import TrialRecord
from actmodels.training import Training
from actmodels.trial_config import BaseTrialConfig, TrialConfig
from tests.samples import sample_data, sample_trial
from tune.cluster.trainable import train_fusion
from tune.cluster.worker_process import configure_torch
from tune.trials.early_stopping import RungScores, SuccessiveHalving
from tune.trials.grid import Trial
from tune.trials.stops import USER, Stops, end_text, ended_by
from tune.trials.storage import storage
from tune.trials.store import load_checkpoint, save_checkpoint

ADAPTIVE = "adaptive_attention"
DATA = sample_data()


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    caught: list[dict[str, Any]] = []
    monkeypatch.setattr(ray.tune, "report", caught.append)
    return caught


def fusion(**epochs: int) -> dict[str, TrialConfig]:
    """Trials by key, with their number of epochs."""
    return {
        key: sample_trial(ADAPTIVE, dropout=number / 10, max_epochs=count)
        for number, (key, count) in enumerate(epochs.items())
    }


def train(
    configs: Mapping[str, BaseTrialConfig], folder: Path, data: Any = DATA, **more: Any
) -> None:
    place = storage(folder / "c")
    place.make()
    trials = [Trial(key, config, {"data": "d"}) for key, config in configs.items()]
    train_fusion(trials, data=data, checkpoints=place, device="cpu", threads=1, **more)


def saved_after(config: TrialConfig, epochs: int, folder: Path, key: str) -> None:
    """Save a trial as a worker that trained it alone does."""
    training, place = Training(config, DATA), storage(folder)
    place.make()
    for _ in range(epochs):
        training.run_epoch()
    save_checkpoint(place, key, training.state_dict())


def test_trials_end_after_the_epoch_in_which_their_end_is_requested(
    tmp_path: Path, reports: list[dict[str, Any]]
) -> None:
    """The next worker leaves them as they are, until the request is withdrawn."""
    stops = Stops(storage(tmp_path / "c"), "sweep")
    configs, keys = fusion(a=4, b=4), "ab"

    def request(epoch: int) -> None:
        if epoch == 2:
            stops.request("b", USER)
        if epoch == 3:
            stops.request("sweep", "the time limit")

    train(configs, tmp_path, stops=stops, show=request)
    records = last_records(reports)
    assert [len(records[key].history) for key in keys] == [3, 2]
    assert [ended_by(records[key]) for key in keys] == ["the time limit", USER]
    assert [records[key].stopped for key in keys] == [True, True]
    assert [report["finished"] for report in reports] == [set(), {"b"}, {"a"}]
    assert end_text(records["b"]) == "stopped by the user after epoch 2"
    reports.clear()
    train(configs, tmp_path, stops=stops)
    assert [lengths(report) for report in reports] == [{"a": 3, "b": 2}]
    train(fusion(c=1), tmp_path, stops=stops)  # it does not start in a sweep that ends
    assert (len(reports), reports[1]["trials"], reports[1]["finished"]) == (2, {}, set())
    stops.withdraw("sweep")
    stops.withdraw("b")
    train(configs, tmp_path, stops=stops)
    assert [ended_by(record) for record in last_records(reports).values()] == ["", ""]
    assert set(map(len, (record.history for record in last_records(reports).values()))) == {4}


def lengths(report: dict[str, Any]) -> dict[str, int]:
    return {key: len(record.history) for key, record in report["trials"].items()}


def last_records(reports: list[dict[str, Any]]) -> dict[str, TrialRecord]:
    return {key: record for report in reports for key, record in report["trials"].items()}


def test_one_report_per_epoch_on_all_trained_and_saved_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = []

    def report(content: dict[str, Any]) -> None:
        for key, trial in content["trials"].items():
            state = load_checkpoint(storage(tmp_path / "c"), key)
            assert state["history"] == [vars(epoch) for epoch in trial.history]
        reports.append({key: key in content["finished"] for key in content["trials"]})

    monkeypatch.setattr(ray.tune, "report", report)
    train(fusion(a=3, b=1, c=2), tmp_path)
    assert reports == [{"a": False, "b": True, "c": False}, {"a": False, "c": True}, {"a": True}]
    names = [f"{key}-{ADAPTIVE}" for key in "abc"]
    assert capsys.readouterr().out.split() == names  # in the worker's log


def test_trials_of_different_epochs_are_resumed_in_one_fusion(
    tmp_path: Path, reports: list[dict[str, Any]]
) -> None:
    """Finished, half trained and new: the results are those of single trials."""
    configs = fusion(ended=3, half=3, new=3)
    for key, epochs in (("ended", 3), ("half", 2)):
        saved_after(configs[key], epochs, tmp_path / "c", key)
    train(configs, tmp_path)
    assert lengths(reports[0]) == {"ended": 3, "half": 2}
    assert [lengths(r) for r in reports[1:]] == [{"half": 3, "new": 1}, {"new": 2}, {"new": 3}]
    last = last_records(reports)
    for key, config in configs.items():
        alone = Training(config, DATA)
        losses = [record.dev_loss for record in alone.epochs()]
        assert [epoch.dev_loss for epoch in last[key].history] == pytest.approx(losses, rel=1e-5)
        assert last[key].parameters == alone.parameters


def test_a_corrupt_checkpoint_is_quarantined_and_its_trial_starts_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[dict[str, Any]] = []
    monkeypatch.setattr(ray.tune, "report", reports.append)
    configs = fusion(sound=3, broken=3)
    paths = {key: tmp_path / "c" / f"{key}.pt" for key in configs}
    for key in configs:
        saved_after(configs[key], 2, tmp_path / "c", key)
    stored = paths["broken"].read_bytes()
    paths["broken"].write_bytes(stored[:2000] + b"?" + stored[2001:])
    train(configs, tmp_path)
    first, *others = reports
    assert first["notes"] == [
        f"{paths['broken']} is corrupt: its content does not have the digest at its end; "
        "quarantined as broken.pt.corrupt, the trial starts over"
    ]
    assert not any(report["notes"] for report in others)
    assert [lengths(report) for report in reports] == [
        {"sound": 2},
        {"sound": 3, "broken": 1},
        {"broken": 2},
        {"broken": 3},
    ]
    quarantined = paths["broken"].with_name("broken.pt.corrupt")
    assert quarantined.read_bytes()[2000:2001] == b"?"


def test_stopped_trials_leave_the_fusion(tmp_path: Path, reports: list[dict[str, Any]]) -> None:
    """One of three trials is promoted after the first epoch and continues alone."""
    configs = fusion(a=4, b=4, c=4)
    scores = RungScores(storage(tmp_path), SuccessiveHalving(1, 3), {ADAPTIVE: [*configs]}, 4)
    train(configs, tmp_path, rung_scores=scores)
    first = {key: news.history[0].dev_accuracy for key, news in reports[0]["trials"].items()}
    best = [key for key, accuracy in first.items() if accuracy == max(first.values())]
    assert len(best) < 3, "the sample does not distinguish the trials"
    assert reports[0]["trials"].keys() - reports[0]["finished"] == set(best)
    assert all(report["trials"].keys() <= set(best) for report in reports[1:])
    last = last_records(reports)
    assert not any(record.diverged for record in last.values())
    lasts = {key: len(record.history) for key, record in last.items()}
    assert set().union(*(report["finished"] for report in reports)) == set(configs)
    assert max(lasts.values()) == 4

    # A restarted worker stops them again.
    before = len(reports)
    train(configs, tmp_path, rung_scores=scores)
    assert lengths(reports[before]) == lasts
    assert len(reports) == before + 1


@pytest.mark.parametrize("stacked", [True, False])
@pytest.mark.parametrize("lost", [False, True])
def test_the_seeds_of_a_configuration_end_at_one_rung(
    stacked: bool, lost: bool, tmp_path: Path, reports: list[dict[str, Any]]
) -> None:
    """Of two configurations the better mean goes on, .5 and .33 against .375 twice.

    lost: a seed has no checkpoint, while the other was at its last epoch but one.
    """
    configs = {
        f"{name}{seed}": sample_trial(ADAPTIVE, learning_rate=rate, max_epochs=5, seed=seed)
        for name, rate in (("even", 0.01), ("wide", 1e-8))
        for seed in (1, 2)
    }
    if lost:
        saved_after(configs["even1"], 4, tmp_path / "c", "even1")
    seeds = {ADAPTIVE: [["even1", "even2"], ["wide1", "wide2"]]}
    scores = RungScores(storage(tmp_path), SuccessiveHalving(1, 3), seeds, 5)
    train(configs, tmp_path, rung_scores=scores, stacked=stacked)
    last = last_records(reports)
    first = {key: round(last[key].history[0].dev_accuracy, 3) for key in configs}
    assert first == {"even1": 0.375, "even2": 0.375, "wide1": 0.5, "wide2": 0.333}
    assert {key: len(record.history) for key, record in last.items()} == {
        "even1": 1,
        "even2": 1,
        "wide1": 5,
        "wide2": 5,
    }
    ends = [report["finished"] for report in reports]
    assert [end for end in ends if end] == [{"even1", "even2"}, {"wide1", "wide2"}]  # together
    for key, config in configs.items():
        expected = [e.dev_loss for e in Training(config, DATA).epochs()][: len(last[key].history)]
        assert [e.dev_loss for e in last[key].history] == pytest.approx(expected, rel=1e-5)


def test_the_highest_precision_includes_recurrent_layers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)  # torch's default
    configure_torch(torch.get_num_threads(), "highest", "cpu")
    assert not torch.backends.cudnn.allow_tf32
