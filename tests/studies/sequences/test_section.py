"""Section `sequences`: valid values, and messages for invalid ones."""

from pathlib import Path
from typing import Any

import pytest

from studies.sequences.config import HALTING_MECHANISMS, TASKS, sequence_setting_types
from studies.sequences.section import SETTINGS
from tests.pipeline.project import params_tree
from tests.pipeline.test_params import changed, problems

PARITY: dict[str, Any] = {
    "max_epochs": 1,
    "patience": 0,
    "mechanisms": {"act": {"ponder_weight": [0.01]}},
    "settings": {
        **{"bits": 4, "cell": "rnn", "state_size": 8, "init": "xavier"},
        **{"epsilon": 0.01, "max_steps": 5, "halting_bias": 1.0, "learning_rate": 0.01},
        **{"clip_norm": 1.0, "batch_size": 16, "updates_per_epoch": 5, "dev_sequences": 40},
        "dev_seed": 1,
    },
}
FILE = {"urls": ["https://host/a.zip"], "sha256": "0" * 64, "bytes": None}
SOURCE = FILE | {"name": "stories", "members": ["a"]}


def having(**settings: Any) -> dict[str, Any]:
    """Return parity with changed settings; None removes one."""
    values = PARITY["settings"] | settings
    return PARITY | {"settings": {key: value for key, value in values.items() if value is not None}}


def comparing(**mechanisms: Any) -> dict[str, Any]:
    """Return parity with these halting mechanisms."""
    return PARITY | {"mechanisms": mechanisms}


CHARACTERS = having(bits=None, window=5, held_out_bytes=9)
LOGIC = having(bits=None, vectors=2, gates=2) | {
    "mechanisms": {"ponder_net": {"ponder_weight": [0.1], "prior_steps": [3]}}
}
PARITYS = "sequences.tasks.parity"


@pytest.mark.parametrize(
    ("key", "value", "sentences"),
    [
        ("text", SOURCE | {"name": "../a"}, ["../a'; must be a name of letters, digits"]),
        ("tasks", {"characters": CHARACTERS}, ["text is null; task characters needs a text"]),
        ("tasks.parity", comparing(atc={}), [f"did you mean {PARITYS}.mechanisms.act?"]),
        (
            *("tasks.parity", comparing(dact={"steps": [2]})),
            [
                f"{PARITYS}.mechanisms.dact: steps is not a setting of parity",
                f"{PARITYS}.mechanisms.dact: ponder_weight of parity is missing",
            ],
        ),
        ("tasks.parity", having(init="normal"), ["act: init_std of parity is missing"]),
        (
            *("tasks", {"logic": LOGIC}),
            [
                "tasks.logic.mechanisms.ponder_net: halting ponder_net is for one input with one "
                "answer, as parity has; logic must have one of none, act, fixed_steps"
            ],
        ),
    ],
)
def test_an_invalid_value(tmp_path: Path, key: str, value: Any, sentences: list[str]) -> None:
    messages = problems(changed(params_tree("sequences"), f"sequences.{key}", value), tmp_path)
    assert len(messages) == len(sentences), messages
    for expected, problem in zip(sentences, messages, strict=True):
        assert expected in problem


def test_a_name_has_one_type_whatever_the_trial() -> None:
    """The section is validated by the types of all trials together."""
    for task in TASKS:
        for kind in HALTING_MECHANISMS:
            assert sequence_setting_types(task, kind).items() <= SETTINGS.items()
