"""The studies' sections: valid values, and messages for invalid ones."""

from pathlib import Path
from typing import Any

import pytest

from pipeline.parameters.section import SPLITS
from tests.pipeline.test_params import AA_NAME, changed, load, problems, tree

__all__ = ["tree"]

READING: dict[str, Any] = {
    "max_epochs": 2,
    "patience": 0,
    "one_step": True,
    "query_gating": [2],
    "adaptive_computation": [2, 3],
    "settings": {
        **{"memory_size": 8, "compose_activation": "relu", "forget_bias": 0.0},
        **{"parameter_range": 0.1, "embedding_range": 0.1, "trained_embeddings": True},
        **{"dropout": 0.2, "learning_rate": 0.001, "clip_norm": 15.0, "batch_size": 4},
        **{"pool_size": 8, "keep_last": True, "evaluation_batch_size": 16},
    },
}
PARITY: dict[str, Any] = {
    "max_epochs": 1,
    "patience": 0,
    "mechanisms": {"act": {"ponder_weight": [0.01]}},
    "settings": {
        **{"bits": 4, "cell": "rnn", "state_size": 8, "init": "xavier", "init_std": 0.1},
        **{"epsilon": 0.01, "max_steps": 5, "halting_bias": 1.0, "learning_rate": 0.01},
        **{"clip_norm": 1.0, "batch_size": 16, "updates_per_epoch": 5, "dev_sequences": 40},
        "dev_seed": 1,
    },
}
FILE = {"urls": ["https://host/a.zip"], "sha256": "0" * 64, "bytes": None}
SOURCE = FILE | {"members": ["a"]}
HOPS, DEEP = "hop_attention", "must be at most 2, as a premise has at most 6 hops and max_hops is 4"


