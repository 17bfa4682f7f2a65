"""From steps to an answer: pointing at candidates, and the write module, which tests a new query.

Candidates' probabilities come from attention over a document (Kadlec et al. 2016; eq. 18-19), in
logarithms: scores of published size reach hundreds, where a single-precision probability is 0 and
its logarithm has no gradient. Queries are tested by gates (section 3.2.1) or halting (3.2.2).
"""

from abc import abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from actmodels.cloze.config import Activation, Strategy
from actmodels.cloze.memory import ReadOutput, Recurrence
from actmodels.halting.base import halting_distribution, truncate
from actmodels.modules.attention import dot_scores
from actmodels.modules.linear import HaltingUnit

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "identity": nn.Identity}


def pointer_sum(scores: Tensor, mask: Tensor, candidate_at: Tensor, candidates: int) -> Tensor:
    """log of the attention on each candidate, at all its places [batch, candidates].

    The probabilities sum to at most 1; a candidate that is not in the document has -inf, without a
    gradient. scores: l^d [batch, tokens]. candidate_at: number at each token, below 0 for none.
    """
    log_weights = torch.log_softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    numbers = torch.arange(candidates, device=scores.device)
    stands = candidate_at[..., None, :] == numbers[:, None]  # [batch, candidates, tokens]
    return _summed(log_weights[..., None, :], stands)


def mixed(step_logs: Tensor, weights: Tensor) -> Tensor:
    """log of sum_t p_t P_t(a) [batch, candidates] (eq. 19), of log P_t and p_t [batch, steps]."""
    least = torch.finfo(weights.dtype).tiny  # a weight that has rounded to 0 has no logarithm
    logs = step_logs + torch.log(weights.clamp_min(least))[..., None]
    return _summed(logs.transpose(-1, -2), (step_logs > float("-inf")).transpose(-1, -2))


def _summed(logs: Tensor, chosen: Tensor) -> Tensor:
    """log of the sum of exp(logs) over the chosen of the last dimension; -inf where none is."""
    none = ~chosen.any(dim=-1, keepdim=True)
    # logsumexp of nothing has a gradient that is not a number: it sums zeros, thrown away again
    kept = logs.masked_fill(~chosen, float("-inf")).masked_fill(none, 0.0)
    return torch.logsumexp(kept, dim=-1).masked_fill(none.squeeze(-1), float("-inf"))


class HypothesisTest(nn.Module):
    """c_t = MLP(s_t^q, s_t^d, r_t);  w_t = LSTM(c_t) (eq. 9, 11 and 14); one between two steps."""

    def __init__(self, memory_size: int, activation: Activation, forget_bias: float) -> None:
        super().__init__()
        layer = nn.Linear(3 * memory_size, memory_size)
        self.compose = nn.Sequential(layer, ACTIVATIONS[activation]())
        self.recurrence = Recurrence(memory_size, memory_size, forget_bias)

    def written(
        self, read: ReadOutput, recurrent: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """w_t [batch, k], and hidden and cell of the LSTM."""
        composed = self.compose(torch.cat([read.query, read.document, read.read], dim=-1))
        recurrent = self.recurrence(composed, recurrent)
        return recurrent[0], recurrent

    @abstractmethod
    def update_query(self, written: Tensor, old: Tensor, new: Tensor) -> tuple[Tensor, Tensor]:
        """Test a new query by w_t [batch, k]: M_{t-1} and M_t, each [batch, query tokens, k].

        Return what the next step reads, of that shape, and the gate g_t or the halting e_t.
        """

    @abstractmethod
    def answer(self, step_logs: Tensor, gates: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Combine log P_t [batch, steps, candidates]; return log P, and weights [batch, steps]."""


class QueryGating(HypothesisTest):
    """g_t = sigmoid(w_t^T M_{t-1}) keeps the old query slot by slot; the last step answers."""

    def update_query(self, written: Tensor, old: Tensor, new: Tensor) -> tuple[Tensor, Tensor]:
        """M_t (1 - g_t) + M_{t-1} g_t, and g_t [batch, query tokens] (eq. 12-13)."""
        gate = torch.sigmoid(dot_scores(written, old))
        keep = gate[..., None]
        return new * (1 - keep) + old * keep, gate

    def answer(self, step_logs: Tensor, gates: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        weights = step_logs.new_zeros(step_logs.shape[:-1])
        weights[..., -1] = 1.0
        return step_logs[..., -1, :], weights


class AdaptiveComputation(HypothesisTest):
    """e_t = sigmoid(o^T w_t) halts at step t; the answers are mixed by p_t (eq. 15-17, 19)."""

    def __init__(self, memory_size: int, activation: Activation, forget_bias: float) -> None:
        super().__init__(memory_size, activation, forget_bias)
        self.unit = HaltingUnit(memory_size, None)

    def update_query(self, written: Tensor, old: Tensor, new: Tensor) -> tuple[Tensor, Tensor]:
        """The new query as it is, and e_t [batch]."""
        return new, self.unit(written)

    def answer(self, step_logs: Tensor, gates: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        forced = torch.zeros_like(gates[0])  # the cap gives it what is left, whatever it is
        masses = halting_distribution(torch.stack([*gates, forced], dim=-1))
        weights = truncate(masses, epsilon=0.0).weights
        return mixed(step_logs, weights), weights


TESTS: dict[Strategy, type[HypothesisTest]] = {
    "query_gating": QueryGating,
    "adaptive_computation": AdaptiveComputation,
}
