from collections import Counter
from itertools import pairwise

import pytest

from actmodels.errors import ConfigError
from pipeline.datasets.pairs import Pair
from pipeline.datasets.tokenizer import tokenize
from pipeline.parameters.schema import Captions
from pipeline.synthetic.corpus import TENTHS, generate_split
from tests.pipeline.synthetic.build import captions
from tests.samples import CLASSES

SETTINGS = captions(seed=4, train=700, dev=200, test=200, unlabeled=0.05)
SENTENCES = ("sentence1", "sentence2")


def generate(split: str, settings: Captions = SETTINGS) -> list[Pair]:
    return list(generate_split(settings, split))


def changed(**values: object) -> Captions:
    return Captions(**{**SETTINGS.model_dump(), **values})


def words(settings: Captions) -> set[str]:
    texts = [" ".join(pair[key] for key in SENTENCES) for pair in generate("train", settings)]
    return {word for text in texts for word in tokenize(text, lowercase=True)}


def test_pairs_depend_on_the_seed() -> None:
    first = generate("dev")
    assert generate("dev", changed(train=50)) == first  # independent of the size of another split
    assert not any(pair in first for pair in generate("dev", changed(seed=5)))


def test_labels_and_depths_are_jointly_balanced_in_random_order() -> None:
    pairs = generate("train")
    counts = Counter((pair["gold_label"], pair["reasoning_depth"]) for pair in pairs)
    labeled = [counts[label, depth] for label in CLASSES for depth in range(1, 7)]
    assert sum(labeled) == 700
    assert max(labeled) - min(labeled) <= 1
    assert sum(counts["-", depth] for depth in range(1, 7)) == len(pairs) - 700 == 35
    repeats = sum(one["gold_label"] == other["gold_label"] for one, other in pairwise(pairs))
    assert 0.25 < repeats / len(pairs) < 0.42
    assert pairs[1]["pairID"] == "captions-train-000001"


def test_pairs_are_unique() -> None:
    small = changed(max_depth=1)  # short sentences are most likely to repeat
    pairs = [pair for split in TENTHS for pair in generate(split, small)]
    assert len({tuple(pair[key] for key in SENTENCES) for pair in pairs}) == len(pairs)


def test_sentence_lengths() -> None:
    pairs = generate("train")
    means = [sum(len(pair[key].split()) + 1 for pair in pairs) / len(pairs) for key in SENTENCES]
    assert 14 <= means[0] <= 25 and 6 <= means[1] <= 16


def test_facts_without_weight_are_never_stated() -> None:
    every = words(changed(train=2000))
    assert {"hat", "monday", "raining", "pair", "old", "not", "scarlet"} <= every
    facts = SETTINGS.facts | {"headgear": 0, "day": 0, "count": 0, "age": 0}
    easy = words(changed(train=2000, facts=facts, max_depth=4, negated=0, common=1, hyponym=0))
    assert not {"hat", "monday", "pair", "old", "not", "scarlet"} & easy
    assert "raining" in easy


def test_settings_with_too_few_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = dict.fromkeys(SETTINGS.facts, 0.0) | {"place": 1.0, "time": 1.0}
    with pytest.raises(ConfigError, match=r"1,000 tries gave no sentences of \d facts; give more"):
        generate("dev", changed(facts=facts))
    monkeypatch.setitem(TENTHS, "test", range(0))
    with pytest.raises(ConfigError, match=r"no new pair of depth \d for test"):
        generate("test")
