"""Gradients of weights that every inference step uses, formed once after the last step.

Autograd forms such a gradient at each step and adds them up. Here a step's backward pass keeps
only its factors, and one product at the end sums over the steps as well: less memory to stream,
and larger products. Each weight has a handle, an empty sum that all its uses hang on: autograd
calls a handle's backward when every use has given its factors.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from actmodels.modules.linear import Linear, affine

Factors = tuple[Tensor, Tensor]


class _Weights(torch.autograd.Function):
    """The handle of a weight and its bias; its backward makes the products."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor | None, uses: list[Factors]) -> Tensor:
        ctx.uses, ctx.biased = uses, bias is not None
        ctx.shape = weight.shape
        return weight.new_zeros(())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, _: Tensor) -> tuple[Tensor, Tensor | None, None]:
        uses, shape = ctx.uses, ctx.shape
        total: Tensor | None = None
        summed: Tensor | None = None
        # In a pack the last trials may have dropped out of the later steps.
        for trials, group in groupby(uses, key=lambda use: len(use[0]) if len(shape) == 3 else 0):
            inputs, gradients = (torch.cat(parts, dim=-2) for parts in zip(*group, strict=True))
            product = gradients.transpose(-1, -2) @ inputs
            rows = gradients.sum(dim=-2)
            if total is None and trials in (0, shape[0]):
                total, summed = product, rows
                continue
            if total is None or summed is None:
                total, summed = product.new_zeros(shape), rows.new_zeros(shape[:2])
            total[:trials] += product
            summed[:trials] += rows
        uses.clear()
        assert total is not None
        return total, summed if ctx.biased else None, None


class _Apply(torch.autograd.Function):
    """One use of a weight: W x + b, whose backward keeps x and the gradient of the output."""

    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, handle: Tensor, weight: Tensor, bias: Tensor | None, uses: Any
    ) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        ctx.uses = uses
        return affine(inputs, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, None, None, None]:
        inputs, weight = ctx.saved_tensors
        ctx.uses.append((inputs, gradient))
        back = None
        if ctx.needs_input_grad[0]:
            back = gradient @ (weight if weight.dim() == 2 else weight[: len(gradient)])
        return back, gradient.new_zeros(()), None, None, None


class DeferredLinear:
    """A linear layer during one pass over the steps of a batch.

    Its inputs are vectors: [batch, inputs], in a pack [trials, batch, inputs].
    """

    def __init__(self, layer: Linear) -> None:
        self.uses: list[Factors] = []
        self.weight = layer.weight.detach()
        self.bias = None if layer.bias is None else layer.bias.detach()
        handle = _Weights.apply(layer.weight, layer.bias, self.uses)  # type: ignore[no-untyped-call]
        self.handle: Tensor = handle

    def __call__(self, inputs: Tensor) -> Tensor:
        """Map the inputs of one step."""
        applied: Tensor = _Apply.apply(  # type: ignore[no-untyped-call]
            inputs, self.handle, self.weight, self.bias, self.uses
        )
        return applied


@contextmanager
def deferred(modules: Iterable[nn.Module]) -> Iterator[None]:
    """Within this block the linear layers of `modules` form their gradients once.

    The block holds the steps of one forward pass; backward comes after it. Without gradients
    nothing is done.
    """
    layers = [m for module in modules for m in module.modules() if isinstance(m, Linear)]
    try:
        if torch.is_grad_enabled():
            for layer in layers:
                layer.deferred = DeferredLinear(layer)
        yield
    finally:
        for layer in layers:
            layer.deferred = None
