"""Drop-in layers with adaptive steps: RNN, GRU, LSTM, and a Universal Transformer block."""

from functools import partial
from itertools import count
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from actmodels.configs import ActConfig, MixingConfig
from actmodels.halting.base import build_halting
from actmodels.halting.loop import adapt_steps
from actmodels.halting.states import each, first_tensor, unless
from actmodels.prediction import Prediction
from actmodels.registry import HaltingConfig


class AdaptiveLayer(nn.Module):
    """Base class.

    Args:
        halting: configuration of a mechanism that returns a state; ActConfig() by default.
        classify: maps states [..., size] to the logits of the prediction; by default these are the
            states. SupervisedAct and exits by the output need it.
        batch_first: whether tensors begin [batch, tokens]; otherwise [tokens, batch], as in torch.
        options: those of `adapt_steps`, for example until_halted=False.
    """

    def __init__(
        self,
        size: int,
        halting: HaltingConfig | None = None,
        classify: nn.Module | None = None,
        batch_first: bool = False,
        **options: Any,
    ) -> None:
        super().__init__()
        if isinstance(halting, MixingConfig):
            raise ValueError(f"halting is {type(halting).__name__}; expected one with a mean state")
        self.halting = build_halting(halting or ActConfig(), size)
        self.classify = nn.Identity() if classify is None else classify
        self.batch_first, self.options = batch_first, options

    def adapt(self, step: Any, state: Any, **options: Any) -> Prediction:
        """Classify the first tensor of the states; options: those of `adapt_steps`."""
        classify = lambda states: self.classify(first_tensor(states))  # noqa: E731
        return adapt_steps(step, state, self.halting, classify, **(options | self.options))


class AdaptiveRNN(AdaptiveLayer):
    """torch.nn.RNN with one layer, which takes an adaptive number of steps for each input.

    Each step reads the input and a flag, which is 1 in the first step of an input; the next input
    starts from the mean state (Graves 2016 section 2). With a `classify`, the training loss is
    `rnn.halting.objective(rnn(input)[2], labels)`.
    """

    cell_class: ClassVar[Any] = nn.RNNCell

    def __init__(self, input_size: int, hidden_size: int, **options: Any) -> None:
        super().__init__(hidden_size, **options)
        self.cell = self.cell_class(input_size + 1, hidden_size)

    def step(self, flags: Any, state: Any, one: Tensor) -> Any:
        """Return the next state; flags: iterator over those of the first steps; then 0."""
        return self.cell(pad(one, (0, 1), value=next(flags, 0.0)), state)

    def forward(
        self, input: Tensor, hx: Any = None, mask: Tensor | None = None
    ) -> tuple[Tensor, Any, Prediction]:
        """Return output and h_n as torch does, and the prediction for each input.

        mask: where there is an input, bool [tokens, batch]. At padding the output is 0 and the
        prediction any, so `objective` needs the mask as well.
        """
        mask = torch.ones_like(input[..., 0], dtype=torch.bool) if mask is None else mask
        if self.batch_first:
            input, mask = input.transpose(0, 1), mask.transpose(0, 1)
        inputs = torch.where(mask[..., None], input, 0.0)
        zeros = input.new_zeros(1, input.shape[1], self.cell.hidden_size)
        start = (zeros, zeros) if isinstance(self.cell, nn.LSTMCell) else zeros
        state, predictions = each(lambda tensor: tensor[0], start if hx is None else hx), []
        for one, real in zip(inputs, mask, strict=True):
            predictions.append(self.adapt(partial(self.step, iter([1.0])), state, inputs=one))
            state = each(partial(unless, ~real), predictions[-1].state, state)
        prediction = each(stack, *predictions)
        output = torch.where(mask[..., None], first_tensor(prediction.state), 0.0)
        if self.batch_first:
            output, prediction = each(lambda tensor: tensor.transpose(0, 1), (output, prediction))
        return output, each(lambda tensor: tensor[None], state), prediction


class AdaptiveGRU(AdaptiveRNN):
    """torch.nn.GRU with one layer; see AdaptiveRNN."""

    cell_class = nn.GRUCell


class AdaptiveLSTM(AdaptiveRNN):
    """torch.nn.LSTM with one layer; see AdaptiveRNN. States are pairs (h, c)."""

    cell_class = nn.LSTMCell


class UniversalTransformerBlock(AdaptiveLayer):
    """torch.nn.TransformerEncoderLayer, applied adaptively to each token (Dehghani et al. 2019).

    Each step adds sinusoids of position and step to the states. A halted token keeps its state,
    which the others attend to. Halting reads the state after a step; in the paper the one before.
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int, dropout: float = 0.1, **options: Any
    ) -> None:
        super().__init__(d_model, **options)
        sizes = (d_model, nhead, dim_feedforward, dropout)
        self.layer = nn.TransformerEncoderLayer(*sizes, batch_first=True)

    def forward(self, src: Tensor, padding: Tensor | None = None) -> tuple[Tensor, Prediction]:
        """Return the mean state of each token and its prediction; padding: bool [batch, tokens]."""
        src = src if self.batch_first else src.transpose(0, 1)
        places, numbers = torch.arange(src.shape[1], device=src.device), count()

        def step(state: Tensor, padding: Tensor | None = None) -> Tensor:
            number = torch.full_like(places, next(numbers))
            state = state + sinusoids(places, state) + sinusoids(number, state)
            return self.layer(state, src_key_padding_mask=padding)

        # A sentence leaves the step once all its tokens have halted.
        prediction = self.adapt(step, src, inputs=padding, batch_dims=2, compact=True)
        if not self.batch_first:
            prediction = each(lambda tensor: tensor.transpose(0, 1), prediction)
        return prediction.state, prediction


def stack(*parts: Tensor) -> Tensor:
    """Stack tensors [batch, size or steps, ...] of all inputs; zeros for steps not taken."""
    if parts[0].dim() == 1:
        return torch.stack(parts)
    most = max(part.shape[1] for part in parts)
    ends = ((0, 0) * (part.dim() - 2) + (0, most - part.shape[1]) for part in parts)
    return torch.stack([pad(*both) for both in zip(parts, ends, strict=True)])


def sinusoids(numbers: Tensor, like: Tensor) -> Tensor:
    """Return sin and cos of numbers [n] at falling rates, as states `like` [n, size]."""
    size = like.shape[-1]
    angles = numbers[:, None] * 1e-4 ** (torch.arange(0, size, 2, device=like.device) / size)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :size].to(like)
