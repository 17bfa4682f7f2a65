"""What the section `graves` may hold, and how its problems are worded."""

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.test_params import load, problems, tree

__all__ = ["tree"]

PARITY: dict[str, Any] = {
    "max_epochs": 1,
    "patience": 0,
    "without_act": False,
    "ponder_weights": [0.01],
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
SOURCE = {"urls": ["https://host/a"], "sha256": "0" * 64, "bytes": None, "members": []}


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


def test_a_text_is_known_even_where_nothing_reads_it(tree: Any, tmp_path: Path) -> None:
    tree["graves"]["text"] = "a"
    said = "graves.text is 'a'; must be one of texts.sources: which is empty"
    assert problems(tree, tmp_path) == [said]


@pytest.mark.parametrize(
    ("task", "change", "sentences"),
    [
        ("parity", {}, []),
        ("partiy", {}, ["graves.tasks.partiy is unknown; did you mean graves.tasks.parity?"]),
        (
            "parity",
            {"ponder_weights": [0.1, -1.0]},
            ["graves.tasks.parity.ponder_weights[1]: ponder_weight is -1.0; must be"],
        ),
        (
            "parity",
            {"ponder_weights": []},
            ["graves.tasks.parity.ponder_weights is empty; must have a value, unless without_act"],
        ),
        (
            "parity",
            {"settings": PARITY["settings"] | {"bits": 0, "cell": "gru", "ponder": 1}},
            [
                "graves.tasks.parity.settings: ponder is not a setting of parity",
                "graves.tasks.parity.settings: bits is 0; must be at least 1",
                "graves.tasks.parity.settings: cell is 'gru'; must be one of rnn, lstm",
            ],
        ),
        (
            "parity",
            {"settings": PARITY["settings"] | {"bits": 0, "cell": "gru"}},
            [
                "graves.tasks.parity.settings: bits is 0; must be at least 1",
                "graves.tasks.parity.settings: cell is 'gru'; must be one of rnn, lstm",
            ],
        ),
        (
            "parity",
            {"settings": PARITY["settings"] | {"ponder_weight": 0.1}},
            ["graves.tasks.parity.settings.ponder_weight belongs in ponder_weights"],
        ),
    ],
)
def test_what_a_study_of_sequences_may_be(
    tree: Any, tmp_path: Path, task: str, change: dict[str, Any], sentences: list[str]
) -> None:
    tree["graves"]["tasks"] = {task: PARITY | change}
    found = problems(tree, tmp_path) if sentences else []
    assert len(found) == len(sentences), found
    assert all(said in problem for said, problem in zip(sentences, found, strict=True)), found