def having(study: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """Return a study with changed settings; None removes one."""
    values = study["settings"] | settings
    return study | {"settings": {key: value for key, value in values.items() if value is not None}}


def comparing(study: dict[str, Any] = PARITY, **mechanisms: Any) -> dict[str, Any]:
    """Return a study of these halting mechanisms."""
    return study | {"mechanisms": mechanisms}


CHARACTERS = having(PARITY, bits=None, window=5, held_out_bytes=9)
LOGIC = having(
    comparing(ponder_net={"ponder_weight": [0.1], "prior_steps": [3]}),
    **{"bits": None, "vectors": 2, "gates": 2},
)
PARITYS, MECHANISMS = "sequences.tasks.parity", "halting.mechanisms"


@pytest.mark.parametrize(
    ("key", "value", "sentences"),
    [
        ("texts.sources", {"../a": SOURCE}, ["../a is '../a'; must be a name of letters, digits"]),
        ("texts.sources", {"a": SOURCE | {"member": "x"}}, ["mean texts.sources.a.members?"]),
        ("sequences.text", "a", ["text is 'a'; must be one of texts.sources: which is empty"]),
        (
            *("sequences.tasks", {"characters": CHARACTERS}),
            ["sequences.text is null, but characters need a text; name one of texts.sources: whi"],
        ),
        (PARITYS, comparing(atc={}), [f"unknown; did you mean {PARITYS}.mechanisms.act?"]),
        (
            *(PARITYS, comparing(dact={"steps": [2]})),
            [
                f"{PARITYS}.mechanisms.dact: steps is not a setting of parity",
                f"{PARITYS}.mechanisms.dact: ponder_weight of parity is missing",
            ],
        ),
        (PARITYS, having(PARITY, damping=0.1), ["settings.damping is unknown; must be one of bit"]),
        (
            *("sequences.tasks", {"logic": LOGIC}),
            [
                "tasks.logic.mechanisms.ponder_net: halting ponder_net is for one input with one "
                "answer, as parity has; logic must have one of none, act, target_steps, fixed_steps"
            ],
        ),
        ("cloze_data.text.section_pattern", "(", ["is '('; must be a regular expression"]),
        ("cloze_data.source", "text", ["text.name is None; must be one of texts.sources: whic"]),
        ("cloze_data.source", "whodidwhat", [f"{s} is not set; source whodid" for s in SPLITS]),
        ("cloze.question_types", {"NE": READING}, ["is 'none'; cloze.question_types needs ques"]),
        ("fidelity.models.lstm_encoders", {"a": {}}, ["'lstm_encoders'; must be one of sweep.mod"]),
        (f"fidelity.models.{AA_NAME}", {"a": {"steps": 2}}, [f"{AA_NAME}.a.steps is unknown; did"]),
        ("sizes.models", ["cloze"], ["sizes.models[0] is 'cloze'; must be one of sweep.models"]),
        (MECHANISMS, {"atc": {}}, [f"{MECHANISMS}.atc is unknown; did you mean"]),
        (MECHANISMS, {"dact": {"steps": [2]}}, [f"{MECHANISMS}.dact.steps is unknown; did"]),
        (
            *("multihop.models", {"hop_attention_fixed_steps": {}, "adaptive_attention": {}}),
            [
                "models.adaptive_attention: state_size of adaptive_attention is missing",
                "models.hop_attention_fixed_steps: steps of hop_attention_fixed_steps is missing",
            ],
        ),
        (
            *("multihop.models", {"spinn_pi": {"layer_size": [8], "tracking_size": [8]}}),
            ["multihop.models.spinn_pi: spinn_pi reads parses; multi-hop pairs have none"],
        ),
        ("multihop.models", {HOPS: {"max_hops": [2]}}, ["max_hops belongs in multihop.settings: "]),
        ("multihop.models", {HOPS: {"null_token": [False, True]}}, ["null_token is true; must be"]),
        ("multihop.settings", {}, ["multihop.settings.max_hops is missing"]),
        ("multihop.corpus.beyond", 3, [f"multihop.corpus.beyond is 3; {DEEP}"]),
    ],
)
def test_an_invalid_value_is_named_with_the_expected_one(
    tree: Any, tmp_path: Path, key: str, value: Any, sentences: list[str]
) -> None:
    messages = problems(changed(tree, key, value), tmp_path)
    assert len(messages) == len(sentences), messages
    for expected, problem in zip(sentences, messages, strict=True):
        assert expected in problem


def with_cloze(tree: Any, study: dict[str, Any] = READING, kind: str = "NE", **text: Any) -> Any:
    """A study on questions of a text."""
    tree["texts"]["sources"] = {"stories": SOURCE}
    tree["cloze_data"]["source"] = "text"
    tree["cloze_data"]["text"] |= {"name": "stories"} | text
    tree["cloze"]["question_types"] = {kind: study}
    return tree


def test_studies_are_valid(tree: Any, tmp_path: Path) -> None:
    tree["sequences"] |= {"tasks": {"characters": CHARACTERS, "parity": PARITY}, "text": "stories"}
    params = load(with_cloze(tree), tmp_path)
    assert params.cloze.question_types["NE"].query_gating == [2]
    assert params.sequences.tasks["parity"].mechanisms == {"act": {"ponder_weight": [0.01]}}


NO_STEPS: dict[str, Any] = {"query_gating": [], "adaptive_computation": [], "one_step": False}


@pytest.mark.parametrize(
    ("study", "sentence"),
    [
        (NO_STEPS, " compares nothing; set one_step or numbers of steps"),
        (having(READING, memory_size=7), ".settings.memory_size is 7; must be a multiple of 2"),
        (having(READING, widht=7, dropout=None), ".settings.dropout is missing"),
        (having(READING, pool_size=3), ": pool_size is 3; must be at least batch_size, 4"),
    ],
)
def test_an_invalid_study_of_readers(
    tree: Any, tmp_path: Path, study: dict[str, Any], sentence: str
) -> None:
    messages = problems(with_cloze(tree, READING | study), tmp_path)
    assert messages[0].startswith(f"cloze.question_types.NE{sentence}")


def test_a_study_of_readers_has_question_types_of_its_source(tree: Any, tmp_path: Path) -> None:
    messages = problems(with_cloze(tree, kind="WDW", dev_share=0.8, test_share=0.2), tmp_path)
    assert messages == [
        "cloze_data.text.dev_share and test_share are (0.8, 0.2); must leave sections for training",
        "cloze.question_types.WDW is unknown; must be one of NE, CN",
    ]
    tree["cloze_data"] |= {"source": "whodidwhat", "whodidwhat": dict.fromkeys(SPLITS, FILE)}
    tree["cloze_data"]["whodidwhat"]["names_seed"] = 1
    load(tree, tmp_path)


def test_the_compared_network_infers_in_steps(tree: Any, tmp_path: Path) -> None:
    changed(tree, "halting.model", "decomposable_attention")
    [problem] = problems(changed(tree, "halting.mechanisms", {"act": {}}), tmp_path)
    assert "halting.model is 'decomposable_attention'; must be a model that halts: " in problem
    changed(tree, "halting.model", None)
    [problem] = problems(changed(tree, "sweep.only", ["decomposable_attention"]), tmp_path)
    assert "halting.model is null and the sweep has no model that halts: adaptive_att" in problem
