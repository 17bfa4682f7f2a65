"""The corpus of chains: its labels follow from its sentences, and from nothing less."""

import re
from collections import Counter, defaultdict

import numpy as np
import pytest

from actmodels.data.labels import LABELS
from pipeline.lexical.classifier import Split, fit
from pipeline.lexical.features import GROUPS, Features
from pipeline.parameters.generated_sections import Chains
from pipeline.sources.chains import ROOMS, generate_split
from pipeline.sources.generated import residue
from pipeline.sources.jsonl import Pair
from pipeline.sources.tokens import TokenPair
from pipeline.sources.treebank import tokenise

SETTINGS = Chains(
    seed=3, train=600, dev=240, test=300, max_depth=4, beyond=1, stated=0.5, shortest=0.7
)
LINK = re.compile(r"(\w+) in (\w+)\.")


def read(pair: Pair) -> tuple[str, int]:
    """Label and number of links, by following them one after the other."""
    found = list(LINK.finditer(pair.premise))
    assert " ".join(link[0] for link in found) == pair.premise
    inside = {link[1].lower(): link[2] for link in found}
    question = LINK.fullmatch(pair.hypothesis)
    assert question
    here, links = question[1].lower(), 0
    if question[2] in inside:  # one link, wherever it leads
        here, links = inside[here], 1
    while here in inside and question[2] not in inside:
        here, links = inside[here], links + 1
    if here == "doubt":
        return "neutral", links
    return ("entailment" if here == question[2] else "contradiction"), links


@pytest.mark.parametrize(("split", "depths"), [("train", 4), ("dev", 4), ("test", 5)])
def test_following_the_links_gives_the_label(split: str, depths: int) -> None:
    pairs = list(generate_split(SETTINGS, split))
    assert [(p.label, p.depth) for p in pairs] == [read(p) for p in pairs]
    counts = Counter((p.label, p.depth) for p in pairs)
    assert set(counts) == {(label, at) for label in LABELS for at in range(1, depths + 1)}
    assert max(counts.values()) - min(counts.values()) <= 1


def test_same_seed_same_pairs_and_no_pair_is_in_two_splits() -> None:
    splits = [[(p.premise, p.hypothesis) for p in generate_split(SETTINGS, s)] for s in
              ("train", "dev", "test", "dev")]  # fmt: skip
    train, dev, test, again = splits
    assert dev == again
    assert len({*train, *dev, *test}) == len(train) + len(dev) + len(test)
    tenths = [{residue(*pair) for pair in split} for split in (train, dev, test)]
    assert sum(map(len, tenths)) == len(set.union(*tenths))  # whatever the seeds, none can be


def test_sentences_apart_tell_neither_label_nor_depth() -> None:
    """A premise has the words of all its hypotheses, as often and as many at every depth."""
    shapes = defaultdict(set)
    for pair in generate_split(SETTINGS, "dev"):
        words = pair.premise.lower().replace(".", "").split()
        thing, room = pair.hypothesis.lower().removesuffix(".").split(" in ")
        shapes[pair.depth].add((pair.label, len(words), words.count(thing), words.count(room)))
    for depth, found in shapes.items():
        named = 1 if depth == 4 else 2  # the first of a chain stands in nothing that is named
        assert found == {(label, 3 * 4 * 3, named, 1) for label in LABELS}


def test_train_has_shorter_chains_and_any_link_and_neither_sentence_tells_the_label() -> None:
    """Per length of chains and kind of hypothesis, words occur alike often under each label."""
    settings = SETTINGS.model_copy(update={"train": 6000})
    counts: dict[tuple[int, bool, bool, int], Counter[str]] = defaultdict(Counter)
    for pair in generate_split(settings, "train"):
        words = pair.premise.lower().replace(".", "").split()
        thing, target = pair.hypothesis.lower().removesuffix(".").split(" in ")
        shape = (len(words) // 9, target in ROOMS, words.count(thing) == 1, pair.depth)
        counts[shape][pair.label] += 1
    assert {links for links, *_ in counts} == {1, 2, 3, 4}
    assert sum(count.total() for (_, room, *_), count in counts.items() if not room) > 200
    for shape, labels in counts.items():
        expected = labels.total() / 3
        far = sum((labels[label] - expected) ** 2 / expected for label in LABELS)
        assert far < 18.4, (shape, labels)  # chi-squared with 2 degrees of freedom: p = 0.0001


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_features_of_words_are_at_chance_at_every_depth() -> None:
    """Those of Bowman et al. 2015: n-grams, pairs of words and of bigrams, lengths, overlap."""
    features = Features(GROUPS, min_count=5)
    settings = Chains(
        seed=5, train=6000, dev=3000, test=1, max_depth=4, beyond=0, stated=0.0, shortest=0.0
    )
    sets = {}
    for split in ("train", "dev"):
        pairs = [tokens(pair) for pair in generate_split(settings, split)]
        rows = features.fit_transform(pairs) if split == "train" else features.transform(pairs)
        sets[split] = Split(rows, np.array([LABELS.index(pair.label) for pair in pairs]))
    found = fit(sets["train"], sets["dev"], regularisation=3.0).predict(sets["dev"].features)
    right, depths = found == sets["dev"].labels, np.array([pair.depth for pair in pairs])
    shares = [right[depths == at].mean() for at in range(1, 5)]
    assert max(shares) < 1 / 3 + 4 * (2 / 9 / 750) ** 0.5, shares


def tokens(pair: Pair) -> TokenPair:
    sentences = (list(tokenise(s, lowercase=True)) for s in (pair.premise, pair.hypothesis))
    return TokenPair(pair.pair_id, pair.label, pair.depth, *sentences)
