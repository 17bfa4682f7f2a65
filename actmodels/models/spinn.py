"""SPINN-PI: sentences composed along given parses, compared as wholes (Bowman et al. 2016)."""

import torch
from torch import Tensor

from actmodels.data.labels import LABELS
from actmodels.data.pairs import Batch
from actmodels.errors import DataError
from actmodels.models.pair_model import PairModel
from actmodels.modules.dropout import Dropout
from actmodels.modules.initialisation import initialise
from actmodels.modules.linear import Linear
from actmodels.modules.projection import ProjectedWords
from actmodels.modules.thin_stack import ThinStack
from actmodels.prediction import Prediction
from actmodels.settings import SpinnConfig


class Spinn(PairModel):
    """Encode each sentence by a stack that its parse drives, compare the two, classify.

    The stack-augmented parser-interpreter network, parsed input (SPINN-PI): transitions are given,
    and the tracking LSTM speaks in the composition; there is no parser. A word is projected to
    hidden state and cell. Two rectified layers lie over [p; h; p - h; p * h].

    Without the batch normalisation that the authors have in front of each layer: with it the
    examples of a batch would see each other. 3,690,827 trained parameters at width 300, tracking
    of 61 and layers of 1024, the sizes in the authors' published settings; with its 7,696 that
    would be 3.70M (published: 3.7M).

    Args:
        vectors: input rows [rows, dimensions], see actmodels.data.trial_data.
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
        initialise(self, config.init, config.init_std)

    def encode(self, ids: Tensor, mask: Tensor, tree: Tensor | None) -> Tensor:
        """Compose a sentence [batch, tokens] to one vector [batch, width].

        Raises:
            DataError: the sentences have no parses.
        """
        if tree is None:
            raise DataError(
                "spinn_pi reads parses, and these pairs were made without; set corpus.parses: true"
            )
        encoded: Tensor = self.stack(self.dropout(self.words(ids)), mask, tree)
        return encoded

    def forward(self, batch: Batch) -> Prediction:
        """Score a batch; see Prediction for shapes."""
        premise = self.encode(batch.premise, batch.premise_mask, batch.premise_tree)
        hypothesis = self.encode(batch.hypothesis, batch.hypothesis_mask, batch.hypothesis_tree)
        compared = [premise, hypothesis, premise - hypothesis, premise * hypothesis]
        pair = self.dropout(torch.cat(compared, dim=-1))
        hidden = self.dropout(torch.relu(self.first(pair)))
        hidden = self.dropout(torch.relu(self.second(hidden)))
        return Prediction(self.classify(hidden))
