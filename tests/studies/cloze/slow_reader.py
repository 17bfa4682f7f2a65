"""Reference reader from the equations: one question, one word and one step at a time."""

from typing import NamedTuple

import torch
from torch import Tensor, nn, sigmoid, softmax, stack, tanh

from studies.cloze.memory import AdaptiveComputation, ContextEmbedding
from studies.cloze.model import Reader


class Step(NamedTuple):
    """Values of one step; the last one has neither gate nor halting probability."""

    key: Tensor
    attention: Tensor
    answer: Tensor
    gate: Tensor | None = None
    halting: Tensor | None = None


def lstm(
    module: nn.Module, x: Tensor, state: tuple[Tensor, Tensor], end: str = ""
) -> tuple[Tensor, Tensor]:
    """One LSTM step with torch's order of gates: input, forget, candidate, output."""
    p, (hidden, cell) = dict(module.named_parameters()), state
    inputs = p[f"weight_ih{end}"] @ x + p[f"bias_ih{end}"]
    write, keep, new, read = (inputs + p[f"weight_hh{end}"] @ hidden + p[f"bias_hh{end}"]).chunk(4)
    cell = sigmoid(keep) * cell + sigmoid(write) * tanh(new)
    return sigmoid(read) * tanh(cell), cell


def read_text(module: ContextEmbedding, words: list[Tensor]) -> tuple[list[Tensor], Tensor]:
    """Slots and both ends (eq. 1-2)."""
    sides = []
    for side, text in ((module.onward, words), (module.reverse, words[::-1])):
        state, states = (words[0].new_zeros(side.hidden_size),) * 2, []
        for word in text:
            state = lstm(side, word, state, "_l0")
            states.append(state[0])
        sides.append(states)
    forward, backward = sides
    slots = [torch.cat(both) for both in zip(forward, backward[::-1], strict=True)]
    return slots, torch.cat([forward[-1], backward[-1]])


def mean(weights: Tensor, slots: list[Tensor]) -> Tensor:
    return sum((w * slot for w, slot in zip(weights, slots, strict=True)), 0 * slots[0])


@torch.no_grad()
def answer(
    reader: Reader, document: Tensor, query: Tensor, at: list[int], candidates: int
) -> tuple[Tensor, Tensor, list[Step]]:
    """Return P(a | Q, D) of each candidate, p_t of each step, and the steps."""
    memory, s_q = read_text(reader.query_embedding, list(reader.embedding.weight[query]))
    facts, s_d = read_text(reader.document_embedding, list(reader.embedding.weight[document]))
    reading = writing = (0 * s_q, 0 * s_q)
    steps: list[Step] = []
    while True:
        reading = lstm(reader.read.recurrence.cell, torch.cat([s_q, s_d]), reading)  # eq. 3
        l_q = stack([reading[0] @ slot for slot in memory])  # eq. 4
        s_q, z = mean(softmax(l_q, 0), memory), sigmoid(l_q)  # eq. 5, 6
        attention = softmax(stack([s_q @ slot for slot in facts]), 0)  # eq. 7
        s_d = mean(attention, facts)  # eq. 8
        places = [[i for i, a in enumerate(at) if a == c] for c in range(candidates)]
        steps.append(Step(z, attention, stack([attention[i].sum() for i in places])))  # eq. 18
        if len(steps) == reader.steps:
            break
        new = [m * z_j + s_d * (1 - z_j) for m, z_j in zip(memory, z, strict=True)]  # eq. 10
        layer, c = reader.test.compose[0], torch.cat([s_q, s_d, reading[0]])
        composed = (layer.weight @ c + layer.bias).clamp(min=0)  # eq. 9
        writing = lstm(reader.test.recurrence.cell, composed, writing)  # eq. 11, 14
        if isinstance(reader.test, AdaptiveComputation):
            memory, halting = new, sigmoid(reader.test.unit.linear.weight[0] @ writing[0])  # eq. 15
            steps[-1] = steps[-1]._replace(halting=halting)
        else:
            gate = sigmoid(stack([writing[0] @ slot for slot in memory]))  # eq. 12
            steps[-1] = steps[-1]._replace(gate=gate)
            kept = zip(new, memory, gate, strict=True)
            memory = [written * (1 - g) + slot * g for written, slot, g in kept]  # eq. 13
    weights, rest = [], 1.0
    for step in steps[:-1]:  # eq. 16-17; the last step alone where nothing halts
        weights.append(rest * (step.halting if step.halting is not None else 0.0))
        rest = rest - weights[-1]
    weights = torch.tensor([*weights, rest], dtype=torch.float64)
    return mean(weights, [step.answer for step in steps]), weights, steps
