"""Which pairs an epoch trains on: shallow ones first, where depth is recorded and this is asked."""

import torch
from torch import Tensor

from actmodels.data.pairs import PairTensors


def epoch_pairs(pairs: PairTensors, depth_epochs: int, epoch: int) -> PairTensors:
    """As many pairs as the split has, of the depths that have joined by this epoch.

    Half of them are of the depth that joined last, until all have: then it is the split itself.

    Args:
        depth_epochs: epochs at each depth before the next joins; 0: all join at once.
        epoch: counted from 1.
    """
    if depth_epochs == 0:
        return pairs
    depth = 1 + (epoch - 1) // depth_epochs
    if depth >= int(pairs.depths.max()):
        return pairs
    newest = torch.nonzero(pairs.depths == depth).flatten()
    joined = torch.nonzero(pairs.depths <= depth).flatten()
    half = len(pairs) // 2
    return pairs.take(torch.cat([cycled(newest, half), cycled(joined, len(pairs) - half)]))


def cycled(rows: Tensor, count: int) -> Tensor:
    """The first `count` of these rows again and again."""
    return rows.repeat(-(-count // len(rows)))[:count]
