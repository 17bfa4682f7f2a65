"""SPINN-PI: sentences composed along their binary parses (Bowman et al. 2016)."""

import torch
from torch import Tensor, nn

from actmodels.configs import LABELS, SpinnConfig
from actmodels.data.pairs import Batch
from actmodels.errors import DataError
from actmodels.models.pair_model import PairModel
from actmodels.modules.dropout import Dropout
from actmodels.modules.linear import Linear, affine, initialize
from actmodels.modules.projection import ProjectedWords
from actmodels.modules.recurrent import FORGET_BIAS, LSTM, rows
from actmodels.prediction import Prediction


def transitions(mask: Tensor, tree: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Shift-reduce transitions of binary trees: 2n - 1 for a sentence of n tokens.

    A node lies on top of the stack after its step and is never overwritten, so the stack is a list
    of all nodes and, for each, the one below it ("thin stack"): place 0 is empty, place t + 1 is
    the node of step t. Of mask and trees (nodes that end behind each token) [batch, tokens] return

    shifts: SHIFT moves a word onto the stack, REDUCE composes the two on top [batch, steps].
    words: the first word still to be moved, one behind the last if there is none [batch, steps].
    seconds: the place below the top before each step [batch, steps]. last: the sentence's [batch].
    """
    steps = 2 * mask.shape[-1] - 1
    places = torch.arange(mask.shape[-1], device=mask.device)
    at = places + tree.cumsum(dim=-1) - tree  # the step that moves each token
    # padding is moved in a step behind all others, which is cut off
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
    """Compose the words of sentences along their parses, tracked by an LSTM of size `tracking`.

    At each step the tracking LSTM reads the hidden states of the next word (b) and of the two nodes
    on top of the stack (s1 above s2); a REDUCE composes these with its output e (their section 3;
    the order within e and W is that of their code):

        e = LSTM([b; s1; s2])
        i, f_l, f_r, o = sigmoid(W [h_s2; h_s1; e] + b + [0, 1, 1, 0]);  g = tanh(W_g [...] + b_g)
        c = f_l * c_s2 + f_r * c_s1 + i * g;  h = o * tanh(c)

    A missing node or word is zeros. The ones of the forget gates are constants.
    """

    def __init__(self, size: int, tracking: int) -> None:
        super().__init__()
        self.size = size
        self.tracker = LSTM(3 * size, tracking)
        self.compose = Linear(2 * size + tracking, 5 * size)

    def forward(self, words: Tensor, mask: Tensor, tree: Tensor) -> Tensor:
        """Map words (hidden and cell) [batch, tokens, 2 · size] to last nodes [batch, size]."""
        shifts, moved, seconds, last = transitions(mask, tree)
        nothing = torch.zeros_like(words[..., :1, :])
        buffer = torch.cat([words * mask[..., None], nothing], dim=-2)
        ahead = rows(buffer, moved)
        made, tracked = [nothing], self.tracker.zeros(words)
        weight, bias = self.tracker.input_map()
        for step, word in enumerate(ahead.unbind(-2)):
            top = made[-1].squeeze(-2)
            second = rows(torch.cat(made, dim=-2), seconds[..., step, None]).squeeze(-2)
            seen = torch.cat([part[..., : self.size] for part in (word, top, second)], dim=-1)
            tracked = self.tracker.step(affine(seen, weight, bias), tracked)
            composed = self.reduced(second, top, tracked.hidden)
            shifted = shifts[..., step, None]
            made.append(torch.where(shifted, word, composed)[..., None, :])
        return rows(torch.cat(made, dim=-2), last[..., None]).squeeze(-2)[..., : self.size]

    def reduced(self, left: Tensor, right: Tensor, tracked: Tensor) -> Tensor:
        """One node [batch, 2 · size] of two."""
        (h_l, c_l), (h_r, c_r) = left.chunk(2, dim=-1), right.chunk(2, dim=-1)
        summed = self.compose(torch.cat([h_l, h_r, tracked], dim=-1))
        write, keep_l, keep_r, read, candidate = summed.chunk(5, dim=-1)
        cell = torch.sigmoid(write) * torch.tanh(candidate)
        cell = cell + torch.sigmoid(keep_l + FORGET_BIAS) * c_l
        cell = cell + torch.sigmoid(keep_r + FORGET_BIAS) * c_r
        return torch.cat([torch.sigmoid(read) * torch.tanh(cell), cell], dim=-1)


class Spinn(PairModel):
    """Encode each sentence by a stack that its parse drives, compare the two, classify.

    The stack-augmented parser-interpreter network with parsed input (SPINN-PI): transitions are
    input, and the tracking LSTM takes part in the composition. A word is projected to hidden state
    and cell. Two rectified layers lie over [p; h; p - h; p * h].

    Without the authors' batch normalisation, which would let examples of a batch see each other.
    3,690,827 trained parameters at width 300, tracking 61 and layers of 1024; with its 7,696 that
    would be 3.70M (published: 3.7M).
    """

    def __init__(self, config: SpinnConfig, vectors: Tensor) -> None:
        super().__init__()
        size = config.layer_size
        self.words = ProjectedWords(vectors, 2 * config.width, tanh=False, bias=True)
        self.stack = ThinStack(config.width, config.tracking_size)
        self.dropout = Dropout(config.dropout)
        self.first = Linear(4 * config.width, size)
        self.second = Linear(size, size)
        self.classify = Linear(size, len(LABELS))
        initialize(self, config.init, config.init_std)

    def encode(self, ids: Tensor, mask: Tensor, tree: Tensor | None) -> Tensor:
        """Compose a sentence [batch, tokens] to [batch, width]; DataError without parses."""
        if tree is None:
            raise DataError(
                "spinn_pi reads parses, and these pairs were made without; set corpus.parses: true"
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
