"""A GRU over the words of a sentence, one output per word (thesis section 5.1)."""

import torch
from torch import Tensor, nn

from actmodels.modules.gru import GRUCell


class GRUEncoder(nn.Module):
    """Give each word the state of a GRU that has read up to it (Sordoni et al. 2016, "encode").

    The 2016 code read sentences padded on the left without a mask, so that its states at the
    first word already came from the padding; here they start from zeros.

    Args:
        inputs: size of a word. size: state of each direction.
        bidirectional: append the states of a second GRU that reads from the end, as Sordoni et
            al. do; the thesis left it out to save computation.
    """

    def __init__(self, inputs: int, size: int, *, bidirectional: bool) -> None:
        super().__init__()
        self.forwards = GRUCell(inputs, size)
        self.backwards = GRUCell(inputs, size) if bidirectional else None

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """Map words [batch, tokens, inputs] to states [batch, tokens, size per direction].

        Args:
            mask: true for real tokens [batch, tokens]. What stands at the others has no meaning.
        """
        states = self.forwards.read(words, mask)
        if self.backwards is None:
            return states
        return torch.cat([states, self.backwards.read(words, mask, backward=True)], dim=-1)
