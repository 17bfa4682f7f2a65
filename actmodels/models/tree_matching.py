"""Full trees matched node by node: NTI-SLSTM-LSTM (Munkhdalai & Yu 2017; paper table 1)."""

import torch
from torch import Tensor

from actmodels.data.labels import LABELS
from actmodels.data.pairs import Batch
from actmodels.models.pair_model import PairModel
from actmodels.modules.attention import masked_softmax
from actmodels.modules.dropout import Dropout
from actmodels.modules.full_tree import FullTree, Nodes
from actmodels.modules.initialisation import initialise
from actmodels.modules.linear import Linear
from actmodels.modules.projection import WordTable
from actmodels.modules.recurrent import LSTM
from actmodels.prediction import Prediction
from actmodels.settings import TreeMatchingConfig


class TreeMatching(PairModel):
    """Make a full binary tree of each sentence, match each with the nodes of the other, classify.

    "Full tree matching NTI-SLSTM-LSTM, global attention", from the code that its authors published,
    whose sizes and order it has; the paper gives no equation for the match of full trees.
    A node q of one tree attends to all nodes m of the other (global attention), and an LSTM reads
    what comes of it, the leaves first, the root left out:

        w = softmax_j(m_j · (W_a q + b_a));  q' = relu(W_c (sum_j w_j m_j) + b_c + W_q q + b_q)

    The LSTM's last state attends in the same way, with the same weights, to those before it. Both
    results stand side by side in front of a hidden layer of rectified units, and dropout in front
    of each layer and LSTM. 3,054,199 trained parameters at width 300 and a layer of 1024, as in
    the authors' code; their paper says 3.2M, Neumann et al. print 3.3M.

    Args:
        vectors: input rows [rows, dimensions], see actmodels.data.trial_data.
    """

    def __init__(self, config: TreeMatchingConfig, vectors: Tensor) -> None:
        super().__init__()
        width = config.width
        self.words = WordTable(vectors)
        self.tree = FullTree(vectors.shape[1], width, config.dropout)
        self.query = Linear(width, width)
        self.of_attended = Linear(width, width)
        self.of_query = Linear(width, width)
        self.reader = LSTM(width, width)
        self.dropout = Dropout(config.dropout)
        self.hidden = Linear(2 * width, config.layer_size)
        self.classify = Linear(config.layer_size, len(LABELS))
        initialise(self, config.init, config.init_std)

    def attend(self, queries: Tensor, nodes: Tensor, mask: Tensor) -> Tensor:
        """Map queries [batch, queries, width] to q' [batch, queries, width].

        Args:
            nodes: [batch, nodes, width]. mask: true for those that are attended to [batch, nodes].
        """
        scores = self.query(queries) @ nodes.transpose(-1, -2)  # [batch, queries, nodes]
        attended = masked_softmax(scores, mask[..., None, :]) @ nodes
        return torch.relu(self.of_attended(attended) + self.of_query(queries))

    def match(self, own: Nodes, other: Nodes) -> Tensor:
        """Read what the nodes of a tree find in the other [batch, width]."""
        found = self.attend(own.values, other.values, other.real)
        # an example's own nodes first; no batch has more of them than all but one
        order = torch.argsort(~own.inner, dim=-1, stable=True)[..., :-1]
        found = found.gather(-2, order[..., None].expand(*order.shape, found.shape[-1]))
        mask = own.inner.gather(-1, order)
        found = self.dropout(found)
        outputs, end = self.reader(found, mask, self.reader.zeros(found))
        last = mask.sum(dim=-1, keepdim=True) - 1
        before = torch.arange(mask.shape[-1], device=mask.device) < last
        return self.attend(end.hidden[..., None, :], outputs, before).squeeze(-2)

    def forward(self, batch: Batch) -> Prediction:
        """Score a batch; see Prediction for shapes."""
        premise = self.tree(self.words.look_up(batch.premise), batch.premise_mask)
        hypothesis = self.tree(self.words.look_up(batch.hypothesis), batch.hypothesis_mask)
        matched = [self.match(hypothesis, premise), self.match(premise, hypothesis)]
        hidden = torch.relu(self.hidden(torch.cat(matched, dim=-1)))
        return Prediction(self.classify(self.dropout(hidden)))
