"""Sections of studies: each invalid value gives one sentence, with the key of its place.

The sentences are in tests/fixtures/golden/studies.txt.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipeline.parameters.section import SPLITS
from studies.sequences.config import HALTING_MECHANISMS, TASKS, sequence_setting_types
from studies.sequences.section import SETTINGS
from tests.pipeline.project import params_tree
from tests.pipeline.test_params import changed, load, problems

ROUNDS: dict[str, Any] = {"max_epochs": 2, "patience": 0}
READING = ROUNDS | {
    "query_gating": [2],
    "adaptive_computation": [2, 3],
    "settings": {
        **{"memory_size": 8, "parameter_range": 0.1, "embedding_range": 0.1, "dropout": 0.2},
        **{"learning_rate": 0.001, "clip_norm": 15.0, "batch_size": 4, "pool_size": 8},
        **{"keep_last": True, "evaluation_batch_size": 16},
    },
}
PARITY = ROUNDS | {
    "mechanisms": {"act": {"ponder_weight": [0.01]}},
    "settings": {
        **{"bits": 4, "cell": "rnn", "state_size": 8, "init": "xavier", "epsilon": 0.01},
        **{"max_steps": 5, "halting_bias": 1.0, "learning_rate": 0.01, "clip_norm": 1.0},
        **{"batch_size": 16, "updates_per_epoch": 5, "dev_sequences": 40, "dev_seed": 1},
    },
}
FILE = {"urls": ["https://host/a.zip"], "sha256": "0" * 64, "bytes": None}


def having(study: dict[str, Any], mechanisms: Any = None, **settings: Any) -> dict[str, Any]:
    """Return a study with changed settings; None removes one."""
    values = {k: v for k, v in (study["settings"] | settings).items() if v is not None}
    return study | {"settings": values} | ({"mechanisms": mechanisms} if mechanisms else {})


PONDER_NET = {"ponder_net": {"ponder_weight": [0.1], "prior_steps": [3]}}
LOGIC = having(PARITY, PONDER_NET, bits=None, vectors=2, gates=2)
CHARACTERS = having(PARITY, bits=None, window=5, held_out_bytes=9)
CASES: list[tuple[str, str, Any]] = [  # study, key, value
    ("fidelity", "fidelity.models.lstm_encoders", {"a": {}}),
    ("fidelity", "fidelity.models.adaptive_attention", {"a": {"steps": 2}}),
    ("halting", "halting.mechanisms", {}),
    ("halting", "halting.mechanisms", {"atc": {}}),
    ("halting", "halting.mechanisms", {"dact": {"steps": [2]}}),
    ("halting", "halting.settings", {}),
    ("halting", "halting.settings.max_steps", 20),
    ("halting", "halting.model", "decomposable_attention"),
    ("halting", "halting.model", "cloze"),
    ("halting", "sweep.only", ["decomposable_attention"]),
    ("multihop", "multihop.models", {"hop_attention_fixed_steps": {}, "adaptive_attention": {}}),
    ("multihop", "multihop.models", {"spinn_pi": {"layer_size": [8], "tracking_size": [8]}}),
    ("multihop", "multihop.models", {"hop_attention": {"max_hops": [2]}}),
    ("multihop", "multihop.models", {"hop_attention": {"null_token": [False, True]}}),
    ("multihop", "multihop.settings", {}),
    ("multihop", "multihop.settings.init", "normal"),
    ("multihop", "multihop.settings.things", 18),
    ("multihop", "multihop.corpus.chains", 7),
    ("multihop", "multihop.evaluation.exits.patience", [1]),
    ("sequences", "sequences.text", FILE | {"name": "../a", "members": ["a"]}),
    ("sequences", "sequences.tasks", {"characters": CHARACTERS}),
    ("sequences", "sequences.tasks", {"logic": LOGIC}),
    ("sequences", "sequences.tasks.parity", having(PARITY, {"atc": {}})),
    ("sequences", "sequences.tasks.parity", having(PARITY, {"dact": {"steps": [2]}})),
    ("sequences", "sequences.tasks.parity", having(PARITY, init="normal")),
    ("cloze", "cloze.question_types", {"NE": having(READING, memory_size=7)}),
    ("cloze", "cloze.question_types", {"NE": having(READING, widht=7, dropout=None)}),
    ("cloze", "cloze.question_types", {"NE": having(READING, pool_size=3)}),
    ("cloze", "cloze.question_types", {"WDW": READING}),
    ("cloze", "cloze.data.text.section_pattern", "("),
    ("cloze", "cloze.data.text.source", None),
    ("cloze", "cloze.data.text.dev_share", 0.9),
    ("cloze", "cloze.data.source", "whodidwhat"),
]


def test_invalid_values(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    lines = []
    for study, key, value in CASES:
        found = problems(changed(params_tree(study), key, value), tmp_path)
        assert found and all("\n" not in one for one in found)
        lines += [key, *(f"  {one}" for one in found)]
    golden("studies.txt", "\n".join([*lines, ""]))


def test_readers_of_who_did_what(tmp_path: Path) -> None:
    tree = changed(params_tree("cloze"), "cloze.question_types", {"WDW": READING})
    files = dict.fromkeys(SPLITS, FILE) | {"names_seed": 1}
    tree["cloze"]["data"] |= {"source": "whodidwhat", "whodidwhat": files}
    params: Any = load(tree, tmp_path)
    assert params.cloze.question_types["WDW"].query_gating == [2]


def test_a_name_of_a_setting_has_one_type_in_all_tasks() -> None:
    """The section is validated by the types of all trials together."""
    for task in TASKS:
        for kind in HALTING_MECHANISMS:
            assert sequence_setting_types(task, kind).items() <= SETTINGS.items()
