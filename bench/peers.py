"""Plain versions of the models and of their training, written as public code writes them.

They are what the training speed is measured against. Each reads the batches of the project's model
and starts from its parameters where the number of steps depends on them.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from actmodels.data.pairs import Batch
from actmodels.halting.base import PonderedHalting
from actmodels.models.act_rnn import LstmCell
from actmodels.models.pair_model import word_tables
from actmodels.training import Training
from studies.sequences.training import SequenceTraining

# Maps state and number of a step to the next state, the units for halting, and those averaged.
Step = Callable[[Any, int], tuple[Any, Tensor, Tensor]]


def act(
    step: Step, state: Any, halt: nn.Module, cap: int, epsilon: float | Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Graves (2016): all examples take steps until the last one has halted.

    Returns:
        mean state [batch, units], ponder cost N + R [batch] and steps [batch].
    """
    total = steps = remainder = mean = running = torch.zeros(())
    for number in range(cap):
        state, read, averaged = step(state, number)
        probability = torch.sigmoid(halt(read)).squeeze(1)
        if number == 0:
            total = steps = remainder = torch.zeros_like(probability)
            mean, running = torch.zeros_like(averaged), torch.ones_like(total, dtype=torch.bool)
        last = running & ((total + probability >= 1 - epsilon) | (number == cap - 1))
        weight = torch.where(last, 1 - total, probability) * running
        remainder = remainder + torch.where(last, 1 - total, torch.zeros_like(total))
        total, steps = total + weight, steps + running
        mean = mean + weight[:, None] * averaged
        running = running & ~last
        if not running.any():
            break
    return mean, steps + remainder, steps


def attend(scores: Tensor, mask: Tensor, memory: Tensor) -> Tensor:
    """Average a memory [batch, tokens, size] by the softmax of scores [batch, tokens]."""
    weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=1)
    return (weights[:, None] @ memory).squeeze(1)


def aligned(scores: Tensor, a: Tensor, a_mask: Tensor, b: Tensor, b_mask: Tensor) -> list[Tensor]:
    """Align the words of each sentence with the other one by scores [batch, a, b]."""
    over_b = scores.masked_fill(~b_mask[:, None], -torch.inf).softmax(dim=2)
    over_a = scores.masked_fill(~a_mask[:, :, None], -torch.inf).softmax(dim=1)
    return [over_b @ b, over_a.transpose(1, 2) @ a]


def feed_forward(inputs: int, width: int, dropout: float) -> nn.Module:
    """Return two layers of Parikh et al. (2016)."""
    first = (nn.Dropout(dropout), nn.Linear(inputs, width), nn.ReLU())
    return nn.Sequential(*first, nn.Dropout(dropout), nn.Linear(width, width), nn.ReLU())


def copy_parameters(model: nn.Module, values: Iterable[Tensor]) -> None:
    """Copy the parameters of the project's model, which has them in the same order."""
    trained = (parameter for parameter in model.parameters() if parameter.requires_grad)
    for parameter, value in zip(trained, values, strict=True):
        parameter.data.copy_(value)


class PlainDecomposableAttention(nn.Module):
    """Parikh et al. (2016) with torch's layers and dropout; the word vectors are frozen."""

    def __init__(self, vectors: Tensor, width: int, dropout: float) -> None:
        super().__init__()

        self.words = nn.Embedding.from_pretrained(vectors)
        self.project = nn.Linear(vectors.shape[1], width, bias=False)
        self.attend = feed_forward(width, width, dropout)
        self.compare, self.aggregate = (feed_forward(2 * width, width, dropout) for _ in range(2))
        self.classify = nn.Linear(width, 3)

    def forward(
        self, premise: Tensor, a_mask: Tensor, hypothesis: Tensor, b_mask: Tensor
    ) -> Tensor:
        """Return logits [batch, labels] of token ids [batch, tokens] and their masks."""
        a, b = self.project(self.words(premise)), self.project(self.words(hypothesis))
        scores = self.attend(a) @ self.attend(b).transpose(1, 2)
        beta, alpha = aligned(scores, a, a_mask, b, b_mask)
        sides = ((torch.cat([a, beta], 2), a_mask), (torch.cat([b, alpha], 2), b_mask))
        sums = [(self.compare(pairs) * mask[:, :, None]).sum(dim=1) for pairs, mask in sides]
        return self.classify(self.aggregate(torch.cat(sums, dim=1)))


