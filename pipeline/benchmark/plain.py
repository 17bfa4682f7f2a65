"""The plain way to train the model: what the product is compared with.

Shuffled batches, padded to the longest sentence; all examples take steps until the last has
halted; dropout and optimiser as torch has them; weight gradients formed at each step. The model's
own code is the same, so that nothing else differs.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from actmodels.config import TrialConfig
from actmodels.data.pairs import collate
from actmodels.data.trial_data import TrialData
from actmodels.models.pair_model import PairModel
from actmodels.modules.dropout import Dropout


class PlainDropout(Dropout):
    """Masks from torch's generator."""

    def mask(self, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """Draw zeros and 1/(1 - rate) of a shape."""
        dropped: Tensor = self(like.new_ones(() if self.idle else shape))
        return dropped

    def forward(self, inputs: Tensor) -> Tensor:
        """Drop units of any shape."""
        assert isinstance(self.rate, float)
        return functional.dropout(inputs, self.rate, self.training)


class PlainTraining:
    """A trial trained the plain way, by Adagrad; `run` trains on given batches.

    Args:
        model: as the product builds it; changed in place.
    """

    def __init__(self, config: TrialConfig, model: PairModel, data: TrialData) -> None:
        for module in model.modules():
            if isinstance(module, Dropout):
                module.__class__ = PlainDropout
        self.config, self.model, self.data = config, model, data
        self.optimizer = torch.optim.Adagrad(
            model.parameters(),
            lr=config.training.learning_rate,
            initial_accumulator_value=config.training.adagrad_accumulator,
        )

    def run(self, batches: Sequence[Tensor]) -> None:
        """Train on the rows of each batch."""
        self.model.train()
        for index in batches:
            batch = collate(self.data.train, index, null_token=False)
            prediction = self.model(batch, loop="until_halted")
            loss = self.model.objective(prediction, batch.labels)
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.config.training.clip_norm)
            self.optimizer.step()
            loss.item()
