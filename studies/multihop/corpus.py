"""Streamed multi-hop pairs: find the location of a thing by following a chain of facts.

    Jar in bag. Tin in purse. Bag in crate. Purse in sack. Box in drum. Crate in attic. Drum in urn.
    Sack in cellar. Urn in doubt.                              Tin in cellar.

A premise is three chains of facts of equal length, in random order: two end in a room, one in
doubt. A hypothesis places a thing in one of the two rooms: entailment for the room of its chain,
contradiction for the other room, neutral for a thing in doubt. The depth of a pair is the number of
hops from the thing to the end of its chain. For each label and depth a premise has equally many
hypotheses, which differ only in the thing and the room. So no word, pair of words, count or length
predicts the label.
"""

import torch
from torch import Tensor

from actmodels.configs import LABELS
from actmodels.data.pairs import FIRST_WORD, Batch, PairTensors
from actmodels.data.trial_data import WordVectors
from studies.multihop.words import CHAINS, ROOMS, THINGS, WORDS

FIRST_ROOM = FIRST_WORD + len(THINGS)
DOUBT, IN, STOP = (FIRST_WORD + WORDS.index(word) for word in ("doubt", "in", "."))


def shuffled(count: int, size: int, generator: torch.Generator) -> Tensor:
    """Draw permutations of 0 .. size - 1 [count, size]."""
    return torch.argsort(torch.rand(count, size, generator=generator), dim=1)


def draw(hops: Tensor, length: int, generator: torch.Generator) -> Batch:
    """Draw pairs without padding: premises [pairs, 12 · length], hypotheses [pairs, 4].

    Args:
        hops: depth of each pair [pairs], at most `length`.
        length: hops of every chain.
    """
    count, rows = len(hops), torch.arange(len(hops))
    things = FIRST_WORD + shuffled(count, len(THINGS), generator)[:, : CHAINS * length]
    rooms = FIRST_ROOM + shuffled(count, len(ROOMS), generator)[:, : CHAINS - 1]
    ends = torch.cat([rooms, torch.full((count, 1), DOUBT)], dim=1)
    chains = torch.cat([things.view(count, CHAINS, length), ends[..., None]], dim=2)
    facts = torch.stack([chains[..., :-1], chains[..., 1:]], dim=-1).flatten(1, 2)
    order = shuffled(count, CHAINS * length, generator)
    facts = facts.gather(1, order[..., None].expand(-1, -1, 2))
    (first, last), word = facts.unbind(-1), torch.full_like
    premise = torch.stack([first, word(order, IN), last, word(order, STOP)], dim=-1).flatten(1)
    labels = torch.randint(len(LABELS), (count,), generator=generator)
    room = torch.randint(CHAINS - 1, (count,), generator=generator)
    by_label = {"entailment": room, "contradiction": 1 - room, "neutral": 0 * room + CHAINS - 1}
    chain = torch.stack([by_label[label] for label in LABELS])[labels, rows]
    hypothesis = torch.full((count, 4), STOP)
    hypothesis[:, 0] = chains[rows, chain, length - hops]
    hypothesis[:, 1] = IN
    hypothesis[:, 2] = chains[rows, room, length]
    masks = [torch.ones_like(words, dtype=torch.bool) for words in (premise, hypothesis)]
    return Batch(premise, masks[0], hypothesis, masks[1], labels, rows)


def draw_split(pairs: int, max_hops: int, beyond: int, generator: torch.Generator) -> PairTensors:
    """Draw `pairs` of each depth up to max_hops + beyond; chains have max_hops or depth hops."""
    parts = []
    for hops in range(1, max_hops + beyond + 1):
        depths = torch.full((pairs,), hops)
        batch = draw(depths, max(hops, max_hops), generator)
        parts.append((batch.premise, batch.hypothesis, batch.labels, depths))
    premises, hypotheses, labels, all_depths = zip(*parts, strict=True)

    def flat(sentences: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
        lengths = torch.cat([torch.full((len(part),), part.shape[1]) for part in sentences])
        ends = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
        return torch.cat([part.flatten() for part in sentences]).int(), ends

    return PairTensors(*flat(premises), *flat(hypotheses), torch.cat(labels), torch.cat(all_depths))


def word_vectors(dimensions: int) -> WordVectors:
    """Return a vocabulary without pre-trained vectors: each trial draws its own."""
    count = len(WORDS)
    known = torch.zeros(count, dtype=torch.bool)
    return WordVectors(torch.zeros(count, dimensions), known, torch.arange(count), ~known)
