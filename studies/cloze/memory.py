"""Writable memories of texts, and the modules of NSE on them (Munkhdalai & Yu 2017, section 3).

The write module tests a new query by gates (section 3.2.1) or by halting (3.2.2). Candidates'
probabilities are sums of attention over a document (Kadlec et al. 2016; eq. 18-19). They are
logarithms: scores of the published size reach hundreds, where a probability in single precision
is 0. Documents have hundreds of words, so the LSTMs are torch's own kernels. These have two biases
per gate; the second is 0 and not trained.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.halting.steps import halting_distribution, truncate
from actmodels.modules.attention import dot_scores, masked, masked_softmax, weighted_mean
from actmodels.modules.linear import HaltingUnit
from actmodels.modules.recurrent import rows
from studies.cloze.config import Strategy


def without_second_bias(lstm: nn.LSTM | nn.LSTMCell) -> None:
    """Freeze the second biases at 0."""
    for name, bias in lstm.named_parameters():
        if name.startswith("bias_hh"):
            nn.init.zeros_(bias.requires_grad_(False))


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

    def __init__(self, words: int, memory_size: int) -> None:
        super().__init__()
        self.onward = nn.LSTM(words, memory_size // 2, batch_first=True)
        self.reverse = nn.LSTM(words, memory_size // 2, batch_first=True)
        for lstm in (self.onward, self.reverse):
            without_second_bias(lstm)

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

    def __init__(self, inputs: int, state: int) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(inputs, state)
        without_second_bias(self.cell)

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

    def __init__(self, memory_size: int) -> None:
        super().__init__()
        self.recurrence = Recurrence(2 * memory_size, memory_size)

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


def pointer_sum(scores: Tensor, mask: Tensor, candidate_at: Tensor, candidates: int) -> Tensor:
    """Return the log attention on each candidate, summed over its tokens [batch, candidates].

    The probabilities sum to at most 1. A candidate that is not in the document has -inf and no
    gradient.

    Args:
        scores: l^d [batch, tokens].
        candidate_at: candidate at each token [batch, tokens], negative for none.
    """
    log_weights = torch.log_softmax(masked(scores, mask), dim=-1)
    numbers = torch.arange(candidates, device=scores.device)
    occurs = candidate_at[..., None, :] == numbers[:, None]  # [batch, candidates, tokens]
    return _masked_logsumexp(log_weights[..., None, :], occurs)


def mix_steps(step_logs: Tensor, weights: Tensor) -> Tensor:
    """Return log sum_t p_t P_t(a) [batch, candidates] (eq. 19).

    Args:
        step_logs: log P_t [batch, steps, candidates].
        weights: p_t [batch, steps].
    """
    smallest = torch.finfo(weights.dtype).tiny  # the logarithm of 0 would be -inf
    logs = step_logs + torch.log(weights.clamp_min(smallest))[..., None]
    return _masked_logsumexp(logs.transpose(-1, -2), (step_logs > float("-inf")).transpose(-1, -2))


def _masked_logsumexp(logs: Tensor, mask: Tensor) -> Tensor:
    """Reduce the last dimension where `mask` is true; -inf where it is true nowhere."""
    none = ~mask.any(dim=-1, keepdim=True)
    # The gradient of logsumexp over nothing is nan, so such rows sum zeros, which are discarded.
    logs = masked(logs, mask).masked_fill(none, 0.0)
    return torch.logsumexp(logs, dim=-1).masked_fill(none.squeeze(-1), float("-inf"))


class HypothesisTest(nn.Module):
    """c_t = MLP(s_t^q, s_t^d, r_t);  w_t = LSTM(c_t) (eq. 9, 11 and 14), between two steps.

    The MLP is one layer and a ReLU (ours: not published).
    """

    def __init__(self, memory_size: int) -> None:
        super().__init__()
        self.compose = nn.Sequential(nn.Linear(3 * memory_size, memory_size), nn.ReLU())
        self.recurrence = Recurrence(memory_size, memory_size)

    def write(self, read: ReadOutput, recurrent: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Return w_t and the cell state of the LSTM, each [batch, k]."""
        composed = self.compose(torch.cat([read.query, read.document, read.read], dim=-1))
        return self.recurrence(composed, recurrent)

    @abstractmethod
    def update_query(self, written: Tensor, old: Tensor, new: Tensor) -> tuple[Tensor, Tensor]:
        """Test a new query.

        Args:
            written: w_t [batch, k].
            old: M_{t-1} [batch, query tokens, k].
            new: M_t [batch, query tokens, k].

        Returns:
            the query memory of the next step, and g_t [batch, query tokens] or e_t [batch].
        """

    @abstractmethod
    def answer(self, step_logs: Tensor, gates: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Combine log P_t [batch, steps, candidates] to log P, and return the weights p_t."""


class QueryGating(HypothesisTest):
    """g_t = sigmoid(w_t^T M_{t-1}) keeps the old query slot by slot; the last step answers."""

    def update_query(self, written: Tensor, old: Tensor, new: Tensor) -> tuple[Tensor, Tensor]:
        """Return M_t (1 - g_t) + M_{t-1} g_t, and g_t (eq. 12-13)."""
        gate = torch.sigmoid(dot_scores(written, old))
        keep = gate[..., None]
        return new * (1 - keep) + old * keep, gate

    def answer(self, step_logs: Tensor, gates: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        weights = step_logs.new_zeros(step_logs.shape[:-1])
        weights[..., -1] = 1.0
        return step_logs[..., -1, :], weights


class AdaptiveComputation(HypothesisTest):
    """e_t = sigmoid(o^T w_t) halts at step t; p_t mixes the answers (eq. 15-17 and 19)."""

    def __init__(self, memory_size: int) -> None:
        super().__init__(memory_size)
        self.unit = HaltingUnit(memory_size, None)

    def update_query(self, written: Tensor, old: Tensor, new: Tensor) -> tuple[Tensor, Tensor]:
        """Return the new query unchanged, and e_t."""
        return new, self.unit(written)

    def answer(self, step_logs: Tensor, gates: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        last = torch.zeros_like(gates[0])  # any value: step T has the rest of the mass
        masses = halting_distribution(torch.stack([*gates, last], dim=-1))
        weights = truncate(masses, epsilon=0.0).weights
        return mix_steps(step_logs, weights), weights


TESTS: dict[Strategy, type[HypothesisTest]] = {
    "query_gating": QueryGating,
    "adaptive_computation": AdaptiveComputation,
}
