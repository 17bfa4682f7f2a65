"""What a step reads from both memories, and what it makes of the query (section 3.2)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.modules.masking import masked_softmax
from actmodels.reader.recurrent import Memory, Recurrence


class Looked(NamedTuple):
    """What the read module found in a step.

    read: r_t [batch, k]. query, document: s_t of each [batch, k].
    key: z_t [batch, query tokens]; near 0 where the document's word is to be written.
    document_scores: l_t^d [batch, document tokens], before masking.
    """

    read: Tensor
    query: Tensor
    document: Tensor
    key: Tensor
    document_scores: Tensor


def scores(state: Tensor, slots: Tensor) -> Tensor:
    """state^T M of each slot [batch, tokens], of state [batch, k] and slots [batch, tokens, k]."""
    return (slots @ state[..., None]).squeeze(-1)


def attended(weights: Tensor, slots: Tensor) -> Tensor:
    """The mean slot [batch, k] by weights [batch, tokens]."""
    return (weights[..., None, :] @ slots).squeeze(-2)


class Read(nn.Module):
    """r_t = LSTM([s_{t-1}^q; s_{t-1}^d]) looks at the query, and what it finds at the document.

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
        query: Memory,
        document: Memory,
    ) -> tuple[Looked, tuple[Tensor, Tensor]]:
        """Look once.

        Args:
            states: s_{t-1}^q and s_{t-1}^d, each [batch, k].
            recurrent: hidden and cell of the LSTM, each [batch, k].
        """
        recurrent = self.recurrence(torch.cat(states, dim=-1), recurrent)
        read = recurrent[0]
        query_scores = scores(read, query.slots)
        query_state = attended(masked_softmax(query_scores, query.mask), query.slots)
        document_scores = scores(query_state, document.slots)
        weights = masked_softmax(document_scores, document.mask)
        document_state = attended(weights, document.slots)
        key = torch.sigmoid(query_scores)
        return Looked(read, query_state, document_state, key, document_scores), recurrent


def rewritten(slots: Tensor, looked: Looked) -> Tensor:
    """The new query memory M_{t-1} z_t + s_t^d (1 - z_t) [batch, query tokens, k] (eq. 10)."""
    keep = looked.key[..., None]
    return slots * keep + looked.document[..., None, :] * (1 - keep)
