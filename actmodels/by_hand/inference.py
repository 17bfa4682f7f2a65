"""Inference steps with a hand-written backward pass, equal to `InferenceStep` (tested).

Autograd computes the gradient of every weight and of both memories at every step and adds them.
Here a step stores only the factors of those gradients; one product at the end sums over the steps
as well. That is less memory traffic, larger products, fewer operations.
"""

import copy
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import torch
from torch import Tensor

from actmodels.by_hand.parts import (
    Back,
    StepsByHand,
    TensorPair,
    Weight,
    relu_back,
    sigmoid_back,
    softmax_back,
    tanh_back,
)
from actmodels.modules.attention import BilinearAttention, masked
from actmodels.modules.dropout import Dropout
from actmodels.modules.inference import Gate, GateDropout, InferenceStep, PairMemory
from actmodels.modules.linear import Linear
from actmodels.modules.recurrent import GRUCell


class _Use(NamedTuple):
    """Factors of one step's gradient of the memory: weights ⊗ attended + scores ⊗ query."""

    rows: Tensor | None  # indices of its examples in the batch [examples]; None for all in order
    weights: Tensor  # [examples, 1, tokens]
    attended: Tensor  # gradient [examples, 1, memory]
    scores: Tensor  # gradient [examples, 1, tokens]
    query: Tensor  # [examples, 1, memory]


class Memory:
    """Memory [batch, tokens, memory] of all examples or of the active ones.

    When fused, [trials, batch, tokens, memory] is flattened to one dimension of examples.
    """

    def __init__(self, words: Tensor, mask: Tensor) -> None:
        self.full_shape = words.shape
        self.words = words.detach().flatten(0, -3)
        # minus infinity at padding, added to the scores
        self.mask_bias = _rows(masked(torch.zeros_like(mask, dtype=words.dtype), mask))
        self.rows: Tensor | None = None
        self.uses: list[_Use] = []

    def attend(self, query: Tensor) -> tuple[Tensor, Tensor]:
        """Attend with weights softmax_i(words_i · query); query: [(trials,) batch, memory].

        Return the attended memory, of the query's shape, and the weights [examples, 1, tokens].
        """
        scores = torch.baddbmm(self.mask_bias, _rows(query), self.words.mT)
        weights = torch.softmax(scores, dim=-1)
        return torch.bmm(weights, self.words).view(query.shape), weights

    def back(self, query: Tensor, weights: Tensor, attended: Tensor) -> Tensor:
        """Return the gradient of the query from that of `attended`; store the memory's factors."""
        gradient = _rows(attended)
        change = torch.bmm(gradient, self.words.mT)
        scores = softmax_back(change, weights)
        self.uses.append(_Use(self.rows, weights, gradient, scores, _rows(query)))
        return torch.bmm(scores, self.words).view(query.shape)

    def select(self, indices: Tensor, original_indices: Tensor) -> "Memory":
        """Select the examples at `indices`, which are `original_indices` of the full batch."""
        selected = copy.copy(self)  # shares `uses`
        selected.words = self.words.index_select(0, indices)
        selected.mask_bias = self.mask_bias.index_select(0, indices)
        selected.rows = original_indices
        return selected

    def gradient(self) -> Tensor:
        """Return the gradient of the memory, summed over the steps, and clear the factors."""
        total: Tensor | None = None
        uses = sorted(self.uses, key=lambda use: -len(use.weights))  # first that of all examples
        for _number, group in groupby(uses, key=lambda use: id(use.rows)):
            same = list(group)
            left = torch.cat([part for use in same for part in (use.weights, use.scores)], dim=1)
            right = torch.cat([part for use in same for part in (use.attended, use.query)], dim=1)
            product = torch.bmm(left.mT, right)
            rows = same[0].rows
            if total is None or rows is None:
                total = product
            else:
                total.index_add_(0, rows, product)
        self.uses.clear()
        assert total is not None
        return total.view(self.full_shape)


def _rows(vectors: Tensor) -> Tensor:
    """Reshape [..., size] to one row per example [examples, 1, size]."""
    return vectors.flatten(0, -2).unsqueeze(1)


GatesBack = Callable[[Tensor, Tensor], Tensor]
RecurBack = Callable[[Tensor], TensorPair]
TYPES = (InferenceStep, BilinearAttention, Gate, GRUCell, Linear, Dropout)  # types of its modules


