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
    """The first pairs of one draw of premises, in the order of the split; all with count 0.

    A premise is drawn with all its pairs but for the last, as if fewer were collected: pairs drawn
    one by one would cover more premises.
    """
    if count == 0 or count >= len(pairs):
        return pairs
    groups = premise_groups(pairs)
    places = torch.randperm(int(groups.max()) + 1, generator=generator("training subset"))
    first = torch.argsort(places[groups], stable=True)[:count]
    return pairs.take(first.sort().values)