class PlainActRnn(nn.Module):
    """Graves (2016) on one input: all examples take steps until the last one has halted."""

    def __init__(self, training: SequenceTraining) -> None:
        super().__init__()
        model, halting = training.model, training.model.halting
        assert isinstance(halting, PonderedHalting)
        self.state, self.cap, self.epsilon = model.cell.visible, halting.max_steps, halting.epsilon
        weight, bias = model.cell.input_map()
        self.lstm = isinstance(model.cell, LstmCell)
        cell = nn.LSTMCell if self.lstm else nn.RNNCell
        self.cell: nn.Module = cell(weight.shape[1], self.state)
        self.halt, self.output = nn.Linear(self.state, 1), nn.Linear(self.state, 1)
        recurrent = next(
            v for n, v in model.cell.named_parameters() if n.endswith("recurrent.weight")
        )
        values = (weight, recurrent, bias, torch.zeros_like(bias))
        # torch orders the gates of an LSTM as input, forget, candidate, output
        order = [0, 1, 3, 2] if self.lstm else [0]
        with torch.no_grad():
            for parameter, value in zip(self.cell.parameters(), values, strict=True):
                parts = value.chunk(len(order))
                parameter.copy_(torch.cat([parts[number] for number in order]))
            self.halt.load_state_dict(halting.unit.linear.state_dict())
            self.output.load_state_dict(model.output.state_dict())

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return log-odds [batch] and ponder cost N + R [batch] of inputs [batch, inputs]."""
        hidden = inputs.new_zeros(len(inputs), self.state)

        def step(state: Any, number: int) -> tuple[Any, Tensor, Tensor]:
            flag = inputs.new_full((len(inputs), 1), float(number == 0))
            state = self.cell(torch.cat([inputs, flag], dim=1), state)
            hidden = state[0] if self.lstm else state
            return state, hidden, hidden

        start = (hidden, hidden) if self.lstm else hidden
        mean, cost, self.steps = act(step, start, self.halt, self.cap, self.epsilon)
        return self.output(mean).squeeze(1), cost


class PlainAdaptiveAttention(nn.Module):
    """The paper's Adaptive Attention with ACT, step by step for the whole batch."""

    def __init__(self, training: Training) -> None:
        super().__init__()
        network, halting = training.config.network, training.model.halting
        assert isinstance(halting, PonderedHalting)
        self.cap, self.epsilon, self.rate = halting.max_steps, halting.epsilon, network.dropout
        state, memory, gate = network.state_size, 2 * network.width, network.gate_size
        self.state, wide = state, state + 3 * memory
        self.ask_hypothesis = nn.Linear(state, memory)
        self.ask_premise = nn.Linear(state + memory, memory)
        self.premise_hidden, self.premise_gate = nn.Linear(wide, gate), nn.Linear(gate, memory)
        self.hypothesis_hidden = nn.Linear(wide, gate)
        self.hypothesis_gate = nn.Linear(gate, memory)
        self.gru = nn.Linear(2 * memory + state, 2 * state)
        self.candidate = nn.Linear(2 * memory + state, state)
        self.halt, self.classify = nn.Linear(state, 1), nn.Linear(state, 3)
        (table,) = word_tables(training.model)
        self.words = nn.Embedding.from_pretrained(table.vectors)
        self.project = nn.Linear(table.vectors.shape[1], network.width)
        self.align = feed_forward(network.width, network.width, network.dropout)
        copy_parameters(self, training.model.parameters())

    def forward(
        self, premise: Tensor, a_mask: Tensor, hypothesis: Tensor, b_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return logits [batch, labels] and ponder cost [batch]."""
        a, b = (torch.tanh(self.project(self.words(ids))) for ids in (premise, hypothesis))
        beta, alpha = aligned(self.align(a) @ self.align(b).transpose(1, 2), a, a_mask, b, b_mask)
        a, b = (
            functional.dropout(torch.cat(pair, 2), self.rate, self.training)
            for pair in ((beta, a), (alpha, b))
        )
        start = a.new_zeros(len(a), self.state)
        hidden_layers = (self.premise_hidden, self.hypothesis_hidden)
        gates = [*zip(hidden_layers, (self.premise_gate, self.hypothesis_gate), strict=True)]
        masks = [  # the same at all steps
            functional.dropout(a.new_ones(len(a), size), self.rate, self.training)
            for size in (self.gru.in_features + a.shape[2], *(g.in_features for _, g in gates))
        ]

        def step(state: Tensor, _: int) -> tuple[Tensor, Tensor, Tensor]:
            query = self.ask_hypothesis(state)[:, :, None]
            from_b = attend((b @ query).squeeze(2), b_mask, b)
            query = self.ask_premise(torch.cat([state, from_b], 1))[:, :, None]
            from_a = attend((a @ query).squeeze(2), a_mask, a)
            inputs = torch.cat([state, from_b, from_a, from_a * from_b], 1) * masks[0]
            opened = [
                torch.sigmoid(output(torch.relu(hidden(inputs)) * mask))
                for (hidden, output), mask in zip(gates, masks[1:], strict=True)
            ]
            gated = torch.cat([opened[0] * from_a, opened[1] * from_b], 1)
            reset, update = torch.sigmoid(self.gru(torch.cat([gated, state], 1))).chunk(2, 1)
            candidate = torch.tanh(self.candidate(torch.cat([gated, reset * state], 1)))
            state = update * state + (1 - update) * candidate
            return state, state, state

        mean, cost, _ = act(step, start, self.halt, self.cap, self.epsilon)
        return self.classify(mean), cost


class PlainHopAttention(nn.Module):
    """Hop Attention with ACT: keys and values of each token, all examples step by step."""

    def __init__(self, training: Training) -> None:
        super().__init__()
        network, halting = training.config.network, training.model.halting
        assert isinstance(halting, PonderedHalting)
        self.cap, self.epsilon, width = halting.max_steps, halting.epsilon, network.width
        self.ask = nn.Linear(width, width)
        self.hidden = nn.Linear(4 * width, network.gate_size)
        self.gate, self.halt = nn.Linear(network.gate_size, width), nn.Linear(width, 1)
        self.compare, self.classify = nn.Linear(3 * width, width), nn.Linear(width, 3)
        (table,) = word_tables(training.model)
        self.words = nn.Embedding.from_pretrained(table.vectors)
        self.project = nn.Linear(table.vectors.shape[1], width)
        self.keys, self.values = (nn.Parameter(torch.empty(3, width)) for _ in range(2))
        own = dict(training.model.named_parameters())  # a module's own parameters come first
        windows = [own.pop("keys.weight"), own.pop("values.weight")]
        copy_parameters(self, [*windows, *own.values()])

    def window(self, weight: Tensor, words: Tensor) -> Tensor:
        """Sum each word with the two before it, with a weight for each unit."""
        before = [functional.pad(words, (0, 0, n, 0))[:, : words.shape[1]] for n in range(3)]
        return sum((weight[n] * one for n, one in enumerate(before)), torch.zeros(()))

    def forward(
        self, premise: Tensor, a_mask: Tensor, hypothesis: Tensor, b_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return logits [batch, labels] and ponder cost [batch]."""
        a, b = (torch.tanh(self.project(self.words(ids))) for ids in (premise, hypothesis))
        a = a * a_mask[:, :, None]
        keys, values = self.window(self.keys, a), self.window(self.values, a)

        def read_hypothesis(state: Tensor) -> Tensor:
            return attend((b @ self.ask(state)[:, :, None]).squeeze(2), b_mask, b)

        def step(state: Tensor, _: int) -> tuple[Tensor, Tensor, Tensor]:
            h = read_hypothesis(state)
            p = attend((keys @ state[:, :, None]).squeeze(2), a_mask, values)
            hidden = torch.relu(self.hidden(torch.cat([state, h, p, p * h], 1)))
            gate = torch.sigmoid(self.gate(hidden))
            state = (1 - gate) * state + gate * p
            return state, state, torch.cat([state, h], 1)

        start = read_hypothesis(torch.zeros_like(b[:, 0]))
        mean, cost, _ = act(step, start, self.halt, self.cap, self.epsilon)
        state, h = mean.chunk(2, 1)
        return self.classify(torch.relu(self.compare(torch.cat([mean, state * h], 1)))), cost


def pair_epoch(
    training: Training, model: nn.Module, batches: Callable[[], Iterable[Batch]]
) -> Callable[[], None]:
    """Return a function that trains a plain model on batches of sentence pairs."""
    update = updater(model, training)

    def run() -> None:
        for ids, mask, other, other_mask, labels, *_ in batches():
            output = model(ids, mask, other, other_mask)
            logits, cost = output if isinstance(output, tuple) else (output, None)
            loss = functional.cross_entropy(logits, labels)
            update(loss if cost is None else loss + training.model.ponder_weight * cost.mean())

    return run


def decomposable(training: Training) -> nn.Module:
    """Return the plain model of a trial of Decomposable Attention."""
    (table,), network = word_tables(training.model), training.config.network
    return PlainDecomposableAttention(table.vectors, network.width, network.dropout)


def rnn_epoch(training: SequenceTraining, *, own_start: bool) -> Callable[[], None]:
    """Return a function that trains the plain ACT RNN for one epoch, on the same sequences.

    own_start: from torch's initialization, with a bias of the halting unit for as many steps.
    """
    model = PlainActRnn(training)
    if own_start:
        (batch,) = [*training.batches(training.epoch_generator)][:1]
        inputs = batch.inputs[:, 0]
        model(inputs)
        match_steps(model, inputs, float(model.steps.mean()))
    update = updater(model, training)

    def run() -> None:
        for batch in training.batches(training.epoch_generator):
            odds, cost = model(batch.inputs[:, 0])
            targets = batch.targets[:, 0, 0].float()
            loss = functional.binary_cross_entropy_with_logits(odds, targets)
            update(loss + training.ponder_weight * cost.mean())

    return run


@torch.no_grad()
def match_steps(model: PlainActRnn, inputs: Tensor, steps: float) -> None:
    """Draw the parameters by torch's defaults, and set the halting bias for these mean steps."""
    torch.manual_seed(1)
    for layer in (model.cell, model.halt, model.output):
        layer.reset_parameters()  # type: ignore[operator]
    low, high = -8.0, 8.0
    for _ in range(20):
        model.halt.bias.fill_((low + high) / 2)
        model(inputs)
        low, high = (
            (float(model.halt.bias), high)
            if model.steps.mean() > steps
            else (low, float(model.halt.bias))
        )


def updater(model: nn.Module, training: Training | SequenceTraining) -> Callable[[Tensor], None]:
    """Return a function that takes a step of the trial's optimizer from a loss."""
    settings: Any = training.config.training
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if isinstance(training.optimizer, torch.optim.Adagrad):
        start = settings.adagrad_accumulator
        optimizer: torch.optim.Optimizer = torch.optim.Adagrad(
            parameters, settings.learning_rate, initial_accumulator_value=start
        )
    else:
        optimizer = torch.optim.Adam(parameters, settings.learning_rate)

    def update(loss: Tensor) -> None:
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, settings.clip_norm)
        optimizer.step()
        loss.item()

    return update
