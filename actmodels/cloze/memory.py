"""Writable memories of texts and the read module of NSE (Munkhdalai & Yu 2017, section 3).

Documents have hundreds of words, so the LSTMs are torch's own kernels. These have two biases per
gate; the second holds the forget gate's constant and is not trained.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.modules.attention import dot_scores, masked_softmax, weighted_mean
from actmodels.modules.recurrent import rows


def fix_second_bias(lstm: nn.LSTM | nn.LSTMCell, forget_bias: float) -> None:
    """Freeze the second biases: `forget_bias` in the forget gate (second of four), 0 elsewhere."""
    with torch.no_grad():
        for name, bias in lstm.named_parameters():
            if name.startswith("bias_hh"):
                bias.zero_().view(4, -1)[1] = forget_bias
                bias.requires_grad_(False)


class WritableMemory(NamedTuple):
    """The memory of a text."""

    slots: Tensor  # M [batch, tokens, k]; 0 on padding
    mask: Tensor  # true for real tokens [batch, tokens]
    end: Tensor  # last state of both directions [batch, k], the initial state of the reader


class ContextEmbedding(nn.Module):
    """BiLSTM over words (eq. 1-2); each direction has k / 2 units.

    Each direction is an LSTM over padded texts; the reverse one reads a mirrored copy. Packed
    sequences give the same result, but their backward pass is quadratic in the text's length.
    """

    def __init__(self, words: int, memory_size: int, forget_bias: float) -> None:
        super().__init__()
        self.onward = nn.LSTM(words, memory_size // 2, batch_first=True)
        self.reverse = nn.LSTM(words, memory_size // 2, batch_first=True)
        for lstm in (self.onward, self.reverse):
            fix_second_bias(lstm, forget_bias)

    def forward(self, words: Tensor, mask: Tensor) -> WritableMemory:
        """Encode texts [batch, tokens, words] with mask [batch, tokens]."""
        lengths = mask.sum(dim=1, keepdim=True)
        positions = torch.arange(mask.shape[1], device=mask.device)
        mirrored = torch.where(mask, lengths - 1 - positions, positions)  # padding stays in place
        onward, _ = self.onward(words)
        reverse, _ = self.reverse(rows(words, mirrored))
        end = torch.cat([rows(onward, lengths - 1), rows(reverse, lengths - 1)], dim=-1)
        slots = torch.cat([onward, rows(reverse, mirrored)], dim=-1)
        return WritableMemory(slots.masked_fill(~mask[..., None], 0.0), mask, end.squeeze(1))


class Recurrence(nn.Module):
    """LSTM cell of the read and of the write module."""

    def __init__(self, inputs: int, state: int, forget_bias: float) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(inputs, state)
        fix_second_bias(self.cell, forget_bias)

    def forward(self, inputs: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Map inputs [batch, inputs] to hidden and cell state, each [batch, state]."""
        return self.cell(inputs, state)


class ReadOutput(NamedTuple):
    """Output of the read module at step t."""

    read: Tensor  # r_t [batch, k]
    query: Tensor  # s_t^q and s_t^d [batch, k]
    document: Tensor  # s_t^q and s_t^d [batch, k]
    key: Tensor  # z_t [batch, query tokens], near 0 where the document's content is written
    document_scores: Tensor  # l_t^d before masking [batch, document tokens]


class Read(nn.Module):
    """r_t = LSTM([s_{t-1}^q; s_{t-1}^d]) attends to the query, and s_t^q to the document.

    l^q = r_t^T M_{t-1}^q;  s_t^q = softmax(l^q) M_{t-1}^q;  z_t = sigmoid(l^q)
    l^d = s_t^q^T M^d;      s_t^d = softmax(l^d) M^d                               (eq. 3-8)
    """

    def __init__(self, memory_size: int, forget_bias: float) -> None:
        super().__init__()
        self.recurrence = Recurrence(2 * memory_size, memory_size, forget_bias)

    def forward(
        self,
        states: tuple[Tensor, Tensor],
        recurrent: tuple[Tensor, Tensor],
        query: WritableMemory,
        document: WritableMemory,
    ) -> tuple[ReadOutput, tuple[Tensor, Tensor]]:
        """Read both memories once.

        Args:
            states: s_{t-1}^q and s_{t-1}^d, each [batch, k].
            recurrent: hidden and cell state of the LSTM, each [batch, k].

        Returns:
            the output of the step, and the new hidden and cell state.
        """
        recurrent = self.recurrence(torch.cat(states, dim=-1), recurrent)
        query_scores = dot_scores(recurrent[0], query.slots)
        query_state = weighted_mean(query.slots, masked_softmax(query_scores, query.mask))
        document_scores = dot_scores(query_state, document.slots)
        weights = masked_softmax(document_scores, document.mask)
        document_state = weighted_mean(document.slots, weights)
        key = torch.sigmoid(query_scores)
        output = ReadOutput(recurrent[0], query_state, document_state, key, document_scores)
        return output, recurrent


def write_memory(slots: Tensor, read: ReadOutput) -> Tensor:
    """Return the new query memory M_{t-1} z_t + s_t^d (1 - z_t) [batch, tokens, k] (eq. 10)."""
    keep = read.key[..., None]
    return slots * keep + read.document[..., None, :] * (1 - keep)
