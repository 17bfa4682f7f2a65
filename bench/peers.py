"""Plain versions of the models, written from the papers in the way public code writes them.

They are what the training speed is measured against. Each reads the batches of the project's model
and starts from its parameters where the number of steps depends on them.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from actmodels.data.pairs import collate
from actmodels.halting.base import PonderedHalting
from actmodels.models.act_rnn import LstmCell
from actmodels.models.pair_model import word_tables
from actmodels.training import Training
from studies.sequences.training import SequenceTraining


class PlainDecomposableAttention(nn.Module):
    """Parikh et al. (2016) with torch's layers and dropout; the word vectors are frozen."""

    def __init__(self, vectors: Tensor, width: int, dropout: float) -> None:
        super().__init__()

        def feed_forward(inputs: int) -> nn.Module:
            first = (nn.Dropout(dropout), nn.Linear(inputs, width), nn.ReLU())
            return nn.Sequential(*first, nn.Dropout(dropout), nn.Linear(width, width), nn.ReLU())

        self.words = nn.Embedding.from_pretrained(vectors)
        self.project = nn.Linear(vectors.shape[1], width, bias=False)
        self.attend, self.compare = feed_forward(width), feed_forward(2 * width)
        self.aggregate, self.classify = feed_forward(2 * width), nn.Linear(width, 3)

    def forward(
        self, premise: Tensor, a_mask: Tensor, hypothesis: Tensor, b_mask: Tensor
    ) -> Tensor:
        """Return logits [batch, labels] of token ids [batch, tokens] and their masks."""
        a, b = self.project(self.words(premise)), self.project(self.words(hypothesis))
        scores = self.attend(a) @ self.attend(b).transpose(1, 2)
        beta = scores.masked_fill(~b_mask[:, None], -torch.inf).softmax(dim=2) @ b
        alpha = (
            scores.masked_fill(~a_mask[:, :, None], -torch.inf).softmax(dim=1).transpose(1, 2) @ a
        )
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
        zeros = inputs.new_zeros(len(inputs))
        hidden = inputs.new_zeros(len(inputs), self.state)
        state = (hidden, hidden) if self.lstm else hidden
        total, steps, remainder, mean = zeros, zeros, zeros, torch.zeros_like(hidden)
        running = torch.ones_like(zeros, dtype=torch.bool)
        for number in range(self.cap):
            flag = inputs.new_full((len(inputs), 1), float(number == 0))
            state = self.cell(torch.cat([inputs, flag], dim=1), state)
            hidden = state[0] if self.lstm else state
            probability = torch.sigmoid(self.halt(hidden)).squeeze(1)
            last = running & ((total + probability >= 1 - self.epsilon) | (number == self.cap - 1))
            weight = torch.where(last, 1 - total, probability) * running
            remainder = remainder + torch.where(last, 1 - total, zeros)
            total, steps = total + weight, steps + running
            mean = mean + weight[:, None] * hidden
            running = running & ~last
            if not running.any():
                break
        return self.output(mean).squeeze(1), steps + remainder


def attention_epoch(training: Training, order: Tensor) -> Callable[[], None]:
    """Return a function that trains plain Decomposable Attention on the pairs in this order."""
    settings, pairs = training.config.training, training.data.train
    (table,), network = word_tables(training.model), training.config.network
    model = PlainDecomposableAttention(table.vectors, network.width, network.dropout)
    update = updater(model, settings.learning_rate, settings.clip_norm)

    def run() -> None:
        for index in order.split(settings.batch_size):
            ids, masks, other, other_masks, labels, *_ = collate(pairs, index, null_token=False)
            update(functional.cross_entropy(model(ids, masks, other, other_masks), labels))

    return run


def rnn_epoch(training: SequenceTraining) -> Callable[[], None]:
    """Return a function that trains the plain ACT RNN for one epoch, on the same sequences."""
    settings, weight = training.config.training, training.ponder_weight
    model = PlainActRnn(training)
    update = updater(model, settings.learning_rate, settings.clip_norm)

    def run() -> None:
        for batch in training.batches(training.epoch_generator):
            odds, cost = model(batch.inputs[:, 0])
            targets = batch.targets[:, 0, 0].float()
            loss = functional.binary_cross_entropy_with_logits(odds, targets)
            update(loss + weight * cost.mean())

    return run


def updater(model: nn.Module, rate: float, clip_norm: float) -> Callable[[Tensor], None]:
    """Return a function that takes a step of Adam from a loss."""
    optimizer = torch.optim.Adam(model.parameters(), rate)

    def update(loss: Tensor) -> None:
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
        optimizer.step()
        loss.item()

    return update
