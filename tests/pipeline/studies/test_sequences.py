"""Characters in the stage of Graves' tasks: their keys, and what networks do with bytes."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import DataError
from actmodels.records import TrialRecord
from actmodels.sequences.pondering import KINDS
from actmodels.sequences.training import SequenceTraining
from actmodels.tables import COLUMNS
from pipeline.graves import NO_DATA, trained_runs
from pipeline.parameters.study_sections import Graves, SequenceStudy
from pipeline.sources.stored_text import stored_text
from pipeline.studies.sequences import (
    Reading,
    SequenceRun,
    look,
    planned,
)
from pipeline.trained.trials import keyed
from tests.pipeline.test_graves import STUDY as PARITY
from tune.execution import Execution
from tune.grid import Trial

CONTENT = b"The fox is [[quick]]. The dog, 12 years old, is lazy.\n" * 8
SETTINGS: dict[str, Any] = {
    **{"window": 6, "held_out_bytes": 120, "cell": "lstm", "state_size": 8, "init": "xavier"},
    **{"init_std": 0.1, "epsilon": 0.01, "max_steps": 4, "halting_bias": 0.0},
    **{"learning_rate": 0.01, "clip_norm": 1.0, "batch_size": 8, "updates_per_epoch": 3},
    **{"dev_sequences": 10, "dev_seed": 1},
}
STUDY = SequenceStudy(
    max_epochs=2,
    patience=0,
    kinds={"none": {}, "act": {"ponder_weight": [0.01]}},
    settings=SETTINGS,
)


def graves(**changes: Any) -> Graves:
    """The section, with one task."""
    given = {"seeds": [3, 4], "drawn": 20, "drawn_seed": 7, "text": "small", "read_from": 5}
    return Graves(**given | {"read_bytes": 30, "tasks": {"characters": STUDY}} | changes)


def read_of(folder: Path, content: bytes = CONTENT) -> Reading:
    """A text as stage `texts` writes it into a project's folder."""
    texts = folder / "artefacts" / "texts"
    texts.mkdir(parents=True)
    (texts / "small.txt").write_bytes(content)
    known = {"bytes": len(content), "sha256": sha256(content).hexdigest()}
    (texts / "summary.json").write_text(json.dumps({"texts": {"small": known}}), encoding="utf-8")
    return Reading(stored_text("small"), graves())


@pytest.fixture
def reading(folder: Path) -> Reading:
    return read_of(folder)


def weights(run: SequenceRun, reading: Reading) -> dict[str, Any]:
    training = SequenceTraining(run.config, reading.bytes)
    training.run_epoch()
    return training.best_parameters


RUNS = planned("characters", STUDY, [3, 4])  # two without ACT, then two with it


def test_a_passage_byte_by_byte(reading: Reading) -> None:
    held_out = CONTENT[-120:]
    assert reading.passage(RUNS[0].config) == held_out[5:36]
    rows = reading.along(RUNS[2].config, weights(RUNS[2], reading))
    assert bytes(row["byte"] for row in rows) == held_out[5:35]
    assert [row["position"] for row in rows] == list(range(1, 31))
    assert all(1 <= row["steps"] <= 4 and row["ponder"] > row["steps"] for row in rows)
    assert all(row["loss"] > 0 and row["entropy"] > 0 for row in rows)


def test_kinds_are_of_the_same_windows_for_all_runs(reading: Reading) -> None:
    without, act = (reading.by_kind(run.config, weights(run, reading)) for run in RUNS[1:3])
    assert [(row["kind"], row["bytes"]) for row in without] == [
        (row["kind"], row["bytes"]) for row in act
    ]
    assert sum(row["bytes"] for row in act) == 20 * 6
    assert [row["kind"] for row in act] == [k for k in KINDS if k in {r["kind"] for r in act}]
    assert {row["steps"] for row in without} == {None}
    assert all(row["steps"] >= 1 for row in act)


def test_what_is_told_of_which_runs(reading: Reading) -> None:
    runs = [*planned("parity", PARITY, [3])[:1], *RUNS]
    trained = []
    for run in runs:
        training = SequenceTraining(run.config, reading.bytes)
        training.run_epoch()
        trained.append((run, training.best_parameters))
    found = look(trained, graves(drawn=50), reading)
    assert {row["task"] for row in found["difficulty"]} == {"parity"}
    assert {(row["run"], row["seed"]) for row in found["bytes"]} == {
        *(("without ACT", 3), ("without ACT", 4)),
        *(("ACT, ponder weight 0.01", 3), ("ACT, ponder weight 0.01", 4)),
    }
    told = {(row["run"], row["seed"]) for row in found["reading"]}
    assert told == {("ACT, ponder weight 0.01", 3)}  # the first seed of what halts
    for name, lines in found.items():
        assert list(lines[0]) == COLUMNS[f"graves/{name}.csv"]


def execution(folder: Path) -> Execution:
    return Execution(folder, folder, folder, 1, 0, max_failures=0, dashboard=False)


def test_keys_are_of_the_text_and_of_nothing_where_data_are_drawn(
    reading: Reading, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And every worker gets the text's path, which no configuration names."""
    seen: list[tuple[list[Trial], Execution]] = []

    def note(kind: str, trials: list[Trial], where: Execution, **_: object) -> list[TrialRecord]:
        seen.append((trials, where))
        return [TrialRecord(trial.key, {}, 0, (), {}) for trial in trials]

    monkeypatch.setattr("tune.sweep.run_trials", note)
    runs = [*planned("parity", PARITY, [3]), *RUNS]
    trained = trained_runs(runs, execution(tmp_path), reading)
    ((trials, where),) = seen
    assert [trial.config for trial in trials] == [run.config for run in runs]
    assert [record.key for _, record in trained] == [trial.key for trial in trials]
    assert where.text == tmp_path / "artefacts" / "texts" / "small.txt"
    assert [trial.origin["data"] for trial in trials] == [
        *[NO_DATA] * 3,
        *[reading.text.sha256] * 4,
    ]
    # a task without text has the key that it has where no text is known
    alone = keyed(NO_DATA, [run.config for run in runs[:3]], execution(tmp_path))
    assert [trial.key for trial in alone] == [trial.key for trial in trials[:3]]
    reading.text = replace(reading.text, sha256="another")
    trained_runs(runs, execution(tmp_path), reading)
    changed = [a.key != b.key for a, b in zip(trials, seen[1][0], strict=True)]
    assert changed == [False] * 3 + [True] * 4


def test_a_text_too_short_is_said_before_anything_is_trained(folder: Path) -> None:
    with pytest.raises(DataError) as caught:
        trained_runs(RUNS, execution(folder), read_of(folder, CONTENT[:120]))
    assert str(caught.value) == (
        "graves.text, small: 0 bytes are left to train on, but a window and the byte after it are "
        "7; give a longer text or hold out less"
    )


def test_a_passage_that_is_too_long(reading: Reading) -> None:
    reading.study = graves(read_from=100, read_bytes=20)
    with pytest.raises(DataError) as caught:
        reading.task(RUNS[0].config)
    assert str(caught.value) == (
        "graves.text, small: 120 bytes are held out, but read_from, read_bytes and the byte after "
        "them need 121; hold out more or read less"
    )
    reading.study = graves(read_from=99, read_bytes=20)
    assert reading.passage(RUNS[0].config) == CONTENT[-21:]
