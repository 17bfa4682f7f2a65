"""Multi-hop pairs and their curriculum: when depths join, and when steps begin to cost."""

import itertools
from functools import partial
from hashlib import sha256
from typing import Any

import pytest
import torch

from actmodels.data.pairs import FIRST_WORD, PairTensors
from actmodels.metrics import Metrics
from actmodels.records import best_epoch
from actmodels.seeding import generator
from studies.multihop.config import CorpusConfig
from studies.multihop.corpus import draw, draw_split
from studies.multihop.training import MultihopTraining
from studies.multihop.words import CLASSES, ROOMS, vocabulary
from tests.model_checks import assert_resumed
from tests.studies.multihop.samples import CORPUS, multihop_trial, sample_multihop_data

CROWDED = CorpusConfig(things=90, chains=7, distractors=1)  # further chains and distractors


def split(pairs: int = 60, corpus: CorpusConfig = CORPUS) -> PairTensors:
    return draw_split(corpus, pairs, range(1, 7), 4, generator("multihop", 1))


def sentences(pairs: PairTensors, corpus: CorpusConfig) -> list[tuple[list[str], list[str]]]:
    """Return the words of each pair."""
    words, result = vocabulary(corpus.things, corpus.distractors), []
    for row in range(len(pairs)):
        both = []
        for ids, ends in (
            (pairs.premise_ids, pairs.premise_offsets),
            (pairs.hypothesis_ids, pairs.hypothesis_offsets),
        ):
            part = ids[int(ends[row]) : int(ends[row + 1])]
            both.append([words[int(word) - FIRST_WORD] for word in part])
        result.append((both[0], both[1]))
    return result


def followed(premise: list[str], thing: str) -> tuple[str, int]:
    """Return the final location of a thing and the number of hops."""
    facts = {
        premise[i]: premise[i + 2] for i in range(0, len(premise), 4) if premise[i + 1] == "in"
    }
    place, hops = thing, 0
    while place in facts:
        place, hops = facts[place], hops + 1
    return place, hops


@pytest.mark.parametrize("corpus", [CORPUS, CROWDED], ids=["plain", "crowded"])
def test_following_the_hops_gives_label_and_depth(corpus: CorpusConfig) -> None:
    pairs = split(corpus=corpus)
    assert len(pairs) == 6 * 60
    for (premise, hypothesis), label, depth in zip(
        sentences(pairs, corpus), pairs.labels.tolist(), pairs.depths.tolist(), strict=True
    ):
        facts, links = corpus.chains * max(depth, 4), premise[1::4]
        assert (links.count("in"), links.count("beside")) == (facts, facts * corpus.distractors)
        assert corpus is CROWDED or premise.count("doubt") == 1  # words do not give the label away
        assert {*premise[3::4]} == {"."} and len(premise) == 4 * len(links)
        assert all(a != b for a, b in zip(premise[::4], premise[2::4], strict=True))
        thing, room = hypothesis[0], hypothesis[2]
        place, hops = followed(premise, thing)
        expected = "neutral" if place == "doubt" else "entailment" if place == room else None
        assert CLASSES[label] == (expected or "contradiction")
        assert hops == depth
        assert room in ROOMS and room in premise


def test_words_and_draws_of_18_things_are_those_of_the_first_release() -> None:
    """SHA-256 of the ids that the code drew before the number of things was a setting."""
    assert vocabulary(18, 0)[-8:] == ("urn", *ROOMS, "doubt", "in", ".")
    assert len({*vocabulary(270, 1)}) == 270 + 8
    pairs = split()
    ids = torch.cat([pairs.premise_ids, pairs.hypothesis_ids, pairs.labels.int()])
    assert sha256(ids.numpy().tobytes()).hexdigest()[:16] == "a77a284cd765203a"


