"""Steps of Hop Attention with a hand-written backward pass, equal to `HopStep` (tested)."""

from typing import Any

import torch
from torch import Tensor, nn

from actmodels.by_hand.parts import (
    Back,
    StepsByHand,
    TensorPair,
    Weight,
    relu_back,
    sigmoid_back,
    softmax_back,
)
from actmodels.modules.attention import HopMemory, masked


class HopByHand(StepsByHand):
    """The steps of one forward pass, not fused.

    Args:
        layers: of the hypothesis' attention, of the gate's hidden units and of the gate.
        memory: of the batch.
        start: initial [state; h], [batch, 2 · width].
    """

    def __init__(self, layers: tuple[nn.Linear, ...], memory: HopMemory, start: Tensor) -> None:
        super().__init__()
        self.weights = [Weight(layer.weight, layer.bias) for layer in layers]
        parts = (part for weight in self.weights for part in weight.inputs)
        tables = memory.tables
        self.inputs = (tables.keys, tables.values, memory.hypothesis, start, *parts)
        self.keys, self.values = Weight(tables.keys, None), tables.values.detach()
        self.hypothesis, self.slots = memory.hypothesis.detach(), memory.slots
        zero = self.keys.matrix.new_zeros(())
        self.biases = [  # minus infinity at padding
            masked(zero.expand(mask.shape), mask)
            for mask in (memory.hypothesis_mask, memory.premise_mask)
        ]
        self.scale = memory.scale
        self.rows = torch.arange(len(start), device=start.device)
        self.value_uses: list[TensorPair] = []
        self.word_uses: list[TensorPair] = []
        self.words = self.hypothesis

    def advance(self, recurrent: Tensor) -> tuple[Tensor, Back]:
        ask, hidden_layer, gate_layer = self.weights
        state, words = recurrent.chunk(2, -1)[0], self.hypothesis
        tokens, rows, slots = self.biases[1].shape[-1], self.rows, self.slots
        scale = self.scale
        query = ask(state)
        scores = torch.baddbmm(self.biases[0][:, None], query[:, None], words.mT)
        over_words = torch.softmax(scores, dim=-1)
        hypothesis = torch.bmm(over_words, words).squeeze(1)
        terms = self.keys(state).gather(-1, slots).view(len(state), -1, tokens)
        summed = terms.sum(dim=1) if scale is None else terms.sum(dim=1).mul_(scale)
        weights = torch.softmax(summed.add_(self.biases[1]), dim=-1)
        repeated = weights[:, None].expand(-1, terms.shape[1], -1).reshape(slots.shape)
        spread = weights.new_zeros(len(state), len(self.values)).scatter_add_(-1, slots, repeated)
        premise = spread @ self.values
        inputs = torch.cat([state, hypothesis, premise, premise * hypothesis], -1)
        hidden = hidden_layer(inputs).relu_()
        gate = gate_layer(hidden).sigmoid_()

        def back(gradient: Tensor) -> Tensor:
            to_following, to_hypothesis = gradient.chunk(2, -1)
            to_gate = sigmoid_back(to_following * (premise - state), gate)
            to_hidden = relu_back(gate_layer.back(hidden, to_gate), hidden)
            into = hidden_layer.back(inputs, to_hidden).chunk(4, -1)
            to_premise = torch.addcmul(into[2], to_following, gate).addcmul_(into[3], hypothesis)
            to_hypothesis = torch.addcmul(to_hypothesis + into[1], into[3], premise)
            to_state = torch.addcmul(to_following + into[0], to_following, gate, value=-1)
            self.value_uses.append((spread, to_premise))
            to_spread = (to_premise @ self.values.t()).gather(-1, slots)
            to_weights = to_spread.view(len(state), -1, tokens).sum(dim=1)
            to_scores = softmax_back(to_weights, weights)
            to_sums = to_scores if scale is None else to_scores * scale
            to_terms = torch.zeros_like(spread).scatter_add_(
                -1, slots, to_sums[:, None].expand_as(terms).reshape(slots.shape)
            )
            to_state += self.keys.back(state, to_terms)
            to_rows = to_hypothesis[:, None]
            to_over = softmax_back(torch.bmm(to_rows, words.mT), over_words)
            to_query = torch.bmm(to_over, words).squeeze(1)
            left = torch.cat([over_words, to_over], 1)
            right = torch.cat([to_rows, query[:, None]], 1)
            self.word_uses.append((rows, torch.bmm(left.mT, right)))
            to_state += ask.back(state, to_query)
            return torch.cat([to_state, torch.zeros_like(to_state)], -1)

        return torch.cat([torch.lerp(state, premise, gate), hypothesis], -1), back

    def select(self, indices: Tensor, active: Any) -> None:
        super().select(indices, active)
        self.rows = active.original_indices
        self.hypothesis, self.slots = self.hypothesis[indices], self.slots[indices]
        self.biases = [bias[indices] for bias in self.biases]
        self.scale = None if self.scale is None else self.scale[indices]

    def gradients(self) -> list[Tensor]:
        spread, to_premise = (torch.cat(parts) for parts in zip(*self.value_uses, strict=True))
        to_words = torch.zeros_like(self.words)
        for rows, product in self.word_uses:
            to_words.index_add_(0, rows, product)
        self.value_uses.clear()
        self.word_uses.clear()
        assert self.to_start is not None
        return [
            self.keys.gradients()[0],
            spread.t() @ to_premise,
            to_words,
            self.to_start.clone(),
            *(part for weight in self.weights for part in weight.gradients()),
        ]
