"""A text as a memory, and the read module of a reader (Munkhdalai & Yu 2017 section 3).

torch's own LSTM kernels, since documents have hundreds of words; a gate has two biases there, of
which the second holds the forget gate's constant and is not trained.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.modules.attention import dot_scores, masked_softmax, weighted_mean
from actmodels.modules.recurrent import rows


def fix_second_bias(lstm: nn.LSTM | nn.LSTMCell, forget_bias: float) -> None:
    """Set every second bias to 0, in the forget gate (the second of four) to `forget_bias`."""
    with torch.no_grad():
        for name, bias in lstm.named_parameters():
            if name.startswith("bias_hh"):
                bias.zero_().view(4, -1)[1] = forget_bias
                bias.requires_grad_(False)


class WritableMemory(NamedTuple):
    """A text as a memory.

    slots: [batch, tokens, k]; 0 where padded. mask: [batch, tokens]. end: last state of both
    directions [batch, k], where the reader starts.
    """

    slots: Tensor
    mask: Tensor
    end: Tensor


class ContextEmbedding(nn.Module):
    """A BiLSTM over words (Munkhdalai & Yu 2017 eq. 1-2); each direction has k / 2 units of a slot.

    Two LSTMs over padded texts, of which one reads each text from its own last word on: torch's
    packed sequences give the same, but their derivatives take time by the square of the length.
    """

    def __init__(self, words: int, memory_size: int, forget_bias: float) -> None:
        super().__init__()
        self.onward = nn.LSTM(words, memory_size // 2, batch_first=True)
        self.reverse = nn.LSTM(words, memory_size // 2, batch_first=True)
        for lstm in (self.onward, self.reverse):
            fix_second_bias(lstm, forget_bias)

    def forward(self, words: Tensor, mask: Tensor) -> WritableMemory:
        """Read texts [batch, tokens, words] with mask, each direction from its own first word."""
        lengths = mask.sum(dim=1, keepdim=True)
        places = torch.arange(mask.shape[1], device=mask.device)
        mirrored = torch.where(mask, lengths - 1 - places, places)  # padding stays behind
        onward, _ = self.onward(words)
        reversed_, _ = self.reverse(rows(words, mirrored))
        end = torch.cat([rows(onward, lengths - 1), rows(reversed_, lengths - 1)], dim=-1)
        slots = torch.cat([onward, rows(reversed_, mirrored)], dim=-1)
        return WritableMemory(slots.masked_fill(~mask[..., None], 0.0), mask, end.squeeze(1))


class Recurrence(nn.Module):
    """One step of an LSTM at a time: the read and the write module each have one."""

    def __init__(self, inputs: int, state: int, forget_bias: float) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(inputs, state)
        fix_second_bias(self.cell, forget_bias)

    def forward(self, inputs: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Read inputs [batch, inputs]; hidden and cell, each [batch, state]."""
        return self.cell(inputs, state)


class ReadOutput(NamedTuple):
    """Result of the read module in a step.

    read: r_t [batch, k]. query, document: s_t of each [batch, k]. key: z_t [batch, query tokens];
    near 0 where the document's word is written. document_scores: l_t^d, before masking.
    """

    read: Tensor
    query: Tensor
    document: Tensor
    key: Tensor
    document_scores: Tensor


class Read(nn.Module):
    """r_t = LSTM([s_{t-1}^q; s_{t-1}^d]) attends to the query, and its result to the document.

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
        """Look once, from s_{t-1}^q and s_{t-1}^d, and hidden and cell, each [batch, k]."""
        recurrent = self.recurrence(torch.cat(states, dim=-1), recurrent)
        read = recurrent[0]
        query_scores = dot_scores(read, query.slots)
        query_state = weighted_mean(query.slots, masked_softmax(query_scores, query.mask))
        document_scores = dot_scores(query_state, document.slots)
        weights = masked_softmax(document_scores, document.mask)
        document_state = weighted_mean(document.slots, weights)
        key = torch.sigmoid(query_scores)
        return ReadOutput(read, query_state, document_state, key, document_scores), recurrent


def write_memory(slots: Tensor, read: ReadOutput) -> Tensor:
    """The new query memory M_{t-1} z_t + s_t^d (1 - z_t) [batch, query tokens, k] (eq. 10)."""
    keep = read.key[..., None]
    return slots * keep + read.document[..., None, :] * (1 - keep)
