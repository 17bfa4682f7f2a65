"""What the sections `questions` and `nse` may hold, and how their problems are worded."""

from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import ConfigError
from tests.pipeline.test_params import load, problems, tree

__all__ = ["tree"]

STUDY: dict[str, Any] = {
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
ARCHIVE = {"urls": ["file:///a.zip"], "sha256": "0" * 64, "bytes": None, "members": ["a"]}


def asked(tree: Any, **text: Any) -> Any:
    """A study on questions of a text."""
    tree["texts"]["sources"] = {"stories": ARCHIVE}
    tree["questions"]["source"] = "text"
    tree["questions"]["text"] |= {"name": "stories"} | text
    tree["nse"]["kinds"] = {"NE": STUDY}
    return tree


def test_a_study_is_valid(tree: Any, tmp_path: Path) -> None:
    assert load(asked(tree), tmp_path).nse.kinds["NE"].query_gating == [2]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            {"name": "tales"},
            "questions.text.name is 'tales'; must be one of texts.sources: stories",
        ),
        (
            {"section_pattern": "("},
            "questions.text.section_pattern is no regular expression: missing",
        ),
        (
            {"dev_share": 0.8, "test_share": 0.2, "min_noun_share": 0.1},
            "questions.text.dev_share, test_share and min_noun_share are (0.8, 0.2, 0.1); must be "
            "in [0, 1], and leave",
        ),
        ({"min_noun_count": 0}, "questions.text.min_noun_count is 0; must be a whole number of"),
        ({"section_sentences": 20}, "questions.text.section_sentences is 20; must be at least 21"),
        ({"stride": 0}, "questions.text.stride is 0; must be a whole number of at least 1"),
    ],
)
def test_texts(tree: Any, tmp_path: Path, text: dict[str, Any], sentence: str) -> None:
    assert any(found.startswith(sentence) for found in problems(asked(tree, **text), tmp_path))


@pytest.mark.parametrize(
    ("kinds", "sentences"),
    [
        ({"NN": STUDY}, ["nse.kinds.NN is unknown; must be one of NE, CN"]),
        ({"WDW": STUDY}, ["nse.kinds.WDW is unknown; must be one of NE, CN"]),
        (
            {"NE": STUDY | {"query_gating": [1, 2]}},
            ["nse.kinds.NE.query_gating[0] is 1; must be a whole number of at least 2"],
        ),
        (
            {"NE": STUDY | {"query_gating": [6, 2, 6]}},
            ["nse.kinds.NE.query_gating[2] is 6 again; each value must be given once"],
        ),
        (
            {"NE": STUDY | {"query_gating": [], "adaptive_computation": [], "one_step": False}},
            ["nse.kinds.NE compares nothing; set one_step or numbers of steps"],
        ),
        (
            {"NE": STUDY | {"settings": STUDY["settings"] | {"steps": 3}}},
            ["nse.kinds.NE.settings.steps belongs in query_gating or adaptive_computation"],
        ),
        (
            {"NE": STUDY | {"settings": STUDY["settings"] | {"memory_size": 7, "dropout": 1.0}}},
            [
                "nse.kinds.NE.settings: memory_size is 7; must be even",
                "nse.kinds.NE.settings: dropout is 1.0; must be in [0, 1)",
            ],
        ),
        (
            {"NE": STUDY | {"settings": {"width": 3}}},
            [
                "nse.kinds.NE.settings: width is not a setting of the reader",
                "nse.kinds.NE.settings: learning_rate of the reader is missing",
            ],
        ),
    ],
)
def test_studies(tree: Any, tmp_path: Path, kinds: dict[str, Any], sentences: list[str]) -> None:
    asked(tree)["nse"]["kinds"] = kinds
    found = problems(tree, tmp_path)
    for sentence in sentences:
        assert any(problem.startswith(sentence) for problem in found), found


def test_readers_without_questions(tree: Any, tmp_path: Path) -> None:
    tree["nse"]["kinds"] = {"NE": STUDY}
    wording = "questions.source is 'none'; nse.kinds needs questions: text, cbt or whodidwhat"
    assert problems(tree, tmp_path) == [wording]


def test_a_text_needs_a_source(tree: Any, tmp_path: Path) -> None:
    tree["questions"]["source"] = "text"
    wording = "questions.text.name is None; must be one of texts.sources: which is empty"
    assert problems(tree, tmp_path) == [wording]


def test_who_did_what_needs_its_files(tree: Any, tmp_path: Path) -> None:
    tree["questions"]["source"] = "whodidwhat"
    file = {name: ARCHIVE[name] for name in ("urls", "sha256", "bytes")}
    tree["questions"]["whodidwhat"]["train"] = file
    assert problems(tree, tmp_path) == [
        "questions.whodidwhat.dev is not set; source whodidwhat needs its file",
        "questions.whodidwhat.test is not set; source whodidwhat needs its file",
    ]
    tree["questions"]["whodidwhat"] |= {"dev": file, "test": file}
    tree["nse"]["kinds"] = {"NE": STUDY}
    assert problems(tree, tmp_path) == ["nse.kinds.NE is unknown; must be one of WDW"]
    tree["nse"]["kinds"] = {"WDW": STUDY}
    load(tree, tmp_path)


def test_several_problems_at_once(tree: Any, tmp_path: Path) -> None:
    asked(tree, name=None, stride="x")["nse"]["kinds"]["NE"] = STUDY | {"patience": -1}
    with pytest.raises(ConfigError) as caught:
        load(tree, tmp_path)
    assert len(caught.value.problems) == 3
