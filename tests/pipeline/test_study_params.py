"""What the studies' sections, their texts and questions may hold, and how problems are worded."""

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.test_params import AA_NAME, changed, load, problems, tree

__all__ = ["tree"]

FIDELITY = "fidelity.models"
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
    "kinds": {"act": {"ponder_weight": [0.01]}},
    "settings": {
        **{"bits": 4, "cell": "rnn", "state_size": 8, "init": "xavier", "init_std": 0.1},
        **{"epsilon": 0.01, "max_steps": 5, "halting_bias": 1.0, "learning_rate": 0.01},
        **{"clip_norm": 1.0, "batch_size": 16, "updates_per_epoch": 5, "dev_sequences": 40},
        "dev_seed": 1,
    },
}
CHARACTERS = PARITY | {
    "settings": {name: value for name, value in PARITY["settings"].items() if name != "bits"}
    | {"window": 5, "held_out_bytes": 9}
}
FILE = {"urls": ["https://host/a.zip"], "sha256": "0" * 64, "bytes": None}
SOURCE = FILE | {"members": ["a"]}


def having(study: dict[str, Any], **settings: Any) -> dict[str, Any]:
    """A study with some settings of its trials changed."""
    return study | {"settings": study["settings"] | settings}


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("../a", {}, "texts.sources.../a: the name must be of letters, digits, _ and -"),
        ("a", {"members": ["x", "x"]}, "a.members[1] is 'x' again; each member must be given once"),
        ("a", {"urls": []}, "texts.sources.a.urls is empty; must have at least one value"),
        ("a", {"urls": ["a.zip"]}, "texts.sources.a.urls[0] is 'a.zip'; must be a URL that starts"),
        ("a", {"sha256": "12"}, "a.sha256 is '12'; must be a SHA-256 of 64 lower-case hex digits"),
        ("a", {"member": "x"}, "texts.sources.a.member is unknown; did you mean texts.sources.a."),
        ("a", {"bytes": 0}, "texts.sources.a.bytes is 0; must be at least 1"),
    ],
)
def test_what_a_source_may_be(
    tree: Any, tmp_path: Path, name: str, change: dict[str, Any], sentence: str
) -> None:
    tree["texts"]["sources"] = {name: SOURCE | change}
    (found,) = problems(tree, tmp_path)
    assert sentence in found


@pytest.mark.parametrize(
    ("text", "sources", "sentence"),
    [
        ("a", ["a", "b"], None),
        (None, [], "null, but characters need a text; name one of texts.sources: which is empty"),
        (None, ["a", "b"], "null, but characters need a text; name one of texts.sources: a, b"),
        ("c", ["a", "b"], "'c'; must be one of texts.sources: a, b"),
    ],
)
def test_characters_need_a_text(
    tree: Any, tmp_path: Path, text: str | None, sources: list[str], sentence: str | None
) -> None:
    tree["texts"]["sources"] = dict.fromkeys(sources, SOURCE)
    tree["graves"] |= {"tasks": {"characters": CHARACTERS}, "text": text}
    if sentence is None:
        assert load(tree, tmp_path).graves.text == text
    else:
        assert problems(tree, tmp_path) == [f"graves.text is {sentence}"]


BITS = "settings.bits is 0; must be at least 1"
CELL = "settings.cell is 'gru'; must be one of rnn, lstm"


def kinds(**compared: Any) -> dict[str, Any]:
    """A study on parity that compares these ways of halting."""
    return PARITY | {"kinds": compared}


TWO = {"none": {}, "act": {"ponder_weight": [0.1]}}


