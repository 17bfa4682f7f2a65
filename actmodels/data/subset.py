"""The first so many training pairs of one fixed draw: smaller subsets lie within larger ones."""

from itertools import pairwise

import torch
from torch import Tensor

from actmodels.data.pairs import PairTensors
from actmodels.draws import generator


def premise_groups(pairs: PairTensors) -> Tensor:
    """Which pairs share a premise, as a number for each [pairs]."""
    ids, numbers = pairs.premise_ids.numpy(), dict[bytes, int]()
    places = pairwise(pairs.premise_offsets.tolist())
    found = [numbers.setdefault(ids[a:b].tobytes(), len(numbers)) for a, b in places]
    return torch.tensor(found, dtype=torch.int64)


def subset(pairs: PairTensors, count: int) -> PairTensors:
    """So many pairs, in the order of the split; with 0, or no more than that, the split itself.

    Premises are drawn, whatever the trial's seed, each with all its pairs but for the last: a
    smaller collection has fewer premises and not fewer hypotheses of each, and pairs drawn one by
    one would say more of the world than as many that were collected.
    """
    if count == 0 or count >= len(pairs):
        return pairs
    groups = premise_groups(pairs)
    places = torch.randperm(int(groups.max()) + 1, generator=generator("training subset"))
    first = torch.argsort(places[groups], stable=True)[:count]
    return pairs.take(first.sort().values)
