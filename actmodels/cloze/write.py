"""The write module, which tests a new query, and the answer: pointer sums over candidates.

Queries are tested by gates (section 3.2.1) or by halting (3.2.2). Candidates' probabilities are
sums of attention over a document (Kadlec et al. 2016; eq. 18-19). They are logarithms: scores of
the published size reach hundreds, where a probability in single precision is 0.
"""

from abc import abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from actmodels.cloze.config import Activation, Strategy
from actmodels.cloze.memory import ReadOutput, Recurrence
from actmodels.halting.base import halting_distribution, truncate
from actmodels.modules.attention import dot_scores, masked
from actmodels.modules.linear import HaltingUnit

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "identity": nn.Identity}


def pointer_sum(scores: Tensor, mask: Tensor, candidate_at: Tensor, candidates: int) -> Tensor:
    """Return the log attention on each candidate, summed over its tokens [batch, candidates].

    The probabilities sum to at most 1. A candidate that is not in the document has -inf and no
    gradient.

    Args:
        scores: l^d [batch, tokens].
        candidate_at: candidate at each token [batch, tokens], negative for none.
        candidates: number of candidates.
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
    """c_t = MLP(s_t^q, s_t^d, r_t);  w_t = LSTM(c_t) (eq. 9, 11 and 14), between two steps."""

    def __init__(self, memory_size: int, activation: Activation, forget_bias: float) -> None:
        super().__init__()
        layer = nn.Linear(3 * memory_size, memory_size)
        self.compose = nn.Sequential(layer, ACTIVATIONS[activation]())
        self.recurrence = Recurrence(memory_size, memory_size, forget_bias)

    def write(self, read: ReadOutput, recurrent: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Return w_t and the cell state of the LSTM, each [batch, k]."""
        composed = self.compose(torch.cat([read.query, read.document, read.read], dim=-1))
        return self.recurrence(composed, recurrent)

    @abstractmethod
    def update_query(self, written: Tensor, old: Tensor, new: Tensor) -> tuple[Tensor, Tensor]:
        """Test a new query.

        Args:
            written: w_t [batch, k].
            old, new: M_{t-1} and M_t, each [batch, query tokens, k].

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

    def __init__(self, memory_size: int, activation: Activation, forget_bias: float) -> None:
        super().__init__(memory_size, activation, forget_bias)
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
