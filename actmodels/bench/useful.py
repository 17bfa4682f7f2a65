"""The matrix arithmetic that training on an example needs: no padding, no step after its own end.

Two floating-point operations for each multiply-add of a matrix product; what is done element by
element (sigmoids, softmax, dropout, the optimiser) is left out, here and where operations are
counted. Per example with p premise and h hypothesis tokens and N steps, width d, memory m = 2d,
state s, gate g and vectors of e dimensions, multiply-adds forward:

    words       (p + h) · e · d             their projection
    alignment   (p + h) · 2d² + 3 · p · h · d    two layers of F; scores, and both sums
    step        s · m + (s + m) · m         the two queries
                + 2 · (p + h) · m           scores and sums of both attentions
                + 2 · ((s + 3m) · g + g · m)     the two gates
                + 3 · s · (2m + s)          the GRU
                + s                         the halting unit
    answer      N · s + 3 · s               the mean state, and the classifier's three classes

Backward, a product of two factors that are both trained through costs twice as much again; one
with a constant factor costs as much again. The constant factors are the frozen vectors, and the
first state, which is zero, in the first query.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from actmodels.config import TrialConfig
from actmodels.data.labels import LABELS
from actmodels.settings import AdaptiveAttentionConfig


@dataclass(frozen=True)
class Shape:
    """The sizes that the formula names."""

    vectors: int
    width: int
    state: int
    gate: int

    @classmethod
    def of(cls, config: TrialConfig, dimensions: int) -> "Shape":
        """The shape of an Adaptive Attention trial on vectors of so many dimensions."""
        network = config.network
        assert isinstance(network, AdaptiveAttentionConfig)
        return cls(dimensions, network.width, network.state_size, network.gate_size)


def useful_flops(shape: Shape, premise: Tensor, hypothesis: Tensor, steps: Tensor) -> Tensor:
    """Operations of one training pass, forward and backward, for each example.

    Args:
        premise, hypothesis: tokens [examples]. steps: N [examples].

    Returns:
        float64 [examples].
    """
    p, h, n = (values.to(torch.float64) for values in (premise, hypothesis, steps))
    e, d, s, g = shape.vectors, shape.width, shape.state, shape.gate
    m = 2 * d
    words = (p + h) * e * d
    alignment = (p + h) * 2 * d**2 + 3 * p * h * d
    first_query = s * m
    others = (s + m) * m + 2 * ((s + 3 * m) * g + g * m) + 3 * s * (2 * m + s) + s
    step = first_query + others + 2 * (p + h) * m
    answer = n * s + len(LABELS) * s
    return 2 * (2 * words + 3 * (alignment + n * step + answer) - first_query)
