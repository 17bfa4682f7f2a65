"""Section `multihop`: messages for invalid values."""

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.project import params_tree
from tests.pipeline.test_params import changed, problems

HOPS, DEEP = "hop_attention", "must be at most 12, which is things / chains of multihop.corpus"


@pytest.mark.parametrize(
    ("key", "value", "sentences"),
    [
        (
            *("models", {"hop_attention_fixed_steps": {}, "adaptive_attention": {}}),
            [
                "models.adaptive_attention: state_size of adaptive_attention is missing",
                "models.hop_attention_fixed_steps: steps of hop_attention_fixed_steps is missing",
            ],
        ),
        (
            *("models", {"spinn_pi": {"layer_size": [8], "tracking_size": [8]}}),
            ["multihop.models.spinn_pi: spinn_pi reads parses; multi-hop pairs have none"],
        ),
        ("models", {HOPS: {"max_hops": [2]}}, ["max_hops belongs in multihop.settings: "]),
        ("models", {HOPS: {"null_token": [False, True]}}, ["null_token is true; must be"]),
        ("settings", {}, ["multihop.settings.max_hops is missing"]),
        (
            *("settings.init", "normal"),
            [f"multihop.models.{m}: init_std of {m} is missing" for m in (HOPS, f"{HOPS}_dact")],
        ),
        ("corpus.chains", 7, [f"multihop.evaluation.hops has 30; {DEEP}"]),
        ("evaluation.exits.patience", [1], ["evaluation.exits.patience[0] is 1; must be at least"]),
        ("settings.things", 18, ["multihop.settings.things is unknown"]),
    ],
)
def test_an_invalid_value(tmp_path: Path, key: str, value: Any, sentences: list[str]) -> None:
    messages = problems(changed(params_tree("multihop"), f"multihop.{key}", value), tmp_path)
    assert len(messages) == len(sentences), messages
    for expected, problem in zip(sentences, sorted(messages), strict=True):
        assert expected in problem
