"""The inference steps of one batch, written out with their derivatives.

The equations are those of `actmodels.modules.inference.InferenceStep`, the plain form, which
tests hold this one to. Autograd would form the gradient of every weight at every step and add
them up, and so for both memories. Here the backward pass of a step keeps only the factors of
those gradients, and one product at the end sums over the steps as well: less memory to stream,
larger products, fewer operations. A handle stands for each weight and memory in autograd's graph;
its backward comes after those of all steps.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from actmodels.modules.linear import affine
from actmodels.modules.memory import Memory

aten = torch.ops.aten
Factors = tuple[Tensor, Tensor]


class Weight(NamedTuple):
    """A weight that all steps use, without its place in autograd's graph.

    uses: the inputs and the gradients of the outputs of each step.
    """

    matrix: Tensor
    bias: Tensor
    uses: list[Factors]

    def __call__(self, inputs: Tensor) -> Tensor:
        """W x + b."""
        return affine(inputs, self.matrix, self.bias)

    def back(self, inputs: Tensor, gradient: Tensor) -> Tensor:
        """Keep the factors, and give the gradient of the inputs."""
        self.uses.append((inputs, gradient))
        matrix = self.matrix
        return gradient @ (matrix if matrix.dim() == 2 else matrix[: len(gradient)])


class _WeightHandle(torch.autograd.Function):
    """Stands for a weight and its bias; its backward makes the products."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, bias: Tensor, uses: list[Factors]) -> Tensor:
        ctx.uses, ctx.shape = uses, matrix.shape
        return matrix.new_zeros(())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, _: Tensor) -> tuple[Tensor, Tensor, None]:
        uses, shape = ctx.uses, ctx.shape
        packed = len(shape) == 3
        matrix = bias = None
        # In a pack the last trials may have dropped out of the later steps, the first ones here.
        for trials, group in groupby(uses, key=lambda use: len(use[0]) if packed else 0):
            inputs, gradients = (torch.cat(parts, dim=-2) for parts in zip(*group, strict=True))
            product, total = gradients.transpose(-1, -2) @ inputs, gradients.sum(dim=-2)
            if packed and trials < shape[0]:
                missing = (0, 0, 0, 0, 0, shape[0] - trials)
                product = torch.nn.functional.pad(product, missing)
                total = torch.nn.functional.pad(total, missing[2:])
            matrix = product if matrix is None else matrix.add_(product)
            bias = total if bias is None else bias.add_(total)
        uses.clear()
        assert matrix is not None and bias is not None
        return matrix, bias, None


class Weights(NamedTuple):
    """The weights of a step, the hidden layers of its two gates side by side."""

    hypothesis_query: Weight
    premise_query: Weight
    hidden: Weight
    premise_gate: Weight
    hypothesis_gate: Weight
    gru: Weight
    candidate: Weight


class _Kept(NamedTuple):
    """What a step's backward pass needs of its forward pass, besides the memories."""

    state: Tensor
    hypothesis_query: Tensor
    hypothesis_weights: Tensor
    hypothesis: Tensor
    premise_query: Tensor
    premise_weights: Tensor
    premise: Tensor
    gate_inputs: Tensor
    hidden: Tensor
    premise_gate: Tensor
    hypothesis_gate: Tensor
    gated: Tensor
    reset: Tensor
    update: Tensor
    candidate: Tensor


