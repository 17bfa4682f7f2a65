"""Section `cloze`: valid values, and messages for invalid ones."""

from pathlib import Path
from typing import Any

import pytest

from pipeline.parameters.section import SPLITS
from tests.pipeline.project import params_tree
from tests.pipeline.test_params import changed, load, problems

READING: dict[str, Any] = {
    "max_epochs": 2,
    "patience": 0,
    "query_gating": [2],
    "adaptive_computation": [2, 3],
    "settings": {
        **{"memory_size": 8, "parameter_range": 0.1, "embedding_range": 0.1},
        **{"dropout": 0.2, "learning_rate": 0.001, "clip_norm": 15.0, "batch_size": 4},
        **{"pool_size": 8, "keep_last": True, "evaluation_batch_size": 16},
    },
}
FILE = {"urls": ["https://host/a.zip"], "sha256": "0" * 64, "bytes": None}


def having(**settings: Any) -> dict[str, Any]:
    """Return a study with changed settings; None removes one."""
    values = READING["settings"] | settings
    kept = {key: value for key, value in values.items() if value is not None}
    return READING | {"settings": kept}


@pytest.mark.parametrize(
    ("study", "sentence"),
    [
        (having(memory_size=7), ".settings.memory_size is 7; must be a multiple of 2"),
        (having(widht=7, dropout=None), ".settings.dropout is missing"),
        (having(pool_size=3), ": pool_size is 3; must be at least batch_size, 4"),
    ],
)
def test_an_invalid_study_of_readers(tmp_path: Path, study: dict[str, Any], sentence: str) -> None:
    tree = changed(params_tree("cloze"), "cloze.question_types", {"NE": READING | study})
    assert problems(tree, tmp_path)[0].startswith(f"cloze.question_types.NE{sentence}")


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("text.section_pattern", "(", "section_pattern is '('; must be a regular expression"),
        ("text.source", None, "cloze.data.text.source is null; source text needs a text"),
        ("text.dev_share", 0.9, "test_share are (0.9, 0.15); must leave sections for training"),
        ("source", "whodidwhat", "whodidwhat.train is not set; source whodidwhat needs its file"),
    ],
)
def test_invalid_data(tmp_path: Path, key: str, value: Any, sentence: str) -> None:
    tree = changed(params_tree("cloze"), f"cloze.data.{key}", value)
    assert sentence in problems(tree, tmp_path)[0]


def test_a_study_of_readers_has_question_types_of_its_source(tmp_path: Path) -> None:
    tree = changed(params_tree("cloze"), "cloze.question_types", {"WDW": READING})
    assert problems(tree, tmp_path) == [
        "cloze.question_types.WDW is unknown; must be one of NE, CN",
    ]
    tree["cloze"]["data"] |= {"source": "whodidwhat", "whodidwhat": dict.fromkeys(SPLITS, FILE)}
    tree["cloze"]["data"]["whodidwhat"]["names_seed"] = 1
    params: Any = load(tree, tmp_path)
    assert params.cloze.question_types["WDW"].query_gating == [2]
