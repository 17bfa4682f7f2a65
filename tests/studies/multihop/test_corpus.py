"""Multi-hop pairs: only the chain of facts determines label and depth."""

import pytest
import torch

from actmodels.configs import LABELS
from actmodels.data.pairs import FIRST_WORD, PairTensors
from actmodels.seeding import generator
from studies.multihop.corpus import ROOMS, WORDS, draw, draw_split


def split(pairs: int = 60) -> PairTensors:
    return draw_split(pairs, 4, 2, generator("multihop", 1))


def sentences(pairs: PairTensors) -> list[tuple[list[str], list[str]]]:
    """Return the words of each pair."""
    result = []
    for row in range(len(pairs)):
        both = []
        for ids, ends in (
            (pairs.premise_ids, pairs.premise_offsets),
            (pairs.hypothesis_ids, pairs.hypothesis_offsets),
        ):
            part = ids[int(ends[row]) : int(ends[row + 1])]
            both.append([WORDS[int(word) - FIRST_WORD] for word in part])
        result.append((both[0], both[1]))
    return result


def followed(premise: list[str], thing: str) -> tuple[str, int]:
    """Return the final location of a thing and the number of hops."""
    facts = {premise[i]: premise[i + 2] for i in range(0, len(premise), 4)}
    place, hops = thing, 0
    while place in facts:
        place, hops = facts[place], hops + 1
    return place, hops


def test_following_the_hops_gives_label_and_depth() -> None:
    pairs = split()
    assert len(pairs) == 6 * 60
    for (premise, hypothesis), label, depth in zip(
        sentences(pairs), pairs.labels.tolist(), pairs.depths.tolist(), strict=True
    ):
        assert {*premise[1::4]} == {"in"} and {*premise[3::4]} == {"."}
        thing, room = hypothesis[0], hypothesis[2]
        place, hops = followed(premise, thing)
        expected = "neutral" if place == "doubt" else "entailment" if place == room else None
        assert LABELS[label] == (expected or "contradiction")
        assert hops == depth
        assert room in ROOMS and room in premise


def test_chains_are_longer_only_beyond_max_hops() -> None:
    pairs = split(5)
    lengths = pairs.premise_offsets.diff().view(6, 5)
    assert torch.equal(lengths, torch.tensor([48, 48, 48, 48, 60, 72])[:, None].expand(6, 5))


def test_word_counts_do_not_predict_the_label() -> None:
    """All premises have the same words except names, for every label and depth."""
    pairs, counts = split(300), set()
    for (premise, _), depth in zip(sentences(pairs), pairs.depths.tolist(), strict=True):
        if depth <= 4:
            others = [word for word in premise if word in ("in", ".", "doubt")]
            counts.add((len(premise), tuple(sorted(others))))
    assert len(counts) == 1


@pytest.mark.parametrize("hops", [1, 6])
def test_labels_are_balanced_and_draws_repeat(hops: int) -> None:
    depths = torch.full((3000,), hops)
    first, again = (draw(depths, 6, generator("multihop", 2)) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first[:6], again[:6], strict=True))
    shares = first.labels.bincount(minlength=3) / 3000
    assert torch.allclose(shares, torch.full((3,), 1 / 3), atol=0.03)
