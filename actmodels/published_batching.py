"""How the 2016 code made batches: buckets, file order, no masks, incomplete batches left out."""

from collections.abc import Iterator

import torch
from torch import Tensor

from actmodels.data.pairs import PAD, Batch, PairTensors, batches_by_length
from actmodels.errors import DataError
from actmodels.settings import PublishedConfig

# Tokens of the longest premise and the longest hypothesis of each bucket.
BUCKETS = ((10, 5), (20, 10), (30, 20), (40, 30), (50, 40), (82, 62))


def bucket_numbers(premise: Tensor, hypothesis: Tensor) -> Tensor:
    """The first bucket that holds both of each pair's lengths [pairs]; one more for longer ones."""
    bounds = torch.tensor(BUCKETS, device=premise.device).T.contiguous()
    return torch.maximum(
        torch.searchsorted(bounds[0], premise), torch.searchsorted(bounds[1], hypothesis)
    )


def rows_by_bucket(pairs: PairTensors) -> list[Tensor]:
    """The rows of each bucket that is not empty, in the order of the split, longer pairs last."""
    numbers = bucket_numbers(pairs.premise_offsets.diff(), pairs.hypothesis_offsets.diff())
    return [(numbers == number).nonzero().squeeze(1) for number in numbers.unique().tolist()]


def file_order_batches(
    pairs: PairTensors, batch_size: int, generator: torch.Generator | None
) -> list[Tensor]:
    """Neighbours in a bucket are always batch mates; a generator shuffles the batches alone."""
    batches = [batch for rows in rows_by_bucket(pairs) for batch in rows.split(batch_size)]
    if generator is None:
        return batches
    return [batches[n] for n in torch.randperm(len(batches), generator=generator).tolist()]


def rows_left_out(pairs: PairTensors, batch_size: int) -> Tensor:
    """True [pairs] for each bucket's incomplete last batch in file order, as in the 2016 code."""
    left_out = torch.zeros(len(pairs), dtype=torch.bool)
    for rows in rows_by_bucket(pairs):
        left_out[rows[len(rows) - len(rows) % batch_size :]] = True
    return left_out


def published_batches(
    switches: PublishedConfig,
    pairs: PairTensors,
    batch_size: int,
    generator: torch.Generator | None,
) -> Iterator[Tensor]:
    """Rows of each batch, in training with a generator; DataError where no pair is left."""
    make = file_order_batches if switches.file_order_batches else batches_by_length
    batches = make(pairs, batch_size, generator)
    if not switches.dropped_last_batches:
        yield from batches
        return
    left_out = rows_left_out(pairs, batch_size)
    if bool(left_out.all()):
        raise DataError(
            f"dropped_last_batches leaves none of {len(pairs)} pairs in batches of {batch_size}; "
            "make batch_size and evaluation_batch_size smaller, or set it to false"
        )
    yield from (kept for batch in batches if len(kept := batch[~left_out[batch]]))


def without_masks(batch: Batch) -> Batch:
    """Pad to the first bucket that holds the batch, and pass every pad off as a token.

    Sentences longer than the last bucket are padded to the longest alone. The 2016 code padded on
    the left, where neither model reads the order of words; its pads were draws from N(0, 0.05²) or
    N(0, 0.01²), here zeros. A NULL token, unknown there, counts as a token.
    """
    sizes = torch.tensor([[batch.premise.shape[1]], [batch.hypothesis.shape[1]]])
    bucket = int(bucket_numbers(*sizes))
    longest = BUCKETS[bucket] if bucket < len(BUCKETS) else (0, 0)

    def padded(ids: Tensor, length: int) -> Tensor:
        missing = max(length - ids.shape[1], 0)
        return torch.nn.functional.pad(ids, (0, missing), value=PAD)

    premise, hypothesis = padded(batch.premise, longest[0]), padded(batch.hypothesis, longest[1])
    masks = (torch.ones_like(premise).bool(), torch.ones_like(hypothesis).bool())
    return Batch(premise, masks[0], hypothesis, masks[1], *batch[4:])
