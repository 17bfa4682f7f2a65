"""The stage of Graves' tasks: what it plans, and what it says of trained networks."""

from pathlib import Path

import pytest
import torch
from omegaconf import OmegaConf

from actmodels.records import TrialRecord
from actmodels.rows.columns import columns
from actmodels.rows.sequences import AtDifficulty, SequenceResult
from actmodels.sequences.training import SequenceTraining
from actmodels.settings import ActConfig
from pipeline import graves
from pipeline.parameters.study_sections import SequenceStudy
from pipeline.studies.sequences import (
    LOOKED_AT,
    SequenceRun,
    difficulty_rows,
    planned,
    sequence_result,
)
from tests.pipeline.project import ROOT, told, written
from tests.pipeline.test_study_params import PARITY

STUDY = SequenceStudy(
    **PARITY | {"max_epochs": 2, "without_act": True, "ponder_weights": [0.01, 1e-4]}
)


def test_every_ponder_weight_and_none_with_every_seed() -> None:
    runs = planned("parity", STUDY, [1, 2])
    assert [(run.labels["run"], run.config.seed) for run in runs] == [
        *(("without ACT", 1), ("without ACT", 2)),
        *(("ponder weight 0.01", 1), ("ponder weight 0.01", 2)),
        *(("ponder weight 0.0001", 1), ("ponder weight 0.0001", 2)),
    ]
    assert runs[0].config.halting is None
    assert runs[2].config.halting == ActConfig(0.01, 0.01, 5, 1.0)
    assert runs[0].config.model == "parity_rnn_none"
    assert {run.config.task.bits for run in runs} == {4}  # type: ignore[union-attr]


def trained(run: SequenceRun) -> tuple[SequenceTraining, TrialRecord]:
    training = SequenceTraining(run.config)
    history = tuple(training.epochs())
    return training, TrialRecord("k", run.config.as_dict(), training.parameters, history, {})


@pytest.mark.parametrize("place", [0, 2])
def test_rows_are_those_of_the_best_epoch_and_add_up(place: int) -> None:
    run = planned("parity", STUDY, [1])[0 if place == 0 else 1]
    training, record = trained(run)
    row = sequence_result(run, record)
    assert set(columns(SequenceResult)) <= set(row)
    best = max(epoch.dev_accuracy for epoch in record.history)
    assert row["dev_error"] == pytest.approx(1 - best)
    assert (row["ponder_weight"], row["halting"]) == ((None, "none"), (0.01, "act"))[place > 0]
    assert (row["dev_mean_steps"] is None) is (place == 0)
    rows = difficulty_rows(run, training.best_parameters, 300, seed=7)
    assert list(rows[0]) == columns(AtDifficulty)
    assert [found["difficulty"] for found in rows] == [1, 2, 3, 4]
    assert sum(found["instances"] for found in rows) == 300
    again = difficulty_rows(run, training.best_parameters, 300, seed=7)
    assert rows == again


def test_nothing_is_trained_where_nothing_is_asked_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = OmegaConf.load(ROOT / "params.yaml")
    params.graves.tasks = {}
    OmegaConf.save(params, folder / "params.yaml")
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    graves.main()
    tables = {"results": SequenceResult} | LOOKED_AT
    made = written(folder, "graves")
    for name, row in tables.items():
        assert made[f"{name}.csv"].decode() == ",".join(columns(row)) + "\n"
    assert told(folder, "graves") == {}
