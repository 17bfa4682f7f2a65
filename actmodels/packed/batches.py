"""Batches of a pack: each trial's own examples in the order of its own seed."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from actmodels.data.pairs import FILLER, Batch


def shared_batch(batch: Batch, trials: int) -> Batch:
    """The same examples for all trials: views [trials, batch, ...], no copies."""
    return batch.each(lambda tensor: tensor.expand(trials, *tensor.shape))


def filled(batch: Batch, rows: int, premise: int, hypothesis: int) -> Batch:
    """The batch with more rows and longer sentences.

    The last example is repeated with the label FILLER; sentences are padded as ever.

    Args:
        batch: [..., batch, ...].
        rows: examples afterwards. premise, hypothesis: tokens afterwards.
    """
    missing = rows - batch.labels.shape[-1]

    def longer(tensor: Tensor, tokens: int) -> Tensor:
        tensor = pad(tensor, (0, tokens - tensor.shape[-1]))
        if not missing:
            return tensor
        last = tensor[..., -1:, :].expand(*tensor.shape[:-2], missing, tokens)
        return torch.cat([tensor, last], dim=-2)

    return Batch(
        longer(batch.premise, premise),
        longer(batch.premise_mask, premise),
        longer(batch.hypothesis, hypothesis),
        longer(batch.hypothesis_mask, hypothesis),
        pad(batch.labels, (0, missing), value=FILLER),
        pad(batch.rows, (0, missing)),
        None if batch.premise_tree is None else longer(batch.premise_tree, premise),
        None if batch.hypothesis_tree is None else longer(batch.hypothesis_tree, hypothesis),
    )


def joined_batch(batches: Sequence[Batch]) -> Batch:
    """One batch per trial as one batch of the pack, each filled up to the largest."""
    rows = max(len(batch.labels) for batch in batches)
    premise = max(batch.premise.shape[1] for batch in batches)
    hypothesis = max(batch.hypothesis.shape[1] for batch in batches)
    same = [filled(batch, rows, premise, hypothesis) for batch in batches]
    parts = zip(*same, strict=True)
    joined = [None if part[0] is None else torch.stack(part) for part in parts]
    return Batch(*joined)  # type: ignore[arg-type]


def pack_batches(own: Sequence[Iterator[Batch]], seeds: Sequence[int]) -> Iterator[Batch]:
    """The batches of an epoch.

    Args:
        own: the batches of each trial.
        seeds: what they were drawn with; trials with the same one share theirs.
    """
    if len(set(seeds)) == 1:
        yield from (shared_batch(batch, len(seeds)) for batch in own[0])
    else:
        yield from (joined_batch(batches) for batches in zip(*own, strict=True))
