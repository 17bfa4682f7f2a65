"""Output of a model, and its losses, with a mean per trial, which torch's losses lack."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import torch
from torch import Tensor
from torch.nn.functional import nll_loss

from actmodels.data.pairs import FILLER
from actmodels.modules.linear import at_least_float32, from_left

Loss = Callable[[Tensor, Any], Tensor]  # outputs and targets to the loss of each example
Reduction = Literal["mean", "sum", "none"]


class Prediction(NamedTuple):
    """Predictions for a batch; all fields but `logits` are None for a model without halting.

    batch: all leading dimensions, such as sentences, tokens and time.

    logits: [batch, classes].
    steps: number of inference steps N [batch].
    ponder_cost: [batch]; for ACT N + R. None where steps cost nothing.
    weights: weight of each step [batch, steps], sum 1.
    step_logits: logits of each state alone [batch, steps, labels], if training needs them.
    state: the classified state [batch, state]; None for mechanisms that mix answers.
    probabilities: what halting read of each step [batch, steps], if training needs it.
    """

    logits: Tensor
    steps: Tensor | None = None
    ponder_cost: Tensor | None = None
    weights: Tensor | None = None
    step_logits: Tensor | None = None
    state: Any = None
    probabilities: Tensor | None = None


def concatenated(outputs: Iterable[Sequence[Tensor | None]]) -> list[Tensor | None]:
    """Concatenate outputs of batches: of each its logits, and values [batch] or None."""
    parts = zip(*outputs, strict=True)
    return [
        None if part[0] is None else torch.cat(part, dim=-1 if number else -2)
        for number, part in enumerate(parts)
    ]


def require_labels(labels: Tensor, batch: torch.Size) -> None:
    """Raise ValueError unless there is an integer for each example."""
    if labels.shape != batch or labels.is_floating_point():
        raise ValueError(
            f"targets are {labels.dtype} {list(labels.shape)}; expected the label of each example, "
            f"integers {list(batch)}; for other targets pass loss=, a function"
        )


def label_losses(logs: Tensor, labels: Tensor, ignore_index: int = FILLER) -> Tensor:
    """Return -log P(label) of each example [...], 0 for `ignore_index`; logs: [..., labels].

    Raises:
        ValueError: the labels are no integers of this shape, or out of range.
    """
    require_labels(labels, logs.shape[:-1])
    rows, options = logs.reshape(labels.numel(), logs.shape[-1]), labels.flatten().long()
    try:
        losses = nll_loss(rows, options, ignore_index=ignore_index, reduction="none")
        return losses.view(labels.shape)
    except (IndexError, RuntimeError) as error:
        if "out of bounds" not in str(error):
            raise
    raise ValueError(
        f"targets go from {int(labels.min())} to {int(labels.max())}; expected 0 to "
        f"{logs.shape[-1] - 1}, or ignore_index, which is {ignore_index}"
    )


def cross_entropies(logits: Tensor, labels: Tensor, ignore_index: int = FILLER) -> Tensor:
    """Return the cross-entropy of each example in nats [...]; logits: [..., labels]."""
    return label_losses(torch.log_softmax(at_least_float32(logits), dim=-1), labels, ignore_index)


class Criterion(NamedTuple):
    """Targets of a batch, how outputs are compared with them, and which examples count."""

    targets: Any  # labels [batch], or the targets of `loss`
    loss: Loss | None = None  # None: cross-entropy
    ignore_index: int = FILLER  # integer target of the examples that do not count
    fused: bool = False  # [trials, batch], with a mean per trial
    mask: Tensor | None = None  # which examples count [batch]
    weights: Tensor | None = None  # of each example [batch]
    reduction: Reduction = "mean"

    def checked(self, batch: torch.Size) -> "Criterion":
        """Return this criterion.

        Raises:
            ValueError: mask or weights do not fit the leading dimensions of the batch.
        """
        for name, part in (("mask", self.mask), ("weights", self.weights)):
            if part is None:
                continue
            if part.shape != batch[: part.dim()] or (batch and not part.dim()):
                raise ValueError(
                    f"{name} is {list(part.shape)}; expected leading dimensions of the examples, "
                    f"{list(batch)}"
                )
            if (part.dtype == torch.bool) != (name == "mask"):
                expected = "bool, true where an example counts" if name == "mask" else "numbers"
                raise ValueError(f"{name} is {part.dtype}; expected {expected}")
        if self.reduction not in get_args(Reduction):
            raise ValueError(
                f"reduction is {self.reduction!r}; expected one of {get_args(Reduction)}"
            )
        return self

    def losses(self, outputs: Tensor) -> Tensor:
        """Return the loss of each example [batch]; outputs: [batch, outputs]."""
        if self.loss is None:
            return cross_entropies(outputs, self.targets, self.ignore_index)
        losses = self.loss(outputs, self.targets)
        batch = outputs.shape[:-1]
        if losses.shape != batch[: losses.dim()] or (batch and not losses.dim()):
            raise ValueError(
                f"loss returned {list(losses.shape)}; expected a value for each example, "
                f"{list(batch)}: use reduction='none', and average over other dimensions"
            )
        return at_least_float32(losses)

    def step_losses(self, prediction: Prediction) -> Tensor:
        """Return the loss of each state alone [batch, steps].

        Raises:
            ValueError: the loss pools examples, which have steps of their own.
        """
        outputs = prediction.step_logits
        assert outputs is not None
        if self.loss is not None:
            losses = [self.losses(one) for one in outputs.unbind(-2)]
            if losses[0].dim() < outputs.dim() - 2:
                raise ValueError(
                    f"loss returned {list(losses[0].shape)}; this mechanism weights the loss of "
                    f"each step of each example, {list(outputs.shape[:-2])}: pool in `classify`, "
                    "with batch_dims for the pooled examples, or use ACT, DACT or fixed steps"
                )
            return torch.stack(losses, dim=-1)
        require_labels(self.targets, outputs.shape[:-2])
        labels = self.targets[..., None].expand(outputs.shape[:-1])
        return cross_entropies(outputs, labels, self.ignore_index)

    def counting(self, values: Tensor) -> Tensor:
        """Return which values [batch] count, bool."""
        real, targets = torch.ones_like(values, dtype=torch.bool), self.targets
        labels = isinstance(targets, Tensor) and not targets.is_floating_point()
        if labels and targets.shape == values.shape[: targets.dim()]:
            # Sentences with labels may have values of tokens.
            real = from_left(targets != self.ignore_index, values).expand_as(values)
        if self.mask is not None:
            # A mask of tokens, where values are those of sentences.
            inner = self.mask.dim() > values.dim()
            mask = self.mask.flatten(values.dim()).any(-1) if inner else self.mask
            real = real & from_left(mask, values)
        return real

    def weighted(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Return the weighted values, and their weights, 0 where a value does not count [batch]."""
        real = self.counting(values)
        if self.weights is None:
            return torch.where(real, values, 0.0), real
        if self.weights.dim() > values.dim():
            raise ValueError(
                f"weights are {list(self.weights.shape)}, and losses {list(values.shape)}; "
                "expected a weight of each loss"
            )
        shares = torch.where(real, from_left(self.weights, values).to(values.dtype), 0.0)
        return torch.where(real, values, 0.0) * shares, shares

    def mean(self, values: Tensor) -> Tensor:
        """Average [batch] over the examples that count []; 0 if there are none."""
        total, shares = self.weighted(values)
        if not self.fused:
            total, shares = total.flatten(), shares.flatten()
        count = shares.sum(dim=-1)
        least = 1 if self.weights is None else torch.finfo(values.dtype).tiny
        return total.sum(dim=-1) / count.clamp(min=least)

    def reduce(self, values: Tensor, like: Tensor | None = None) -> Tensor:
        """Return the mean [], the sum [], or the value of each example [batch].

        like: losses per example; values of the parts of one are averaged.
        """
        if self.reduction == "mean":
            return self.mean(values)
        total, shares = self.weighted(values)
        dims = values.dim() if like is None else like.dim()
        if values.dim() > dims:
            count = shares.to(values.dtype).flatten(dims).sum(-1)
            total = total.flatten(dims).sum(-1) / count.clamp(min=torch.finfo(values.dtype).tiny)
        if self.reduction == "none":
            return total
        return total.sum(dim=-1) if self.fused else total.sum()
