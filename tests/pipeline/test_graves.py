"""The stage of Graves' tasks: what it plans, and what it says of trained networks."""

from pathlib import Path
from typing import Any

import pytest
import torch
from omegaconf import OmegaConf

from actmodels.records import TrialRecord
from actmodels.sequences.training import SequenceTraining
from actmodels.settings import ActConfig, DactConfig, FixedStepsConfig
from actmodels.tables import COLUMNS
from pipeline import graves
from pipeline.parameters.study_sections import SequenceStudy
from pipeline.studies.sequences import (
    SequenceRun,
    difficulty_rows,
    planned,
    run_name,
    sequence_result,
)
from tests.pipeline.project import ROOT, told, written
from tests.pipeline.test_study_params import PARITY

STUDY = SequenceStudy(
    **PARITY | {"max_epochs": 2, "kinds": {"none": {}, "act": {"ponder_weight": [0.01, 1e-4]}}}
)


def test_every_value_of_every_kind_with_every_seed() -> None:
    runs = planned("parity", STUDY, [1, 2])
    assert [(run.labels["run"], run.config.seed) for run in runs] == [
        *(("without ACT", 1), ("without ACT", 2)),
        *(("ACT, ponder weight 0.01", 1), ("ACT, ponder weight 0.01", 2)),
        *(("ACT, ponder weight 0.0001", 1), ("ACT, ponder weight 0.0001", 2)),
    ]
    assert runs[0].config.halting is None
    assert runs[2].config.halting == ActConfig(0.01, 0.01, 5, 1.0)
    assert runs[0].config.model == "parity_rnn_none"
    assert {run.config.task.bits for run in runs} == {4}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("kind", "changes", "name"),
    [
        ("fixed_steps", {"steps": 3}, "fixed steps 3"),
        ("target_steps", {"target_steps": 2.5}, "target steps 2.5"),
        ("dact", {"ponder_weight": 1e-5}, "DACT, ponder weight 1e-05"),
        (
            "ponder_net",
            {"ponder_weight": 0.01, "prior_steps": 3.0},
            "PonderNet, ponder weight 0.01, prior steps 3",
        ),
        ("act", {}, "ACT"),
    ],
)
def test_names_of_runs(kind: str, changes: dict[str, Any], name: str) -> None:
    assert run_name(kind, changes) == name


def test_each_kind_takes_the_settings_that_it_knows() -> None:
    """Of what all have in common: fixed steps know nothing of epsilon."""
    kinds = {"dact": {"ponder_weight": [0.1], "epsilon": [0.2]}, "fixed_steps": {"steps": [2, 3]}}
    runs = planned("parity", SequenceStudy(**PARITY | {"kinds": kinds}), [1])
    assert [run.config.halting for run in runs] == [
        DactConfig(0.2, 0.1, 5, 1.0),
        FixedStepsConfig(2),
        FixedStepsConfig(3),
    ]


def trained(run: SequenceRun) -> tuple[SequenceTraining, TrialRecord]:
    training = SequenceTraining(run.config)
    history = tuple(training.epochs())
    return training, TrialRecord("k", run.config.as_dict(), training.parameters, history, {})


@pytest.mark.parametrize("place", [0, 2])
def test_rows_are_those_of_the_best_epoch_and_add_up(place: int) -> None:
    run = planned("parity", STUDY, [1])[0 if place == 0 else 1]
    training, record = trained(run)
    row = sequence_result(run, record)
    assert set(COLUMNS["graves/results.csv"]) <= set(row)
    best = max(epoch.dev_accuracy for epoch in record.history)
    assert row["dev_error"] == pytest.approx(1 - best)
    assert (row["ponder_weight"], row["halting"]) == ((None, "none"), (0.01, "act"))[place > 0]
    assert (row["dev_mean_steps"] is None) is (place == 0)
    rows = difficulty_rows(run, training.best_parameters, 300, seed=7)
    assert list(rows[0]) == COLUMNS["graves/difficulty.csv"]
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
    made = written(folder, "graves")
    for name in ("results", "difficulty", "reading", "bytes"):
        assert made[f"{name}.csv"].decode() == ",".join(COLUMNS[f"graves/{name}.csv"]) + "\n"
    assert told(folder, "graves") == {}
