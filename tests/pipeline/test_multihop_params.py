"""What the section of multi-hop pairs may hold, and how problems are worded."""

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.test_params import problems, tree

__all__ = ["tree"]


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        ({"models": {"hop_atention": {}}}, ["models.hop_atention is unknown; did you mean"]),
        (
            {"models": {"hop_attention": {"steps": [2], "ponder_weight": [0.1, -1.0]}}},
            [
                "models.hop_attention.steps is unknown; did you mean",
                "models.hop_attention.ponder_weight[1] is -1.0; must be at least 0",
            ],
        ),
        (
            {"models": {"hop_attention": {"width": []}}},
            ["models.hop_attention.width is empty"],
        ),
        (
            {"models": {"hop_attention_fixed_steps": {}, "adaptive_attention": {}}},
            [
                ": steps of hop_attention_fixed_steps is missing",
                ": state_size of adaptive_attention is missing",
            ],
        ),
        (
            {"models": {"spinn_pi": {"layer_size": [8], "tracking_size": [8]}}},
            [": spinn_pi reads parses; multi-hop pairs have none"],
        ),
        (
            {"models": {"hop_attention": {"max_hops": [2, 3]}}},
            ["models.hop_attention.max_hops belongs in multihop.settings: it has one value"],
        ),
        (
            {"settings": {"widht": 8, "epsilon": 1, "null_token": True}},
            ["settings.widht is unknown; did you", "settings.epsilon is 1; must be in (0, 1)"],
        ),
        ({"settings": {"null_token": True}}, [": null_token is true; must be false, as multi-hop"]),
        ({"settings": {"max_hops": 7}}, ["settings.max_hops is 7; must be at most 6"]),
        ({"models": {}, "settings": {"max_hops": 7}}, ["settings.max_hops is 7; must be at most"]),
        ({"corpus": {"beyond": 3}}, ["corpus.beyond is 3; must be at most 2, as a premise has"]),
        ({"corpus": {"beyond": -1}}, ["corpus.beyond is -1; must be at least 0"]),
        ({"corpus": {"dev": 0, "tset": 1}}, ["corpus.dev is 0; must be", "corpus.tset is unknown"]),
        ({"seeds": [1, 1]}, ["seeds[1] is 1 again; each value must be given once"]),
        ({"settings": []}, ["settings is []; must be a mapping of names to values"]),
    ],
)
def test_what_a_study_of_multi_hop_pairs_may_be(
    tree: Any, tmp_path: Path, change: dict[str, Any], sentences: list[str]
) -> None:
    section = tree["multihop"]
    for key, value in change.items():
        merged = key in ("settings", "corpus") and isinstance(value, dict)
        section[key] = section[key] | value if merged else value
    found = problems(tree, tmp_path)
    assert len(found) == len(sentences), found
    for sentence in sentences:
        start = f"multihop{'' if sentence[0] == ':' else '.'}{sentence}"
        assert any(problem.startswith(start) for problem in found), (start, found)


def test_multi_hop_pairs_need_their_depth(tree: Any, tmp_path: Path) -> None:
    del tree["multihop"]["settings"]["max_hops"]
    assert problems(tree, tmp_path) == ["multihop.settings.max_hops is missing"]
    tree["multihop"]["models"] = {}
    assert problems(tree, tmp_path) == ["multihop.settings.max_hops is missing"]
