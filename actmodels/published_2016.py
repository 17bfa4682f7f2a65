"""The 2016 code's deviations from the paper, each a switch; with all off, models are correct."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from actmodels.configs import PublishedAdaptiveAttentionConfig, PublishedConfig
from actmodels.data.pairs import PAD, Batch, PairTensors, batches_by_length
from actmodels.errors import DataError
from actmodels.halting.act import Act
from actmodels.halting.base import Halted
from actmodels.models.adaptive_attention import AdaptiveAttention
from actmodels.models.decomposable_attention import DecomposableAttention
from actmodels.models.pair_model import PairModel
from actmodels.modules.attention import SoftAlignment, weighted_mean
from actmodels.modules.inference import GateDropout, PairMemory
from actmodels.prediction import Prediction, mean_cross_entropy

MIXING = (
    *("scrambled_alignment", "no_mask", "file_order_batches", "dropped_last_batches"),
    "batch_remainder",
)
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
    both = (batch.premise, batch.hypothesis)
    bucket = int(bucket_numbers(*torch.tensor([[ids.shape[1]] for ids in both])))
    longest = BUCKETS[bucket] if bucket < len(BUCKETS) else (0, 0)
    missing = [max(size - ids.shape[1], 0) for size, ids in zip(longest, both, strict=True)]
    sides = (nn.functional.pad(i, (0, n), value=PAD) for i, n in zip(both, missing, strict=True))
    premise, hypothesis = sides
    return batch._replace(
        premise=premise,
        premise_mask=torch.ones_like(premise).bool(),
        hypothesis=hypothesis,
        hypothesis_mask=torch.ones_like(hypothesis).bool(),
    )


class ScrambledAlignment(SoftAlignment):
    """Soft alignment with the words of other examples of the batch, as in the 2016 code."""

    def __init__(self, correct: SoftAlignment) -> None:
        nn.Module.__init__(self)  # SoftAlignment's would draw an F of its own
        self.attend = correct.attend

    def summed(self, weights: Tensor, words: Tensor) -> Tensor:
        """Sum words by the weights of other examples: (b, t) sees example (b·T + t) mod B.

        The 2016 code laid the weights [B, T, tokens] out example by example (row b·T + t) and
        repeated the words [B, tokens, width] batch by batch (row r holds example r mod B).
        """
        batch, length, tokens = weights.shape
        rows = weights.reshape(length, batch, tokens)  # row r at [r // B, r mod B]
        summed = rows.transpose(0, 1) @ words  # [B, T, width], all rows of one example's words
        return summed.transpose(0, 1).reshape(batch, length, words.shape[2])


def batch_remainder(probabilities: Tensor, epsilon: float) -> Halted:
    """ACT as the 2016 code computed it for a batch, of h_n [batch, steps], the last a cap.

    T is the first step at which no example is below 1 - epsilon; c sums an example's h_n over the
    steps before its own last step N. Step n < T weighs h_n if n < N and 0 otherwise, N included;
    step T weighs 1 - c for every example. An example that the cap stops has h_T in c but not in
    its weights, which sum to 1 - h_T.
    """
    count = probabilities.shape[1]
    below = torch.cumsum(probabilities, dim=1) < 1 - epsilon  # steps before N
    counted = probabilities * below
    numbers = torch.arange(count, device=probabilities.device)
    last = below.any(dim=0).sum().clamp(max=count - 1)  # T, counted from 0
    remainder = 1 - counted.sum(dim=1)
    weights = torch.where(numbers < last, counted, remainder[:, None] * (numbers == last))
    steps = (below.sum(dim=1) + 1).clamp(max=count)
    return Halted(weights, steps.to(probabilities.dtype), remainder)


class PublishedModel(PairModel):
    """The part that both models share; a base in front of the correct model's class."""

    fusions = False  # examples of a batch mix
    switches: PublishedConfig
    alignment: SoftAlignment

    def __init__(self, config: PublishedConfig, *others: Any) -> None:
        super().__init__(config, *others)
        self.switches = config
        if config.scrambled_alignment:
            self.alignment = ScrambledAlignment(self.alignment)

    def batches(
        self, pairs: PairTensors, batch_size: int, generator: torch.Generator | None = None
    ) -> Iterator[Tensor]:
        """Rows of each batch; `batch_size` is not that of an evaluation where mates matter."""
        evaluation = generator is None and self.mates_matter
        size = self.switches.evaluation_batch_size if evaluation else batch_size
        return published_batches(self.switches, pairs, size, generator)

    @property
    def mates_matter(self) -> bool:
        """Which pairs are scored, or how, depends on the batches."""
        return any(getattr(self.switches, name, False) for name in MIXING)

    def seen(self, batch: Batch) -> Batch:
        """The batch with or without its masks."""
        return without_masks(batch) if self.switches.no_mask else batch


class PublishedDecomposableAttention(PublishedModel, DecomposableAttention):
    """Decomposable Attention with the deviations its configuration asks for."""

    def forward(self, batch: Batch) -> Prediction:
        return super().forward(self.seen(batch))


class PublishedAdaptiveAttention(PublishedModel, AdaptiveAttention):
    """Adaptive Attention with the deviations its configuration asks for."""

    switches: PublishedAdaptiveAttentionConfig
    halting: Act

    @property
    def always_plain(self) -> bool:  # type: ignore[override]
        return self.switches.compounding_dropout or self.switches.batch_remainder

    def memories(self, batch: Batch) -> PairMemory:
        return super().memories(self.seen(batch))

    def next_step_inputs(
        self, memories: PairMemory, dropout: GateDropout
    ) -> tuple[PairMemory, GateDropout]:
        """With compounding_dropout, each step drops the memory and redraws the gates' masks.

        After n steps at rate d a unit survives with probability (1 - d)^n, scaled by (1 - d)^-n.
        """
        if not self.switches.compounding_dropout:
            return super().next_step_inputs(memories, dropout)
        memories = memories._replace(
            premise=self.memory_dropout(memories.premise),
            hypothesis=self.memory_dropout(memories.hypothesis),
        )
        _, dropout = self.step.start(memories)
        return memories, dropout

    def answer(self, states: Tensor, probabilities: Tensor) -> Prediction:
        if not self.switches.batch_remainder:
            return super().answer(states, probabilities)
        assert isinstance(self.halting.epsilon, float)
        halted = batch_remainder(probabilities, self.halting.epsilon)
        logits = self.classify(weighted_mean(states, halted.weights))
        return Prediction(logits, halted.steps, halted.ponder_cost, halted.weights)

    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """With no_ponder_cost, the mean cross-entropy; ponder_weight is then not read."""
        if self.switches.no_ponder_cost:
            return mean_cross_entropy(prediction.logits, labels)
        return super().objective(prediction, labels)

    @property
    def ponder_weight(self) -> float | Tensor | None:
        return None if self.switches.no_ponder_cost else super().ponder_weight
