"""From a network's outputs to losses and decisions: one or several classifications at a time."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True)
class Outputs:
    """The output layer of a task.

    heads: simultaneous classifications. classes: of each; two are a single sigmoid unit.
    """

    heads: int
    classes: int

    @property
    def size(self) -> int:
        """Units of the layer."""
        return self.heads * (1 if self.classes == 2 else self.classes)

    def losses(self, logits: Tensor, targets: Tensor) -> Tensor:
        """Joint cross-entropy of all heads in nats [...].

        Args:
            logits: [..., size]. targets: [..., heads].
        """
        if self.classes == 2:
            of_heads = functional.binary_cross_entropy_with_logits(
                logits, targets.to(logits.dtype), reduction="none"
            )
        else:
            scores = torch.log_softmax(self.by_head(logits), dim=-1)
            of_heads = -scores.gather(-1, targets[..., None]).squeeze(-1)
        return of_heads.sum(dim=-1)

    def decisions(self, logits: Tensor) -> Tensor:
        """The likeliest class of each head [..., heads]."""
        if self.classes == 2:
            return (logits > 0).long()
        return self.by_head(logits).argmax(dim=-1)

    def by_head(self, logits: Tensor) -> Tensor:
        """Logits [..., heads, classes] of softmax heads."""
        return logits.view(*logits.shape[:-1], self.heads, self.classes)
