"""Deviations of the 2016 code from the paper, each a switch; all off, the model is the paper's."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from actmodels.configs import PublishedAdaptiveAttentionConfig, PublishedConfig
from actmodels.data.pairs import PAD, Batch, PairTensors, batches_by_length
from actmodels.errors import DataError
from actmodels.halting.act import Act
from actmodels.halting.steps import Halted, Steps
from actmodels.models.adaptive_attention import AdaptiveAttention
from actmodels.models.decomposable_attention import DecomposableAttention
from actmodels.models.pair_model import PairModel
from actmodels.modules.attention import SoftAlignment
from actmodels.modules.inference import GateDropout, PairMemory
from actmodels.prediction import Prediction

# All other switches make predictions, or the set of scored pairs, depend on the batches.
BATCH_INDEPENDENT = ("compounding_dropout", "no_ponder_cost")
# Maximum lengths of premise and hypothesis in each bucket, in tokens.
BUCKETS = ((10, 5), (20, 10), (30, 20), (40, 30), (50, 40), (82, 62))


def bucket_numbers(premise: Tensor, hypothesis: Tensor) -> Tensor:
    """Return the first bucket that fits each pair [pairs]; len(BUCKETS) for longer pairs."""
    bounds = torch.tensor(BUCKETS, device=premise.device).T.contiguous()
    return torch.maximum(
        torch.searchsorted(bounds[0], premise), torch.searchsorted(bounds[1], hypothesis)
    )


def rows_by_bucket(pairs: PairTensors) -> list[Tensor]:
    """Return the pair indices of each non-empty bucket, in the order of the split."""
    numbers = bucket_numbers(pairs.premise_offsets.diff(), pairs.hypothesis_offsets.diff())
    return [(numbers == number).nonzero().squeeze(1) for number in numbers.unique().tolist()]


def file_order_batches(
    pairs: PairTensors, batch_size: int, generator: torch.Generator | None
) -> list[Tensor]:
    """Batch the pairs of a bucket in file order; a generator shuffles only whole batches."""
    batches = [batch for rows in rows_by_bucket(pairs) for batch in rows.split(batch_size)]
    if generator is None:
        return batches
    return [batches[n] for n in torch.randperm(len(batches), generator=generator).tolist()]


def incomplete_batches(pairs: PairTensors, batch_size: int) -> Tensor:
    """Return a mask [pairs] of the incomplete last batch of each bucket in file order."""
    incomplete = torch.zeros(len(pairs), dtype=torch.bool)
    for rows in rows_by_bucket(pairs):
        incomplete[rows[len(rows) - len(rows) % batch_size :]] = True
    return incomplete


def without_masks(batch: Batch) -> Batch:
    """Pad to the first bucket that fits the batch, and unmask the padding.

    Longer sentences than the last bucket's are padded to the longest of the batch. The 2016 code
    padded on the left, but neither model reads the order of words. Its padding vectors were drawn
    from N(0, 0.05²) or N(0, 0.01²); here they are zero. A NULL token, absent there, is a token.
    """
    sentences = (batch.premise, batch.hypothesis)
    bucket = int(bucket_numbers(*torch.tensor([[ids.shape[1]] for ids in sentences])))
    lengths = BUCKETS[bucket] if bucket < len(BUCKETS) else (0, 0)
    premise, hypothesis = (
        nn.functional.pad(ids, (0, max(length - ids.shape[1], 0)), value=PAD)
        for ids, length in zip(sentences, lengths, strict=True)
    )
    return batch._replace(
        premise=premise,
        premise_mask=torch.ones_like(premise).bool(),
        hypothesis=hypothesis,
        hypothesis_mask=torch.ones_like(hypothesis).bool(),
    )


class ScrambledAlignment(SoftAlignment):
    """Soft alignment with words of other examples of the batch, as in the 2016 code."""

    def __init__(self, correct: SoftAlignment) -> None:
        nn.Module.__init__(self)  # SoftAlignment's would draw another F
        self.attend = correct.attend

    def summed(self, weights: Tensor, words: Tensor) -> Tensor:
        """Average the words of example (b·T + t) mod B for position t of example b.

        The 2016 code flattened the weights [B, T, tokens] by example (row b·T + t), but tiled the
        words [B, tokens, width] by batch (row r is example r mod B).
        """
        batch, length, tokens = weights.shape
        rows = weights.reshape(length, batch, tokens)  # row r at [r // B, r mod B]
        summed = rows.transpose(0, 1) @ words  # [B, T, width], by example of the words
        return summed.transpose(0, 1).reshape(batch, length, words.shape[2])


def batch_remainder(probabilities: Tensor, epsilon: float) -> Halted:
    """Truncate h_n [batch, steps] as the 2016 code did, with a last step shared by the batch.

    T is the first step at which all examples have reached 1 - epsilon, or the cap. N is an
    example's own last step and c its sum of h_n over n < N. The weight of step n < T is h_n if
    n < N, else 0; that of step T is 1 - c for every example. For an example stopped by the cap, c
    includes h_T but the weights do not, so they sum to 1 - h_T.
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
    """Mixin of the deviations that both models share; precedes the paper's model as a base."""

    fusions = False  # predictions depend on the batch
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
        """Yield the pair indices of each batch.

        In evaluation evaluation_batch_size replaces `batch_size`, if predictions depend on batches.

        Raises:
            DataError: dropped_last_batches drops all pairs.
        """
        switches = self.switches
        if generator is None and self.depends_on_batch:
            batch_size = switches.evaluation_batch_size
        batching = file_order_batches if switches.file_order_batches else batches_by_length
        batches = batching(pairs, batch_size, generator)
        if not switches.dropped_last_batches:
            yield from batches
            return
        dropped = incomplete_batches(pairs, batch_size)
        if bool(dropped.all()):
            raise DataError(
                f"dropped_last_batches drops all {len(pairs)} pairs in batches of {batch_size}; "
                "reduce batch_size and evaluation_batch_size, or set it to false"
            )
        yield from (kept for batch in batches if len(kept := batch[~dropped[batch]]))

    @property
    def depends_on_batch(self) -> bool:
        """Whether predictions, or which pairs are scored, depend on the batches."""
        return any(
            switch is True and name not in BATCH_INDEPENDENT
            for name, switch in vars(self.switches).items()
        )

    def model_input(self, batch: Batch) -> Batch:
        """Return the batch, with no_mask padded to its bucket and unmasked."""
        return without_masks(batch) if self.switches.no_mask else batch


