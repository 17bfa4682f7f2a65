"""Batches of a pack: each trial's own examples in the order of its own seed."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from actmodels.data.batching import Batch, collate
from actmodels.data.pairs import FILLER, PairTensors


def shared_batch(batch: Batch, trials: int) -> Batch:
    """The same examples for all trials: views [trials, batch, ...], no copies."""
    return Batch(*(tensor.expand(trials, *tensor.shape) for tensor in batch))


def padded_rows(tensor: Tensor, rows: int, columns: int | None = None, value: int = 0) -> Tensor:
    """A tensor of a batch with more rows, the last one repeated, and with padded columns."""
    if columns is not None:
        tensor = pad(tensor, (0, columns - tensor.shape[1]), value=value)
    missing = rows - len(tensor)
    return (
        torch.cat([tensor, tensor[-1:].expand(missing, *tensor.shape[1:])]) if missing else tensor
    )


def joined_batch(batches: Sequence[Batch]) -> Batch:
    """One batch per trial as one batch of the pack.

    Sentences are padded to the longest; where a trial has fewer examples, its last one is
    repeated with the label FILLER.
    """
    rows = max(len(batch.labels) for batch in batches)
    premise = max(batch.premise.shape[1] for batch in batches)
    hypothesis = max(batch.hypothesis.shape[1] for batch in batches)

    def labels(batch: Batch) -> Tensor:
        return pad(batch.labels, (0, rows - len(batch.labels)), value=FILLER)

    return Batch(
        torch.stack([padded_rows(b.premise, rows, premise) for b in batches]),
        torch.stack([padded_rows(b.premise_mask, rows, premise) for b in batches]),
        torch.stack([padded_rows(b.hypothesis, rows, hypothesis) for b in batches]),
        torch.stack([padded_rows(b.hypothesis_mask, rows, hypothesis) for b in batches]),
        torch.stack([labels(b) for b in batches]),
        torch.stack([padded_rows(b.rows, rows) for b in batches]),
    )


def pack_batches(
    pairs: PairTensors,
    orders: Sequence[Iterator[Tensor]],
    seeds: Sequence[int],
    *,
    null_token: bool,
    device: torch.device,
) -> Iterator[Batch]:
    """The batches of an epoch.

    Args:
        orders: the rows of each batch, one iterator per trial.
        seeds: what each trial's order was drawn with; trials with the same one share theirs.
    """
    if len(set(seeds)) == 1:
        for index in orders[0]:
            batch = collate(pairs, index, null_token=null_token, device=device)
            yield shared_batch(batch, len(seeds))
        return
    for indices in zip(*orders, strict=True):
        yield joined_batch(
            [collate(pairs, index, null_token=null_token, device=device) for index in indices]
        )
