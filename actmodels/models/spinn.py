"""SPINN-PI: sentences composed along their binary parse trees (Bowman et al. 2016)."""

import torch
from torch import Tensor, nn

from actmodels.configs import SpinnConfig
from actmodels.data.pairs import Batch
from actmodels.errors import DataError
from actmodels.models.pair_model import PairModel
from actmodels.modules.dropout import Dropout
from actmodels.modules.linear import Linear, affine, initialize
from actmodels.modules.projection import ProjectedWords
from actmodels.modules.recurrent import FORGET_BIAS, LSTM, rows
from actmodels.prediction import Prediction


def transitions(mask: Tensor, tree: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the shift-reduce transitions of binary trees, 2n - 1 steps for n tokens.

    Each step pushes one node, and nodes are never overwritten. So the stack is a list of all nodes
    with, for each, the index of the node below it ("thin stack"): index 0 is empty, index t + 1 is
    the node of step t.

    Args:
        mask: [batch, tokens].
        tree: number of nodes that end after each token [batch, tokens]; see PairTensors.

    Returns:
        shifts: SHIFT (push the next word) or else REDUCE (compose the two on top) [batch, steps].
        words: index of the next word in the buffer, n if it is empty [batch, steps].
        seconds: index of the node below the top before each step [batch, steps].
        last: index of the sentence's root [batch].
    """
    steps = 2 * mask.shape[-1] - 1
    positions = torch.arange(mask.shape[-1], device=mask.device)
    at = positions + tree.cumsum(dim=-1) - tree  # the step that shifts each token
    # padding is shifted in an additional last step, which is cut off
    at = torch.where(mask, at, steps)
    shifts = mask.new_zeros(*mask.shape[:-1], steps + 1).scatter(-1, at, value=True)[..., :-1]
    moved = shifts.cumsum(dim=-1)
    below = [torch.zeros_like(moved[..., :1])]
    for step in range(steps):
        so_far = torch.cat(below, dim=-1)
        deeper = so_far.gather(-1, below[step])
        below.append(torch.where(shifts[..., step, None], step, deeper))
    seconds = torch.cat(below[:-1], dim=-1)
    return shifts, moved - shifts.long(), seconds, 2 * mask.sum(dim=-1) - 1


class ThinStack(nn.Module):
    """Stack encoder of parsed sentences, with a tracking LSTM of size `tracking` (section 3).

    At each step the tracking LSTM reads the hidden states of the next word (b) and of the two nodes
    on top of the stack (s1 above s2). A REDUCE composes these two with its output e (the order
    within e and W is that of the authors' code):

        e = LSTM([b; s1; s2])
        i, f_l, f_r, o = sigmoid(W [h_s2; h_s1; e] + b + [0, 1, 1, 0]);  g = tanh(W_g [...] + b_g)
        c = f_l * c_s2 + f_r * c_s1 + i * g;  h = o * tanh(c)

    A missing node or word is zero. The ones added to the forget gates are constants.
    """

    def __init__(self, size: int, tracking: int) -> None:
        super().__init__()
        self.size = size
        self.tracker = LSTM(3 * size, tracking)
        self.compose = Linear(2 * size + tracking, 5 * size)

    def forward(self, words: Tensor, mask: Tensor, tree: Tensor) -> Tensor:
        """Map words [hidden; cell], [batch, tokens, 2 · size], to root states [batch, size]."""
        shifts, next_words, seconds, last = transitions(mask, tree)
        empty = torch.zeros_like(words[..., :1, :])
        buffer = torch.cat([words * mask[..., None], empty], dim=-2)
        nodes, tracked = [empty], self.tracker.zeros(words)
        weight, bias = self.tracker.input_map()
        for step, word in enumerate(rows(buffer, next_words).unbind(-2)):
            top = nodes[-1].squeeze(-2)
            second = rows(torch.cat(nodes, dim=-2), seconds[..., step, None]).squeeze(-2)
            hidden = torch.cat([part[..., : self.size] for part in (word, top, second)], dim=-1)
            tracked = self.tracker.step(affine(hidden, weight, bias), tracked)
            composed = self.reduce(second, top, tracked.hidden)
            nodes.append(torch.where(shifts[..., step, None], word, composed)[..., None, :])
        return rows(torch.cat(nodes, dim=-2), last[..., None]).squeeze(-2)[..., : self.size]

    def reduce(self, left: Tensor, right: Tensor, tracked: Tensor) -> Tensor:
        """Compose two nodes to one [batch, 2 · size]; tracked: e [batch, tracking]."""
        (h_l, c_l), (h_r, c_r) = left.chunk(2, dim=-1), right.chunk(2, dim=-1)
        summed = self.compose(torch.cat([h_l, h_r, tracked], dim=-1))
        write, keep_l, keep_r, read, candidate = summed.chunk(5, dim=-1)
        cell = torch.sigmoid(write) * torch.tanh(candidate)
        cell = cell + torch.sigmoid(keep_l + FORGET_BIAS) * c_l
        cell = cell + torch.sigmoid(keep_r + FORGET_BIAS) * c_r
        return torch.cat([torch.sigmoid(read) * torch.tanh(cell), cell], dim=-1)


class Spinn(PairModel):
    """Stack-augmented parser-interpreter network with parsed input (SPINN-PI).

    Words are projected to [hidden; cell], sentences encoded by `ThinStack`, and two ReLU layers
    read [p; h; p - h; p * h].

    Without the authors' batch normalization, which makes predictions depend on the batch. 3,690,827
    trained parameters at width 300, tracking 61 and layer size 1024; 7,696 more with batch
    normalization (published: 3.7M).
    """

    def __init__(self, config: SpinnConfig, vectors: Tensor, classes: int) -> None:
        super().__init__()
        size = config.layer_size
        self.words = ProjectedWords(vectors, 2 * config.width, tanh=False, bias=True)
        self.stack = ThinStack(config.width, config.tracking_size)
        self.dropout = Dropout(config.dropout)
        self.first = Linear(4 * config.width, size)
        self.second = Linear(size, size)
        self.classify = Linear(size, classes)
        initialize(self, config.init, config.init_std)

    def encode(self, ids: Tensor, mask: Tensor, tree: Tensor | None) -> Tensor:
        """Encode token ids [batch, tokens] as [batch, width]; DataError without parse trees."""
        if tree is None:
            raise DataError(
                "spinn_pi needs parses, but these pairs have none; set corpus.parses: true"
            )
        return self.stack(self.dropout(self.words(ids)), mask, tree)

    def forward(self, batch: Batch) -> Prediction:
        premise = self.encode(batch.premise, batch.premise_mask, batch.premise_tree)
        hypothesis = self.encode(batch.hypothesis, batch.hypothesis_mask, batch.hypothesis_tree)
        compared = [premise, hypothesis, premise - hypothesis, premise * hypothesis]
        pair = self.dropout(torch.cat(compared, dim=-1))
        hidden = self.dropout(torch.relu(self.first(pair)))
        hidden = self.dropout(torch.relu(self.second(hidden)))
        return Prediction(self.classify(hidden))