@pytest.mark.parametrize(
    ("study", "sentences"),
    [
        (
            kinds(act={"ponder_weight": [0.1, -1.0]}),
            ["kinds.act.ponder_weight[1] is -1.0; must be at least 0"],
        ),
        (
            kinds(act={"ponder_weight": []}),
            ["kinds.act.ponder_weight is empty; must have at least one value"],
        ),
        (kinds(), ["kinds is empty; must have at least one value"]),
        (kinds(atc={}), ["kinds.atc is unknown; did you mean graves.tasks.parity.kinds.act?"]),
        (
            kinds(dact={"steps": [2]}),
            ["kinds.dact.steps is unknown; did you", ": ponder_weight of parity is missing"],
        ),
        (having(PARITY, bits=0, cell="gru"), [BITS, CELL]),
        (having(kinds(**TWO), bits=0), [BITS]),  # once, though both kinds have bits
        (having(PARITY, bits=0, batch=1), ["settings.batch is unknown; did you mean graves", BITS]),
        (having(PARITY, ponder_weight=0.1), ["settings.ponder_weight is unknown; must be one of"]),
        (having(kinds(**TWO), damping=0.1), ["settings.damping is unknown; must be one of bits, "]),
        (kinds(act={}, dact={}), [": ponder_weight of parity is missing"]),
    ],
)
def test_what_a_study_of_sequences_may_be(
    tree: Any, tmp_path: Path, study: dict[str, Any], sentences: list[str]
) -> None:
    found = problems(changed(tree, "graves.tasks", {"parity": study}), tmp_path)
    assert len(found) == len(sentences), found
    for said, problem in zip(sentences, found, strict=True):
        assert problem.startswith(f"graves.tasks.parity{'' if said[0] == ':' else '.'}{said}")


def test_a_task_with_several_answers_needs_a_state(tree: Any, tmp_path: Path) -> None:
    study = having(kinds(ponder_net={"ponder_weight": [0.1], "prior_steps": [3]}), vectors=2)
    study["settings"] |= {"gates": 2}
    del study["settings"]["bits"]
    assert problems(changed(tree, "graves.tasks", {"logic": study}), tmp_path) == [
        "graves.tasks.logic: halting ponder_net is for one input with one answer, as parity has; "
        "logic must have one of none, act, target_steps, fixed_steps"
    ]


def asked(tree: Any, **text: Any) -> Any:
    """A study on questions of a text."""
    tree["texts"]["sources"] = {"stories": SOURCE}
    tree["questions"]["source"] = "text"
    tree["questions"]["text"] |= {"name": "stories"} | text
    tree["nse"]["kinds"] = {"NE": READING}
    return tree


def test_studies_are_valid(tree: Any, tmp_path: Path) -> None:
    params = load(changed(asked(tree), "graves.tasks", {"parity": PARITY}), tmp_path)
    assert params.nse.kinds["NE"].query_gating == [2]
    assert params.graves.tasks["parity"].kinds == {"act": {"ponder_weight": [0.01]}}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ({"name": "tales"}, "name is 'tales'; must be one of texts.sources: stories"),
        ({"section_pattern": "("}, "section_pattern is no regular expression: missing"),
        (
            {"dev_share": 0.8, "test_share": 0.2},
            "dev_share and test_share are (0.8, 0.2); must leave sections for training",
        ),
        ({"min_noun_count": 0}, "min_noun_count is 0; must be at least 1"),
        ({"section_sentences": 20}, "section_sentences is 20; must be at least 21"),
        ({"stride": 0}, "stride is 0; must be at least 1"),
    ],
)
def test_what_questions_of_a_text_may_be(
    tree: Any, tmp_path: Path, text: dict[str, Any], sentence: str
) -> None:
    (found,) = problems(asked(tree, **text), tmp_path)
    assert found.startswith(f"questions.text.{sentence}")


NO_STEPS: dict[str, Any] = {"query_gating": [], "adaptive_computation": [], "one_step": False}