class InferenceByHand(StepsByHand):
    """The steps of one forward pass over a batch, or over its active examples.

    Args:
        step: its weights are [trials, ...] when fused.
        memory: of the batch.
        masks: of dropout, the same at all steps.
    """

    def __init__(self, step: InferenceStep, memory: PairMemory, masks: GateDropout) -> None:
        super().__init__()
        layers = (
            *(step.attend_hypothesis.transform, step.attend_premise.transform),
            *(step.premise_gate.hidden, step.hypothesis_gate.hidden),
            *(step.premise_gate.output, step.hypothesis_gate.output),
            *(step.cell.gates, step.cell.candidate),
        )
        self.hypothesis = Memory(memory.hypothesis, memory.hypothesis_mask)
        self.premise = Memory(memory.premise, memory.premise_mask)
        self.masks: Sequence[Tensor] = masks
        self.weights = [Weight(layer.weight, layer.bias) for layer in layers]
        self.hypothesis_query, self.premise_query, *gates, self.gru, self.candidate = self.weights
        self.premise_hidden, self.hypothesis_hidden, self.premise_gate, self.hypothesis_gate = gates
        parts = (part for weight in self.weights for part in weight.inputs)
        self.inputs = (memory.hypothesis, memory.premise, *parts)

    def advance(self, state: Tensor) -> tuple[Tensor, Back]:
        masks, size = self.masks, state.shape[-1]
        memories, hypothesis_query = (self.hypothesis, self.premise), self.hypothesis_query(state)
        hypothesis, hypothesis_weights = self.hypothesis.attend(hypothesis_query)
        both = torch.cat([state, hypothesis], -1)
        premise_query = self.premise_query(both)
        premise, premise_weights = self.premise.attend(premise_query)
        inputs = torch.cat([both, premise, premise * hypothesis], -1).mul_(masks[0])
        gates, gates_back = self.gates(inputs, masks[1])
        parts = [gates[0] * premise, gates[1] * hypothesis]
        following, gru_back = self.recur(parts, state)

        def back(gradient: Tensor) -> Tensor:
            to_state, to_parts = gru_back(gradient)
            to_premise, to_hypothesis = to_parts.chunk(2, -1)
            to_inputs = gates_back(to_premise * premise, to_hypothesis * hypothesis).mul_(masks[0])
            memory = premise.shape[-1]
            into_both, into_premise, into_product = to_inputs.split(
                [size + memory, memory, memory], -1
            )
            to_premise = torch.addcmul(into_premise, to_premise, gates[0])
            to_premise.addcmul_(into_product, hypothesis)
            to_query = memories[1].back(premise_query, premise_weights, to_premise)
            into_both.add_(self.premise_query.back(both, to_query))
            into_state, into_hypothesis = into_both.split([size, memory], -1)
            to_hypothesis = torch.addcmul(into_hypothesis, to_hypothesis, gates[1])
            to_hypothesis.addcmul_(into_product, premise)
            to_query = memories[0].back(hypothesis_query, hypothesis_weights, to_hypothesis)
            return to_state.add_(into_state).add_(self.hypothesis_query.back(state, to_query))

        return following, back

    def gates(self, inputs: Tensor, mask: Tensor) -> tuple[TensorPair, GatesBack]:
        """Return the gates of premise and hypothesis."""
        layers = (self.premise_hidden, self.hypothesis_hidden)
        hidden = torch.cat([layer(inputs) for layer in layers], -1).relu_().mul_(mask)
        for_premise, for_hypothesis = hidden.chunk(2, -1)
        premise = self.premise_gate(for_premise).sigmoid_()
        hypothesis = self.hypothesis_gate(for_hypothesis).sigmoid_()

        def back(to_premise: Tensor, to_hypothesis: Tensor) -> Tensor:
            to_premise = sigmoid_back(to_premise, premise)
            to_hypothesis = sigmoid_back(to_hypothesis, hypothesis)
            into_premise = self.premise_gate.back(for_premise, to_premise)
            into_hypothesis = self.hypothesis_gate.back(for_hypothesis, to_hypothesis)
            to_hidden = torch.cat([into_premise, into_hypothesis], -1).mul_(mask)
            to_premise, to_hypothesis = relu_back(to_hidden, hidden).chunk(2, -1)
            to_inputs = self.premise_hidden.back(inputs, to_premise)
            return to_inputs.add_(self.hypothesis_hidden.back(inputs, to_hypothesis))

        return (premise, hypothesis), back

    def recur(self, parts: Sequence[Tensor], state: Tensor) -> tuple[Tensor, RecurBack]:
        """Return the next state from the gated premise and hypothesis by the GRU."""
        gated = torch.cat([*parts, state], -1)
        gates = self.gru(gated).sigmoid_()
        reset, update = gates.chunk(2, -1)
        reset_gated = torch.cat([*parts, reset * state], -1)
        candidate = self.candidate(reset_gated).tanh_()
        following = torch.lerp(candidate, state, update)  # u s + (1 - u) c

        def back(gradient: Tensor) -> TensorPair:
            sizes = [gated.shape[-1] - state.shape[-1], state.shape[-1]]
            to_candidate = torch.addcmul(gradient, gradient, update, value=-1)
            to_candidate = tanh_back(to_candidate, candidate)
            into_reset = self.candidate.back(reset_gated, to_candidate)
            to_parts, to_reset_state = into_reset.split(sizes, -1)
            to_gates = torch.cat([to_reset_state * state, gradient * (state - candidate)], -1)
            into_gated = self.gru.back(gated, sigmoid_back(to_gates, gates))
            more_parts, into_state = into_gated.split(sizes, -1)
            to_state = torch.addcmul(into_state, gradient, update).addcmul_(to_reset_state, reset)
            return to_state, to_parts + more_parts

        return following, back

    def select(self, indices: Tensor, active: Any) -> None:
        super().select(indices, active)
        self.hypothesis = self.hypothesis.select(indices, active.original_indices)
        self.premise = self.premise.select(indices, active.original_indices)
        self.masks = active.rows([*self.masks], indices)

    def gradients(self) -> list[Tensor]:
        """Return the gradients of memories and weights."""
        memories = [self.hypothesis.gradient(), self.premise.gradient()]
        return [*memories, *(part for weight in self.weights for part in weight.gradients())]
