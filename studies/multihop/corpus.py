"""Streamed multi-hop pairs: find the location of a thing by following a chain of facts.

    Jar in bag. Tin in purse. Bag in crate. Purse in sack. Box in drum. Crate in attic. Drum in urn.
    Sack in cellar. Urn in doubt.                              Tin in cellar.

A premise is three chains of facts of equal length, in random order: two end in a room, one in
doubt. A hypothesis places a thing in one of the two rooms: entailment for the room of its chain,
contradiction for the other room, neutral for a thing in doubt. The depth of a pair is the number of
hops from the thing to the end of its chain. For each label and depth a premise has equally many
hypotheses, which differ only in the thing and the room. So no word, pair of words, count or length
predicts the label.

Two settings make it harder. Further chains end anywhere, and no hypothesis asks about them.
Distractors (*Jar beside crate.*) link the things of a premise at random, and tell no location.
"""

from collections.abc import Iterable

import torch
from torch import Tensor

from actmodels.data.pairs import FIRST_WORD, Batch, PairTensors
from actmodels.data.trial_data import WordVectors
from studies.multihop.config import CorpusConfig
from studies.multihop.words import CHAINS, CLASSES, ROOMS, vocabulary


def chosen(number: int, count: int, size: int, generator: torch.Generator) -> Tensor:
    """Draw `number` different ones of 0 .. size - 1, in random order [count, number]."""
    return torch.rand(count, size, generator=generator).topk(number, largest=False).indices


def shuffled(count: int, size: int, generator: torch.Generator) -> Tensor:
    """Draw permutations of 0 .. size - 1 [count, size]."""
    return chosen(size, count, size, generator)


def draw_facts(
    corpus: CorpusConfig, count: int, length: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Draw the facts of premises.

    Returns:
        The chains that hypotheses ask about, words [count, CHAINS, length + 1]; the links of all
        chains, pairs of words [count, chains · length, 2].
    """
    first_room = FIRST_WORD + corpus.things  # the rooms, then doubt
    doubt = first_room + len(ROOMS)
    things = FIRST_WORD + chosen(corpus.chains * length, count, corpus.things, generator)
    rooms = first_room + chosen(CHAINS - 1, count, len(ROOMS), generator)
    ends = torch.cat([rooms, torch.full((count, 1), doubt)], dim=1)
    if further := corpus.chains - CHAINS:
        anywhere = torch.randint(first_room, doubt + 1, (count, further), generator=generator)
        ends = torch.cat([ends, anywhere], dim=1)
    chains = torch.cat([things.view(count, corpus.chains, length), ends[..., None]], dim=2)
    links = torch.stack([chains[..., :-1], chains[..., 1:]], dim=-1).flatten(1, 2)
    return chains[:, :CHAINS], links


def draw_distractors(things: Tensor, each: int, generator: torch.Generator) -> Tensor:
    """Link each thing [count, things] to `each` others [count, each · things, 2]."""
    count, size = things.shape
    cycles = [things.gather(1, shuffled(count, size, generator)) for _ in range(each)]
    return torch.cat([torch.stack([c, c.roll(1, dims=1)], dim=-1) for c in cycles], dim=1)


def draw(corpus: CorpusConfig, hops: Tensor, length: int, generator: torch.Generator) -> Batch:
    """Draw pairs without padding: premises [pairs, 4 · facts], hypotheses [pairs, 4].

    Args:
        hops: depth of each pair [pairs], at most `length`.
        length: hops of every chain.
    """
    count, rows = len(hops), torch.arange(len(hops))
    words = vocabulary(corpus.things, corpus.distractors)
    ids = {word: FIRST_WORD + number for number, word in enumerate(words)}
    chains, facts = draw_facts(corpus, count, length, generator)
    relation = torch.full(facts.shape[:2], ids["in"])
    if corpus.distractors:
        others = draw_distractors(facts[..., 0], corpus.distractors, generator)
        facts = torch.cat([facts, others], dim=1)
        relation = torch.cat([relation, torch.full(others.shape[:2], ids["beside"])], dim=1)
    order = shuffled(count, facts.shape[1], generator)
    first, last = facts.gather(1, order[..., None].expand(-1, -1, 2)).unbind(-1)
    stop = torch.full_like(order, ids["."])
    premise = torch.stack([first, relation.gather(1, order), last, stop], dim=-1).flatten(1)
    labels = torch.randint(len(CLASSES), (count,), generator=generator)
    room = torch.randint(CHAINS - 1, (count,), generator=generator)
    by_label = {"entailment": room, "contradiction": 1 - room, "neutral": 0 * room + CHAINS - 1}
    chain = torch.stack([by_label[label] for label in CLASSES])[labels, rows]
    hypothesis = torch.full((count, 4), ids["."])
    hypothesis[:, 0] = chains[rows, chain, length - hops]
    hypothesis[:, 1] = ids["in"]
    hypothesis[:, 2] = chains[rows, room, length]
    masks = [torch.ones_like(part, dtype=torch.bool) for part in (premise, hypothesis)]
    return Batch(premise, masks[0], hypothesis, masks[1], labels, rows)


def draw_split(
    corpus: CorpusConfig,
    pairs: int,
    depths: Iterable[int],
    max_hops: int,
    generator: torch.Generator,
) -> PairTensors:
    """Draw `pairs` of each depth; chains have `max_hops` hops, or as many as the depth if more."""
    parts = []
    for hops in depths:
        number = torch.full((pairs,), hops)
        batch = draw(corpus, number, max(hops, max_hops), generator)
        parts.append((batch.premise, batch.hypothesis, batch.labels, number))
    premises, hypotheses, labels, all_depths = zip(*parts, strict=True)

    def flat(sentences: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
        lengths = torch.cat([torch.full((len(part),), part.shape[1]) for part in sentences])
        ends = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
        return torch.cat([part.flatten() for part in sentences]).int(), ends

    label, depth = torch.cat(labels), torch.cat(all_depths)
    return PairTensors(*flat(premises), *flat(hypotheses), label, depth, CLASSES)


def word_vectors(corpus: CorpusConfig, dimensions: int) -> WordVectors:
    """Return a vocabulary without pre-trained vectors: each trial draws its own."""
    count = len(vocabulary(corpus.things, corpus.distractors))
    known = torch.zeros(count, dtype=torch.bool)
    return WordVectors(torch.zeros(count, dimensions), known, torch.arange(count), ~known)
