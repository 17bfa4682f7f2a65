"""ACT with remedies against its collapse: supervised steps and a ponder weight that warms up."""

from torch import Tensor
from torch.nn.functional import cross_entropy

from actmodels.halting.act import Act
from actmodels.halting.family import Classify
from actmodels.models.prediction import Prediction
from actmodels.settings import SupervisedActConfig


class SupervisedAct(Act):
    """ACT that also classifies each state up to N by itself, and pays nothing for steps at first.

    objective = ACT's + step_loss_weight · mean over n <= N of the loss of state n. The ponder
    weight grows linearly from 0 in the first epoch to its whole after `warm_up_epochs` more.
    The deep start is ACT's own setting halting_bias.
    """

    def __init__(self, config: SupervisedActConfig, state: int) -> None:
        super().__init__(config, state)
        self.ponder_weight = config.ponder_weight
        self.warm_up_epochs = config.warm_up_epochs
        self.step_loss_weight = config.step_loss_weight
        self.share = 1.0

    def start_epoch(self, epoch: int) -> None:
        """Set the share of the ponder weight that holds in this epoch."""
        self.share = min(1.0, (epoch - 1) / self.warm_up_epochs) if self.warm_up_epochs else 1.0

    def cost_weight(self) -> float:
        """The ponder weight now."""
        return self.share * self.ponder_weight

    def answer(self, states: Tensor, probabilities: Tensor, classify: Classify) -> Prediction:
        """ACT's answer, and every state's own."""
        answer = super().answer(states, probabilities, classify)
        return answer._replace(step_logits=classify(states))

    def objective(self, prediction: Prediction, labels: Tensor) -> Tensor:
        """ACT's objective and the mean loss of the states up to each example's own N."""
        assert prediction.step_logits is not None and prediction.weights is not None
        count, steps, classes = prediction.step_logits.shape
        losses = cross_entropy(
            prediction.step_logits.reshape(count * steps, classes),
            labels.repeat_interleave(steps),
            reduction="none",
        ).view(count, steps)
        taken = (prediction.weights > 0).to(losses.dtype)
        step_loss = ((losses * taken).sum(dim=1) / taken.sum(dim=1)).mean()
        return super().objective(prediction, labels) + self.step_loss_weight * step_loss