@pytest.mark.parametrize(
    ("study", "sentence"),
    [
        ({"query_gating": [1, 2]}, ".query_gating[0] is 1; must be at least 2"),
        ({"query_gating": [6, 2, 6]}, ".query_gating[2] is 6 again; each value must be given once"),
        (NO_STEPS, " compares nothing; set one_step or numbers of steps"),
        (having(READING, steps=3), ".settings.steps belongs in query_gating or adaptive_comput"),
        (having(READING, memory_size=7), ".settings: memory_size is 7; must be even"),
        (having(READING, dropout=1.0), ".settings: dropout is 1.0; must be in"),
        ({"settings": {"width": 3}}, ".settings: width is not a setting of the reader"),
        ({"settings": {"width": 3}}, ".settings: learning_rate of the reader is missing"),
    ],
)
def test_what_a_study_of_readers_may_be(
    tree: Any, tmp_path: Path, study: dict[str, Any], sentence: str
) -> None:
    asked(tree)["nse"]["kinds"] = {"NE": READING | study}
    found = problems(tree, tmp_path)
    assert any(said.startswith(f"nse.kinds.NE{sentence}") for said in found), found


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("graves.text", "a", "graves.text is 'a'; must be one of texts.sources: which is empty"),
        (
            "graves.tasks",
            {"partiy": PARITY},
            "graves.tasks.partiy is unknown; did you mean graves.tasks.parity?",
        ),
        (
            "questions.source",
            "text",
            "questions.text.name is None; must be one of texts.sources: which is empty",
        ),
        (
            "nse.kinds",
            {"NE": READING},
            "questions.source is 'none'; nse.kinds needs questions: text, cbt or whodidwhat",
        ),
    ],
)
def test_a_study_and_what_it_needs_stand_in_several_sections(
    tree: Any, tmp_path: Path, key: str, value: Any, sentence: str
) -> None:
    assert problems(changed(tree, key, value), tmp_path) == [sentence]


@pytest.mark.parametrize("kind", ["NN", "WDW"])
def test_a_study_of_readers_is_on_questions_that_there_are(
    tree: Any, tmp_path: Path, kind: str
) -> None:
    asked(tree)["nse"]["kinds"] = {kind: READING}
    assert problems(tree, tmp_path) == [f"nse.kinds.{kind} is unknown; must be one of NE, CN"]


def test_who_did_what_needs_its_files(tree: Any, tmp_path: Path) -> None:
    tree["questions"]["source"] = "whodidwhat"
    tree["questions"]["whodidwhat"]["train"] = FILE
    assert problems(tree, tmp_path) == [
        "questions.whodidwhat.dev is not set; source whodidwhat needs its file",
        "questions.whodidwhat.test is not set; source whodidwhat needs its file",
    ]
    tree["questions"]["whodidwhat"] |= {"dev": FILE, "test": FILE}
    tree["nse"]["kinds"] = {"NE": READING}
    assert problems(tree, tmp_path) == ["nse.kinds.NE is unknown; must be one of WDW"]
    tree["nse"]["kinds"] = {"WDW": READING}
    load(tree, tmp_path)


def test_several_problems_at_once(tree: Any, tmp_path: Path) -> None:
    asked(tree, name=None, stride="x")["nse"]["kinds"]["NE"] = READING | {"patience": -1}
    assert len(problems(tree, tmp_path)) == 3


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        (f"{FIDELITY}.lstm_encoders", {"a": {}}, "lstm_encoders is not swept; must be one of swee"),
        (f"{FIDELITY}.{AA_NAME}", {"a": {"batch_remaindr": True}}, "a.batch_remaindr is unknown"),
        (f"{FIDELITY}.{AA_NAME}", {"a": {"batch_remainder": 1}}, "is 1; must be true or false"),
        (f"{FIDELITY}.{AA_NAME}", {"a": {"max_epochs": 0}}, "is 0; must be at least 1"),
        ("sizes.models", ["nse"], "sizes.models[0] is 'nse'; must be one of sweep.models"),
        ("halting.kinds", {"atc": {}}, "halting.kinds.atc is unknown; did you mean"),
        ("halting.kinds", {"act": {"epsilon": [0.1, 2]}}, "act.epsilon[1] is 2; must be in (0, 1)"),
        ("halting.kinds", {"act": {"epsilon": []}}, "halting.kinds.act.epsilon is empty; must"),
        ("halting.kinds", {"dact": {"steps": [2]}}, "halting.kinds.dact.steps is unknown; did"),
    ],
)
def test_studies_change_known_settings_of_swept_models(
    tree: Any, tmp_path: Path, key: str, value: Any, sentence: str
) -> None:
    [problem] = problems(changed(tree, key, value), tmp_path)
    assert sentence in problem


def test_the_compared_network_infers_in_steps(tree: Any, tmp_path: Path) -> None:
    changed(tree, "halting.model", "decomposable_attention")
    [problem] = problems(changed(tree, "halting.kinds", {"act": {}}), tmp_path)
    assert "halting.model is 'decomposable_attention'; must be a model that halts: " in problem
