from collections import Counter
from itertools import pairwise

import pytest
from pydantic import ValidationError

from actmodels.errors import ConfigError
from actmodels.settings import LABELS
from pipeline.captions.corpus import RESIDUES, generate_split
from pipeline.parameters.generated_sections import Captions
from pipeline.sources.jsonl import format_pair
from pipeline.sources.treebank import tokenise
from tests.pipeline.captions.build import captions

SETTINGS = captions(seed=4, train=700, dev=200, test=200, unlabelled=0.05)
SPLITS = ("train", "dev", "test")


def lines(settings: Captions, split: str) -> list[str]:
    return [format_pair(pair) for pair in generate_split(settings, split)]


def changed(**values: object) -> Captions:
    return Captions(**{**SETTINGS.model_dump(), **values})


def words(settings: Captions) -> set[str]:
    pairs = generate_split(settings, "train")
    return {w for p in pairs for w in tokenise(f"{p.premise} {p.hypothesis}", lowercase=True)}


def test_same_seed_same_bytes_and_another_seed_another_corpus() -> None:
    first = lines(SETTINGS, "dev")
    assert lines(SETTINGS, "dev") == first
    assert lines(changed(train=50), "dev") == first  # whatever the size of another split
    assert not set(lines(changed(seed=5), "dev")) & set(first)


def test_labels_and_depths_are_balanced_together() -> None:
    counts = Counter((pair.label, pair.depth) for pair in generate_split(SETTINGS, "train"))
    assert sum(counts.values()) == 700 + 35
    labelled = [counts[label, depth] for label in LABELS for depth in range(1, 7)]
    assert sum(labelled) == 700
    assert max(labelled) - min(labelled) <= 1
    assert sum(counts["-", depth] for depth in range(1, 7)) == 35


def test_order_tells_nothing() -> None:
    pairs = list(generate_split(SETTINGS, "train"))
    repeats = sum(one.label == other.label for one, other in pairwise(pairs))
    assert 0.25 < repeats / len(pairs) < 0.42
    assert [p.pair_id for p in pairs[:2]] == ["captions-train-000000", "captions-train-000001"]


def test_no_pair_occurs_twice_anywhere() -> None:
    small = changed(max_depth=1)  # short sentences: the most likely to meet again
    pairs = [(p.premise, p.hypothesis) for s in SPLITS for p in generate_split(small, s)]
    assert len(set(pairs)) == len(pairs)


def test_lengths_are_those_of_captions() -> None:
    pairs = list(generate_split(SETTINGS, "train"))
    premises = [len(p.premise.split()) + 1 for p in pairs]
    hypotheses = [len(p.hypothesis.split()) + 1 for p in pairs]
    assert 14 <= sum(premises) / len(pairs) <= 25
    assert 6 <= sum(hypotheses) / len(pairs) <= 16


def test_a_depth_that_no_hypothesis_has_is_refused() -> None:
    with pytest.raises(ValidationError, match="less than or equal to 6"):
        changed(max_depth=7)


def test_what_weighs_nothing_is_never_spoken_of() -> None:
    every = words(changed(train=2000))
    assert {"hat", "monday", "raining", "pair", "old", "not", "scarlet"} <= every
    facts = SETTINGS.facts.model_dump() | {"headgear": 0, "day": 0, "count": 0, "age": 0}
    easy = words(changed(train=2000, facts=facts, max_depth=4, negated=0, common=1, narrower=0))
    assert not {"hat", "monday", "pair", "old", "not", "scarlet"} & easy
    assert "raining" in easy


def test_the_demo_speaks_of_little() -> None:
    assert len(words(captions("demo", train=5000))) < 400
    assert len(words(changed(train=5000))) > 600


def test_facts_that_make_no_sentence_are_refused() -> None:
    nothing = dict.fromkeys(SETTINGS.facts.model_dump(), 0.0)
    settings = changed(facts=nothing | {"place": 1.0, "time": 1.0})
    with pytest.raises(ConfigError, match=r"1,000 tries gave no sentences of \d facts; give more"):
        lines(settings, "dev")


def test_a_corpus_that_is_exhausted_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RESIDUES, "test", range(0))
    with pytest.raises(ConfigError, match=r"no further pair of depth \d was found for test"):
        lines(SETTINGS, "test")
