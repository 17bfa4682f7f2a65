"""Node-by-node matching of full binary trees: NTI-SLSTM-LSTM (Munkhdalai & Yu 2017)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from actmodels.configs import LstmEncodersConfig
from actmodels.data.pairs import Batch
from actmodels.models.pair_model import PairModel
from actmodels.modules.attention import masked_softmax
from actmodels.modules.dropout import Dropout
from actmodels.modules.linear import Linear, initialize
from actmodels.modules.projection import WordTable
from actmodels.modules.recurrent import LSTM, LSTMState, rows
from actmodels.prediction import Prediction


class TreeNodes(NamedTuple):
    """Nodes of full binary trees, level by level from the leaves, each from left to right."""

    values: Tensor  # [batch, nodes, size], all trees padded to the largest of the batch
    real: Tensor  # mask of an example's nodes [batch, nodes]
    inner: Tensor  # `real` without the root


class NodeFunction(nn.Module):
    """S-LSTM composition of two nodes (Zhu et al. 2015), as in the published code of NTI.

    a, i, f, o of each child = W_l h_l + b_l and W_r h_r + b_r
    c = sigmoid(i_l + i_r) * tanh(a_l + a_r) + sigmoid(f_l) * c_l + sigmoid(f_r) * c_r
    h = sigmoid(o_l + o_r) * tanh(c)

    A child's forget gate reads that child only, and no gate reads a cell, as in chainer's `slstm`.
    In the NTI paper every gate reads the hidden states and cells of both children.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.left = Linear(size, 4 * size)
        self.right = Linear(size, 4 * size)

    def forward(self, left: LSTMState, right: LSTMState) -> LSTMState:
        """Compose left and right children [batch, nodes, size] to their parents."""
        a_l, i_l, f_l, o_l = self.left(left.hidden).chunk(4, dim=-1)
        a_r, i_r, f_r, o_r = self.right(right.hidden).chunk(4, dim=-1)
        cell = torch.sigmoid(i_l + i_r) * torch.tanh(a_l + a_r)
        cell = cell + torch.sigmoid(f_l) * left.cell + torch.sigmoid(f_r) * right.cell
        return LSTMState(torch.sigmoid(o_l + o_r) * torch.tanh(cell), cell)


class FullTree(nn.Module):
    """Full binary tree whose leaves are the states of an LSTM over the words.

    The number of leaves is the least power of 2 that is n words or more, and at least 2, so a tree
    does not depend on its batch (the authors: always 32). After the last word the LSTM reads zeros,
    as in the authors' code. Dropout on the words and on all children, with one mask for the whole
    tree, so that it does not depend on the depth of other trees.
    """

    def __init__(self, inputs: int, size: int, dropout: float) -> None:
        super().__init__()
        self.leaf = LSTM(inputs, size)
        self.node = NodeFunction(size)
        self.dropout = Dropout(dropout)

    def forward(self, words: Tensor, mask: Tensor) -> TreeNodes:
        """Build the trees of sentences: words [batch, tokens, inputs], mask [batch, tokens]."""
        depth = max(1, (words.shape[-2] - 1).bit_length())
        words = self.dropout(words * mask[..., None])
        words = nn.functional.pad(words, (0, 0, 0, 2**depth - words.shape[-2]))
        state = LSTMState(*(s[..., 1:, :] for s in self.leaf.states(words, self.leaf.zeros(words))))
        kept = self.dropout.mask((*words.shape[:-2], 1, self.leaf.state), words)
        hidden = [state.hidden]
        for _ in range(depth):
            children = LSTMState(state.hidden * kept, state.cell)
            left, right = (LSTMState(*(part[..., n::2, :] for part in children)) for n in (0, 1))
            state = self.node(left, right)
            hidden.append(state.hidden)
        return TreeNodes(torch.cat(hidden, dim=-2), *self.node_masks(mask, depth))

    def node_masks(self, mask: Tensor, depth: int) -> tuple[Tensor, Tensor]:
        """Return the masks `real` and `inner` of trees padded to a depth; see `TreeNodes`."""
        levels = [
            torch.arange(1, 2 ** (depth - n) + 1, device=mask.device) * 2**n
            for n in range(depth + 1)
        ]
        ends = torch.cat(levels)  # number of the last leaf below each node, from 1
        spans = torch.cat([level[:1].expand_as(level) for level in levels])  # leaves below it
        sizes = 2 ** torch.arange(1, depth + 1, device=mask.device)
        leaves = 2 ** (1 + (mask.sum(dim=-1, keepdim=True) > sizes).sum(dim=-1, keepdim=True))
        real = ends <= leaves
        return real, real & (spans < leaves)


class TreeMatching(PairModel):
    """Full tree matching NTI-SLSTM-LSTM with global attention.

    Follows the authors' code; the paper has no equation for the matching of full trees. A node q of
    one tree attends to all nodes m of the other. An LSTM reads the results q' from the leaves up,
    without the root:

        w = softmax_j(m_j · (W_a q + b_a));  q' = relu(W_c (sum_j w_j m_j) + b_c + W_q q + b_q)

    The LSTM's last state attends, with the same weights, to its earlier states. A ReLU layer reads
    both results; dropout before each layer and LSTM. 3,054,199 trained parameters at width 300 and
    layer size 1024 (published: 3.2M; Neumann et al.: 3.3M).
    """

    def __init__(self, config: LstmEncodersConfig, vectors: Tensor, classes: int) -> None:
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
        self.classify = Linear(config.layer_size, classes)
        initialize(self, config.init, config.init_std)

    def attend(self, queries: Tensor, nodes: Tensor, mask: Tensor) -> Tensor:
        """Map queries [batch, queries, width] to q', attending to unmasked nodes."""
        scores = self.query(queries) @ nodes.transpose(-1, -2)  # [batch, queries, nodes]
        attended = masked_softmax(scores, mask[..., None, :]) @ nodes
        return torch.relu(self.of_attended(attended) + self.of_query(queries))

    def match(self, tree: TreeNodes, other: TreeNodes) -> Tensor:
        """Match the nodes of a tree with those of the other one [batch, width]."""
        attended = self.attend(tree.values, other.values, other.real)
        # unmasked nodes first; the largest tree has all nodes but its root
        order = torch.argsort(~tree.inner, dim=-1, stable=True)[..., :-1]
        attended, mask = self.dropout(rows(attended, order)), tree.inner.gather(-1, order)
        outputs, end = self.reader(attended, mask, self.reader.zeros(attended))
        last = mask.sum(dim=-1, keepdim=True) - 1
        before = torch.arange(mask.shape[-1], device=mask.device) < last
        return self.attend(end.hidden[..., None, :], outputs, before).squeeze(-2)

    def forward(self, batch: Batch) -> Prediction:
        premise = self.tree(self.words.look_up(batch.premise), batch.premise_mask)
        hypothesis = self.tree(self.words.look_up(batch.hypothesis), batch.hypothesis_mask)
        matched = [self.match(hypothesis, premise), self.match(premise, hypothesis)]
        hidden = torch.relu(self.hidden(torch.cat(matched, dim=-1)))
        return Prediction(self.classify(self.dropout(hidden)))
