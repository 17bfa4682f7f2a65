"""The reader as the publication writes it: one question, one number at a time, in Python floats."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, tanh
from typing import cast

from torch import nn

from actmodels.reader.memory import ContextEmbedding
from actmodels.reader.model import Reader
from actmodels.reader.write import AdaptiveComputation, HypothesisTest

Vector = list[float]


@dataclass
class Told:
    """What one step did; gate and chance are left out by the last one."""

    key: Vector
    attention: Vector
    answer: Vector
    gate: Vector = field(default_factory=list)
    chance: float = 0.0


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x))


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def softmax(values: Vector) -> Vector:
    total = sum(exp(value) for value in values)
    return [exp(value) / total for value in values]


def mean(weights: Vector, slots: list[Vector]) -> Vector:
    return [dot(weights, unit) for unit in zip(*slots, strict=True)]


def lstm(
    module: nn.Module, x: Vector, hidden: Vector, cell: Vector, end: str = ""
) -> tuple[Vector, Vector]:
    """One step of torch's gates: input, forget, candidate, output."""
    parameters = {name: p.tolist() for name, p in module.named_parameters()}
    gates = [
        dot(w, x) + dot(u, hidden) + b + c
        for w, u, b, c in zip(
            *(
                parameters[f"{name}{end}"]
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            ),
            strict=True,
        )
    ]
    n = len(hidden)
    new_cell = [
        sigmoid(gates[n + i]) * cell[i] + sigmoid(gates[i]) * tanh(gates[2 * n + i])
        for i in range(n)
    ]
    return [sigmoid(gates[3 * n + i]) * tanh(new_cell[i]) for i in range(n)], new_cell


def read_text(module: ContextEmbedding, words: list[Vector]) -> tuple[list[Vector], Vector]:
    """Slots and both ends (eq. 1-2)."""
    sides = []
    for side, text in ((module.onward, words), (module.reverse, words[::-1])):
        hidden, cell = [0.0] * side.hidden_size, [0.0] * side.hidden_size
        states = []
        for word in text:
            hidden, cell = lstm(side, word, hidden, cell, "_l0")
            states.append(hidden)
        sides.append(states)
    forward, backward = sides
    return [a + b for a, b in zip(forward, backward[::-1], strict=True)], forward[-1] + backward[-1]


def compose(test: HypothesisTest, c: Vector) -> Vector:
    layer = cast(nn.Linear, test.compose[0])
    rows = zip(layer.weight.tolist(), layer.bias.tolist(), strict=True)
    return [max(0.0, dot(row, c) + bias) for row, bias in rows]


def answer(
    reader: Reader,
    document: list[int],
    query: list[int],
    at: list[int],
    candidates: int,
    told: list[Told] | None = None,
) -> tuple[Vector, Vector]:
    """P(a | Q, D) of each candidate, and p_t of each step; appends what each step did to `told`."""
    told = [] if told is None else told
    table = reader.embedding.weight.tolist()
    memory, query_end = read_text(reader.query_embedding, [table[i] for i in query])
    facts, document_end = read_text(reader.document_embedding, [table[i] for i in document])
    k = len(query_end)
    s_q, s_d = query_end, document_end
    r, r_cell, w, w_cell = ([0.0] * k for _ in range(4))
    of_steps, chances = [], []
    for step in range(1, reader.steps + 1):
        r, r_cell = lstm(reader.read.recurrence.cell, s_q + s_d, r, r_cell)  # eq. 3
        l_q = [dot(r, slot) for slot in memory]  # eq. 4
        s_q = mean(softmax(l_q), memory)  # eq. 5
        z = [sigmoid(value) for value in l_q]  # eq. 6
        attention = softmax([dot(s_q, slot) for slot in facts])  # eq. 7
        s_d = mean(attention, facts)  # eq. 8
        of_steps.append(
            [
                sum(p for p, a in zip(attention, at, strict=True) if a == c)
                for c in range(candidates)
            ]
        )  # eq. 18
        told.append(Told(z, attention, of_steps[-1]))
        if step == reader.steps:
            break
        new = [
            [m * z[j] + s_d[i] * (1 - z[j]) for i, m in enumerate(slot)]
            for j, slot in enumerate(memory)
        ]  # eq. 10
        composed = compose(reader.test, s_q + s_d + r)  # eq. 9
        w, w_cell = lstm(reader.test.recurrence.cell, composed, w, w_cell)  # eq. 11, 14
        if isinstance(reader.test, AdaptiveComputation):
            memory = new
            chances.append(sigmoid(dot(reader.test.unit.linear.weight[0].tolist(), w)))  # eq. 15
            told[-1].chance = chances[-1]
        else:
            gates = [sigmoid(dot(w, slot)) for slot in memory]  # eq. 12
            told[-1].gate = gates
            memory = [
                [n * (1 - g) + m * g for n, m in zip(fresh, slot, strict=True)]
                for fresh, slot, g in zip(new, memory, gates, strict=True)
            ]  # eq. 13
    weights = halting(chances, reader.steps, isinstance(reader.test, AdaptiveComputation))
    return [dot(weights, column) for column in zip(*of_steps, strict=True)], weights


def halting(chances: Vector, steps: int, adaptive: bool) -> Vector:
    """eq. 16-17; the last step alone where nothing halts."""
    if not adaptive:
        return [0.0] * (steps - 1) + [1.0]
    weights, reached = [], 1.0
    for chance in chances:
        weights.append(chance * reached)
        reached *= 1 - chance
    return [*weights, 1 - sum(weights)]