class PublishedDecomposableAttention(PublishedModel, DecomposableAttention):
    """Decomposable Attention with the configured deviations."""

    def forward(self, batch: Batch) -> Prediction:
        return super().forward(self.model_input(batch))


class PublishedAdaptiveAttention(PublishedModel, AdaptiveAttention):
    """Adaptive Attention with the configured deviations."""

    switches: PublishedAdaptiveAttentionConfig
    halting: Act

    def __init__(self, config: PublishedAdaptiveAttentionConfig, *others: Any) -> None:
        super().__init__(config, *others)
        self.halting.adds_ponder_cost = not config.no_ponder_cost

    @property
    def drops_halted(self) -> bool:  # type: ignore[override]
        return not (self.switches.compounding_dropout or self.switches.batch_remainder)

    def encode(self, batch: Batch) -> PairMemory:
        return super().encode(self.model_input(batch))

    def next_step_inputs(
        self, memory: PairMemory, dropout: GateDropout
    ) -> tuple[PairMemory, GateDropout]:
        """With compounding_dropout, apply dropout to the memory again and redraw gate masks.

        After n steps at rate d a unit is kept with probability (1 - d)^n and scaled by (1 - d)^-n.
        """
        if not self.switches.compounding_dropout:
            return super().next_step_inputs(memory, dropout)
        memory = memory._replace(
            premise=self.memory_dropout(memory.premise),
            hypothesis=self.memory_dropout(memory.hypothesis),
        )
        _, dropout = self.step.start(memory)
        return memory, dropout

    def answer(self, steps: Steps) -> Prediction:
        if not self.switches.batch_remainder:
            return super().answer(steps)
        assert isinstance(self.halting.epsilon, float)
        halted = batch_remainder(steps.probabilities, self.halting.epsilon)
        logits = self.classify(steps.mean(halted.weights))
        return Prediction(logits, halted.steps, halted.ponder_cost, halted.weights)

    @property
    def ponder_weight(self) -> float | Tensor | None:
        return None if self.switches.no_ponder_cost else super().ponder_weight