class _Step(torch.autograd.Function):
    """One step: state to next state."""

    @staticmethod
    def forward(
        ctx: Any, state: Tensor, handle: Tensor, steps: "OnePass", dropout: Sequence[Tensor]
    ) -> Tensor:
        weights = steps.weights
        inputs_mask, hidden_mask = dropout
        hypothesis_query = weights.hypothesis_query(state)
        hypothesis, hypothesis_weights = steps.hypothesis.look(hypothesis_query)
        premise_query = weights.premise_query(torch.cat([state, hypothesis], -1))
        premise, premise_weights = steps.premise.look(premise_query)
        seen = torch.cat([state, hypothesis, premise, premise * hypothesis], -1)
        gate_inputs = seen * inputs_mask
        hidden = weights.hidden(gate_inputs).relu_().mul_(hidden_mask)
        for_premise, for_hypothesis = hidden.chunk(2, -1)
        premise_gate = weights.premise_gate(for_premise).sigmoid_()
        hypothesis_gate = weights.hypothesis_gate(for_hypothesis).sigmoid_()
        gated = torch.cat([premise_gate * premise, hypothesis_gate * hypothesis], -1)
        gates = weights.gru(torch.cat([gated, state], -1)).sigmoid_()
        reset, update = gates.chunk(2, -1)
        candidate = weights.candidate(torch.cat([gated, reset * state], -1)).tanh_()
        kept = _Kept(
            state,
            hypothesis_query,
            hypothesis_weights,
            hypothesis,
            premise_query,
            premise_weights,
            premise,
            gate_inputs,
            hidden,
            premise_gate,
            hypothesis_gate,
            gated,
            reset,
            update,
            candidate,
        )
        ctx.save_for_backward(*kept, inputs_mask, hidden_mask)
        ctx.weights, ctx.memories = weights, (steps.hypothesis, steps.premise)
        return torch.lerp(candidate, state, update)  # u s + (1 - u) c

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        *saved, inputs_mask, hidden_mask = ctx.saved_tensors
        weights: Weights = ctx.weights
        hypothesis_memory, premise_memory = ctx.memories
        k = _Kept(*saved)
        to_state, to_gated = _gru_backward(weights, k, gradient)
        to_premise, to_hypothesis = to_gated.chunk(2, -1)
        into_premise = weights.premise_gate.back(
            k.hidden.chunk(2, -1)[0], aten.sigmoid_backward(to_premise * k.premise, k.premise_gate)
        )
        into_hypothesis = weights.hypothesis_gate.back(
            k.hidden.chunk(2, -1)[1],
            aten.sigmoid_backward(to_hypothesis * k.hypothesis, k.hypothesis_gate),
        )
        to_hidden = torch.cat([into_premise, into_hypothesis], -1).mul_(hidden_mask)
        to_hidden = aten.threshold_backward(to_hidden, k.hidden, 0)
        to_inputs = weights.hidden.back(k.gate_inputs, to_hidden).mul_(inputs_mask)
        size, memory = k.state.shape[-1], k.premise.shape[-1]
        parts = to_inputs.split([size, memory, memory, memory], -1)
        from_inputs, to_both = parts[0], parts[3]
        to_state.add_(from_inputs)
        to_premise = torch.addcmul(parts[2], to_premise, k.premise_gate)
        to_premise.addcmul_(to_both, k.hypothesis)
        to_hypothesis = torch.addcmul(parts[1], to_hypothesis, k.hypothesis_gate)
        to_hypothesis.addcmul_(to_both, k.premise)
        to_query = premise_memory.back(k.premise_query, k.premise_weights, to_premise)
        both = torch.cat([k.state, k.hypothesis], -1)
        into_state, into_hypothesis = weights.premise_query.back(both, to_query).split(
            [size, memory], -1
        )
        to_state.add_(into_state)
        to_hypothesis.add_(into_hypothesis)
        to_query = hypothesis_memory.back(k.hypothesis_query, k.hypothesis_weights, to_hypothesis)
        to_state.add_(weights.hypothesis_query.back(k.state, to_query))
        return to_state, to_state.new_zeros(()), None, None


def _gru_backward(weights: Weights, k: _Kept, gradient: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of the state and of the gated memories through the GRU's update."""
    to_candidate = aten.tanh_backward(
        torch.addcmul(gradient, gradient, k.update, value=-1), k.candidate
    )
    inputs = torch.cat([k.gated, k.reset * k.state], -1)
    sizes = [k.gated.shape[-1], k.state.shape[-1]]
    to_gated, to_reset_state = weights.candidate.back(inputs, to_candidate).split(sizes, -1)
    to_reset = aten.sigmoid_backward(to_reset_state * k.state, k.reset)
    to_update = aten.sigmoid_backward(gradient * (k.state - k.candidate), k.update)
    inputs = torch.cat([k.gated, k.state], -1)
    more_gated, into_state = weights.gru.back(inputs, torch.cat([to_reset, to_update], -1)).split(
        sizes, -1
    )
    to_state = torch.addcmul(into_state, gradient, k.update).addcmul_(to_reset_state, k.reset)
    return to_state, to_gated + more_gated


class OnePass:
    """The steps of one forward pass over a batch, or over those of its examples still running.

    Args:
        layers: matrix and bias of each weight, in the order of `Weights`; in a pack with the
            trials in front.
        hypothesis: what the steps look at.
        premise: the same.
    """

    def __init__(
        self, layers: Sequence[tuple[Tensor, Tensor]], hypothesis: Memory, premise: Memory
    ) -> None:
        self.hypothesis, self.premise = hypothesis, premise
        self.weights = Weights(*(Weight(w.detach(), b.detach(), []) for w, b in layers))
        handles = [hypothesis.handle, premise.handle]
        for (matrix, bias), weight in zip(layers, self.weights, strict=True):
            handles.append(_WeightHandle.apply(matrix, bias, weight.uses))  # type: ignore[no-untyped-call]
        self.handle = torch.stack(handles).sum()

    def step(self, state: Tensor, dropout: Sequence[Tensor]) -> Tensor:
        """Map the state [batch, state] to the next one.

        Args:
            dropout: masks of the gates' inputs [batch, inputs] and of both hidden layers side by
                side [batch, 2 · gate], or a single 1 each.
        """
        stepped: Tensor = _Step.apply(state, self.handle, self, dropout)  # type: ignore[no-untyped-call]
        return stepped

    def select(self, places: Tensor, origin: Tensor, batch: tuple[int, ...]) -> None:
        """Go on with some of the examples; see Memory.select."""
        self.hypothesis = self.hypothesis.select(places, origin, batch)
        self.premise = self.premise.select(places, origin, batch)
