"""LSTMs with one trained bias per gate and a named constant beside that of the forget gate.

torch's own kernels, since documents have hundreds of words; a gate has two biases there, of
which the second holds the constant and is not trained.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


def fix_second_bias(lstm: nn.LSTM | nn.LSTMCell, forget_bias: float) -> None:
    """Set every second bias to 0, in the forget gate (the second of four) to `forget_bias`."""
    with torch.no_grad():
        for name, bias in lstm.named_parameters():
            if name.startswith("bias_hh"):
                bias.zero_().view(4, -1)[1] = forget_bias
                bias.requires_grad_(False)


class Memory(NamedTuple):
    """A text as a reader has it before it.

    slots: [batch, tokens, k]; 0 where padded.
    mask: true for real tokens [batch, tokens].
    end: [batch, k], what each direction knows at its end: the first state of the reader.
    """

    slots: Tensor
    mask: Tensor
    end: Tensor


class ContextEmbedding(nn.Module):
    """A BiLSTM over words (Munkhdalai & Yu 2017 eq. 1-2).

    Args:
        words: size of a word vector.
        memory_size: k; each direction has k / 2 units, and a slot is both, one after the other.
    """

    def __init__(self, words: int, memory_size: int, forget_bias: float) -> None:
        super().__init__()
        self.lstm = nn.LSTM(words, memory_size // 2, batch_first=True, bidirectional=True)
        fix_second_bias(self.lstm, forget_bias)

    def forward(self, words: Tensor, mask: Tensor) -> Memory:
        """Read texts, each direction from its own first word to its last.

        Args:
            words: [batch, tokens, words].
            mask: true for real tokens [batch, tokens]; they come first in every text.
        """
        lengths = mask.sum(dim=1).cpu()
        packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        outputs, (ends, _) = self.lstm(packed)
        slots, _ = pad_packed_sequence(outputs, batch_first=True, total_length=mask.shape[1])
        return Memory(slots, mask, torch.cat([ends[0], ends[1]], dim=-1))


class Recurrence(nn.Module):
    """One step of an LSTM at a time: the read and the write module each have one."""

    def __init__(self, inputs: int, state: int, forget_bias: float) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(inputs, state)
        fix_second_bias(self.cell, forget_bias)

    def start(self, like: Tensor) -> tuple[Tensor, Tensor]:
        """Zeros for hidden and cell, each [batch, state]."""
        zeros = like.new_zeros(len(like), self.cell.hidden_size)
        return zeros, zeros

    def forward(self, inputs: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Read inputs [batch, inputs]; hidden and cell, each [batch, state]."""
        hidden, cell = self.cell(inputs, state)
        return hidden, cell
