"""Study `sequences`: its runs, their keys, and metrics of trained networks."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

from actmodels.configs import ActConfig, DactConfig, FixedStepsConfig
from actmodels.errors import DataError
from actmodels.records import TrialRecord
from pipeline.parameters.section import TextSource
from pipeline.trials.study import train
from studies.sequences.config import CharactersConfig, ParityConfig
from studies.sequences.drawn_tasks import read_bytes
from studies.sequences.pondering import BYTE_CLASSES
from studies.sequences.section import Study, TaskStudy
from studies.sequences.stage import (
    NO_DATA,
    SequenceRun,
    metric_rows,
    plan,
    run_name,
    task_of,
    write_text,
)
from studies.sequences.tables import COLUMNS
from studies.sequences.training import SequenceTraining
from tests.pipeline.project import fetched
from tests.studies.test_sections import PARITY
from tune.trials.execution import Execution
from tune.trials.grid import Trial

CONTENT = b"The fox is [[quick]]. The dog, 12 years old, is lazy.\n" * 8
SOURCE = TextSource(name="small", urls=["https://host/a"], sha256=None, bytes=None, members=[])
KIND = {"none": {}, "act": {"ponder_weight": [0.01]}}
SETTINGS: dict[str, Any] = {
    **{"window": 6, "held_out_bytes": 120, "cell": "lstm", "state_size": 8, "init": "xavier"},
    **{"init_std": 0.1, "epsilon": 0.01, "max_steps": 4, "halting_bias": 0.0},
    **{"learning_rate": 0.01, "clip_norm": 1.0, "batch_size": 8, "updates_per_epoch": 3},
    **{"dev_sequences": 10, "dev_seed": 1},
}
TASKS = {
    "parity": TaskStudy(**PARITY | {"max_epochs": 2, "mechanisms": KIND}),
    "characters": TaskStudy(max_epochs=2, patience=0, mechanisms=KIND, settings=SETTINGS),
}


def study(**changes: Any) -> Study:
    settings = {"seeds": [3, 4], "drawn": 20, "drawn_seed": 7, "text": SOURCE}
    return Study(**settings | {"read_bytes": 30, "tasks": TASKS} | changes)


RUNS = plan(study())  # of each task two without ACT, then two with it


def test_a_run_for_each_mechanism_grid_point_and_seed() -> None:
    names = [*["without ACT"] * 2, *["ACT, ponder weight 0.01"] * 2] * 2
    assert [run.labels["run"] for run in RUNS] == names
    assert [run.config.seed for run in RUNS] == [3, 4] * 4
    assert [run.config.halting for run in RUNS[1:3]] == [None, ActConfig(0.01, 0.01, 5, 1.0)]
    assert (RUNS[0].config.model, RUNS[0].config.task) == ("parity_rnn_none", ParityConfig(bits=4))
    assert RUNS[4].config.task == CharactersConfig(window=6, held_out_bytes=120)
    # each mechanism takes the common settings that it has: fixed steps have no epsilon
    kinds = {
        "dact": {"ponder_weight": [0.1], "epsilon": [0.2], "lookahead": [0]},
        "fixed_steps": {"steps": [2, 3]},
    }
    parity = TaskStudy(**PARITY | {"mechanisms": kinds})
    runs = plan(study(seeds=[1], tasks={"parity": parity}))
    fixed = [FixedStepsConfig(steps) for steps in (2, 3)]
    assert [run.config.halting for run in runs] == [DactConfig(0.2, 0.1, 5, 1.0), *fixed]
    assert run_name("target_steps", {"target_steps": 2.5}) == "target steps 2.5"
    ponder_net = run_name("ponder_net", {"ponder_weight": 1e-5, "prior_steps": 3.0})
    assert ponder_net == "PonderNet, ponder weight 1e-05, prior steps 3"
    assert run_name("act", {}) == "ACT"


def stored(folder: Path, content: bytes = CONTENT) -> tuple[Tensor, str]:
    """Fetch a text as the study does; return it and its digest."""
    (folder / "small").write_bytes(content)
    source = TextSource(name="small", members=[], **fetched(folder / "small"))
    path, digest = write_text(source)
    assert path.read_bytes() == content and digest == sha256(content).hexdigest()
    return read_bytes(path), digest


def tables(run: SequenceRun, text: Tensor | None = None) -> dict[str, list[dict[str, Any]]]:
    training = SequenceTraining(run.config, text)
    training.run_epoch()
    result = metric_rows(run, training.best_parameters, study(), text)
    for name, rows in result.items():
        assert set(COLUMNS[f"{name}.csv"].split()) <= set(rows[0])
    return result


def test_difficulties_add_up_and_repeat() -> None:
    result = tables(RUNS[2])
    assert list(result) == ["difficulty"] and tables(RUNS[2]) == result
    assert [row["difficulty"] for row in result["difficulty"]] == [1, 2, 3, 4]
    assert sum(row["instances"] for row in result["difficulty"]) == 20


def test_characters_by_type_and_along_a_passage(folder: Path) -> None:
    """All runs have the same windows; only the first network that halts reads the passage."""
    text, _ = stored(folder)
    without, act, other = (tables(RUNS[place], text) for place in (4, 6, 7))
    assert [*map(list, (without, act, other))] == [["bytes"], ["bytes", "reading"], ["bytes"]]
    rows = [[(row["kind"], row["bytes"]) for row in result["bytes"]] for result in (without, act)]
    assert rows[0] == rows[1] and sum(count for _, count in rows[0]) == 20 * 6
    named = [kind for kind, _ in rows[0]]
    assert named == [kind for kind in BYTE_CLASSES if kind in named]
    assert {row["steps"] for row in without["bytes"]} == {None}
    reading = act["reading"]
    assert bytes(row["byte"] for row in reading) == CONTENT[-120:][:30]
    assert [row["position"] for row in reading] == list(range(1, 31))
    for row in reading:
        assert 1 <= row["steps"] <= 4 and row["ponder"] > row["steps"]
        assert row["loss"] > 0 and row["entropy"] > 0


def test_keys_depend_on_the_text_unless_data_are_drawn(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[Trial]] = []

    def note(kind: str, trials: list[Trial], where: Execution, **_: object) -> list[TrialRecord]:
        seen.append(trials)
        return [TrialRecord(trial.key, {}, 0, (), {}) for trial in trials]

    monkeypatch.setattr("tune.sweep.run_trials", note)
    place, (_, own) = Execution(folder, folder, folder), stored(folder)
    for digest in (own, "another"):
        digests = [digest if run.config.task_name == "characters" else NO_DATA for run in RUNS]
        trained = train("sequences", RUNS, place, digests)
    assert [trial.config for trial in seen[0]] == [run.config for run in RUNS]
    assert [record.key for _, record in trained] == [trial.key for trial in seen[1]]
    assert [t.origin["data"] for t in seen[0]] == [*[NO_DATA] * 4, *[own] * 4]
    changed = [one.key != other.key for one, other in zip(*seen, strict=True)]
    assert changed == [False] * 4 + [True] * 4


@pytest.mark.parametrize(
    ("length", "read", "problem"),
    [
        (120, 30, "0 bytes are left to train on, but a window and the byte after it are 7; "),
        (400, 120, "120 bytes are held out, but read_bytes and the byte after them need 121; "),
    ],
)
def test_a_text_that_is_too_short(folder: Path, length: int, read: int, problem: str) -> None:
    text, _ = stored(folder, CONTENT[:length])
    with pytest.raises(DataError, match=f"^sequences.text: {problem}"):
        task_of(RUNS[4].config, study(read_bytes=read), text)
    if read == 120:
        assert task_of(RUNS[4].config, study(read_bytes=119), text)