@pytest.mark.parametrize("hops", [1, 6])
def test_labels_are_balanced_and_draws_repeat(hops: int) -> None:
    depths = torch.full((3000,), hops)
    first, again = (draw(CORPUS, depths, 6, generator("multihop", 2)) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first[:6], again[:6], strict=True))
    shares = first.labels.bincount(minlength=3) / 3000
    assert torch.allclose(shares, torch.full((3,), 1 / 3), atol=0.03)


METRICS = Metrics(0.0, 1.0, 1.0, 0.0, 1.0)


def training(model: str = "hop_attention", **settings: Any) -> MultihopTraining:
    return MultihopTraining(multihop_trial(model, **settings), sample_multihop_data())


def charged(one: MultihopTraining) -> bool:
    """Train an epoch; return whether steps had a cost."""
    one.train_epoch()
    return bool(one.model.halting.adds_ponder_cost)


def test_depths_join_when_the_last_is_learned_and_steps_cost_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, several = training(join_accuracy=0.9), training(join_accuracy=0.5, max_hops=3)
    right = one.data.dev.labels.clone()
    wrong = (right + 1) % 3
    first_alone = torch.where(one.data.dev.depths == 1, right, wrong)

    def scored(one: MultihopTraining, labels: torch.Tensor) -> tuple[int, int]:
        result = type("Result", (), {"predictions": labels, "labels": right, "metrics": METRICS})
        monkeypatch.setattr("studies.multihop.training.evaluate", lambda *_: result)
        one.dev_metrics()
        return one.depths_in_training, one.epochs_since_join

    assert scored(one, wrong) == (1, 0) and not charged(one)
    assert scored(one, first_alone) == (2, 0) and not charged(one)
    assert scored(one, first_alone) == (2, 1) and charged(one)
    several.depths_in_training = 2
    assert scored(several, first_alone)[0] == 2  # the third depth waits for the second alone


def test_pairs_are_new_and_of_the_joined_depths() -> None:
    one = training(batch_size=64)
    batches = [*one.batches(generator("epoch", 1)), *one.batches(generator("epoch", 2))]
    assert len({batch.premise.numpy().tobytes() for batch in batches}) == 6
    assert all(batch.premise.shape == (64, 24) for batch in batches)


def test_every_mechanism_but_ponder_net_starts_without_a_cost() -> None:
    for name in ("dact", "target_steps", "supervised_act", "ponder_net"):
        one = training(f"hop_attention_{name}")
        assert charged(one) is (name == "ponder_net")
        if name == "target_steps":
            assert float(one.model.ponder_weight or 0.0) == 0.0


@pytest.mark.parametrize(("fresh", "count"), [("names", 18), ("names_and_rooms", 22)])
def test_fresh_words_have_new_vectors_at_each_update(fresh: str, count: int) -> None:
    """Dev has vectors of its own, and the test those of a new model: no update has seen either."""
    one = training(fresh=fresh)
    vectors, seen = one.model.words.vectors, [one.model.words.vectors.clone()]
    seen += [vectors.clone() for _ in one.batches(generator("epoch", 1))]
    one.dev_metrics()
    for first, second in itertools.combinations([*seen, vectors], 2):
        changed = (first != second).any(dim=1).nonzero()[:, 0]
        assert changed.tolist() == [*range(FIRST_WORD, FIRST_WORD + count)]
    spread = float(vectors[FIRST_WORD : FIRST_WORD + count].std())
    assert spread == pytest.approx(one.config.input.oov_std, rel=0.2)
    again = training(fresh=fresh)
    again.dev_metrics()
    assert torch.equal(again.model.words.vectors, vectors)


def test_the_last_epoch_can_be_kept() -> None:
    """Its record says so, and the records of the run rank it first."""
    for keep in ("last", "best"):
        one = training(keep=keep)
        assert_resumed(partial(training, keep=keep), 2)
        accuracies = [record.dev_accuracy for record in one.epochs()]
        last = accuracies[-1] > max(accuracies[:-1]) or keep == "last"
        assert (best_epoch(one.history) is one.history[-1]) is last
