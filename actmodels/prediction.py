"""Output of a model, and its losses, with a mean per trial, which torch's losses lack."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import nll_loss

from actmodels.data.pairs import FILLER
from actmodels.precision import at_least_float32

Loss = Callable[[Tensor, Tensor], Tensor]  # outputs and targets to the loss of each example


class Prediction(NamedTuple):
    """Predictions for a batch; all fields but `logits` are None for a model without halting.

    batch: all leading dimensions, such as sentences, tokens and time.

    logits: [batch, classes].
    steps: number of inference steps N [batch].
    ponder_cost: [batch]; for ACT N + R. None where steps cost nothing.
    weights: weight of each step [batch, steps], sum 1.
    step_logits: logits of each state alone [batch, steps, labels], if training needs them.
    state: the classified state [batch, state]; None for mechanisms that mix answers.
    """

    logits: Tensor
    steps: Tensor | None = None
    ponder_cost: Tensor | None = None
    weights: Tensor | None = None
    step_logits: Tensor | None = None
    state: Any = None


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
    """Targets of a batch, and how outputs are compared with them."""

    targets: Tensor  # labels [batch], or the targets of `loss`
    loss: Loss | None = None  # None: cross-entropy
    ignore_index: int = FILLER  # integer target of the examples that do not count
    fused: bool = False  # [trials, batch], with a mean per trial

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
        """Return the loss of each state alone [batch, steps]."""
        outputs = prediction.step_logits
        assert outputs is not None
        if self.loss is not None:
            return torch.stack([self.losses(one) for one in outputs.unbind(-2)], dim=-1)
        require_labels(self.targets, outputs.shape[:-2])
        labels = self.targets[..., None].expand(outputs.shape[:-1])
        return cross_entropies(outputs, labels, self.ignore_index)

    def mean(self, values: Tensor) -> Tensor:
        """Average [batch] over the examples that count []; 0 if there are none."""
        targets = self.targets
        if targets.is_floating_point() or targets.shape != values.shape[: targets.dim()]:
            real = torch.ones_like(values, dtype=torch.bool)
        else:
            real = targets != self.ignore_index
            inner = values.dim() - real.dim()  # sentences with labels, values of tokens
            real = real.reshape(*real.shape, *(1,) * inner).expand_as(values) if inner else real
        if not self.fused:
            values, real = values.flatten(), real.flatten()
        return torch.where(real, values, 0.0).sum(dim=-1) / real.sum(dim=-1).clamp(min=1)
