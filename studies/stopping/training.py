"""Training and evaluation on bit strings, which are drawn from (seed, epoch)."""

from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Generator, Tensor

from actmodels.halting.base import Halting
from actmodels.metrics import BatchMetrics, EpochMetrics, Metrics
from actmodels.model_training import ModelTraining
from actmodels.prediction import Prediction
from actmodels.seeding import generator, seed_of
from studies.stopping.config import StoppingTrialConfig
from studies.stopping.network import StringNetwork, Strings, draw


def no_data(config: StoppingTrialConfig, folder: Path, text: Path | None = None) -> None:
    """Load nothing, as strings are drawn; see BaseTrialConfig."""


@torch.no_grad()
def evaluate(
    model: StringNetwork,
    strings: Strings,
    batch_size: int,
    halting: Halting | None = None,
    max_steps: int | None = None,
) -> Prediction:
    """Predict strings; the batch size changes no result."""
    model.eval()
    parts = [model(part, halting, max_steps) for part in strings.inputs.split(batch_size)]
    logits, steps, costs = zip(*((p.logits, p.steps, p.ponder_cost) for p in parts), strict=True)
    cost = None if costs[0] is None else torch.cat(costs)
    return Prediction(torch.cat(logits), torch.cat(steps), cost)


class StoppingTraining(ModelTraining[StoppingTrialConfig, StringNetwork, Strings, Prediction]):
    """The training of one trial."""

    keeps_last = True

    def __init__(self, config: StoppingTrialConfig, data: None = None, device: str = "cpu") -> None:
        super().__init__(config, device)
        settings, task = config.training, config.task
        torch.manual_seed(seed_of("parameters", config.seed))
        self.model = StringNetwork(task.task, config.network.width, config.halting).to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=settings.learning_rate)
        self.clip_norm = settings.clip_norm
        draws = generator("dev strings", settings.dev_seed)
        self.dev = self.on_device(draw(task.task, settings.dev_strings, task.bits, draws))

    def on_device(self, strings: Strings) -> Strings:
        """Return strings on the device of the trial."""
        return Strings(*(part.to(self.device) for part in strings))

    @property
    def ponder_weight(self) -> float | Tensor | None:
        return self.model.halting.current_ponder_weight

    def train_epoch(self) -> EpochMetrics:
        """Train at the learning rate of the epoch."""
        settings = self.config.training
        self.set_rate(settings.learning_rate, settings.final_rate)
        self.model.halting.start_epoch(self.next_epoch)
        return super().train_epoch()

    def batches(self, order: Generator) -> Iterator[Strings]:
        settings, task = self.config.training, self.config.task
        for _ in range(settings.updates_per_epoch):
            yield self.on_device(draw(task.task, settings.batch_size, task.bits, order))

    def forward(self, batch: Strings) -> Prediction:
        prediction: Prediction = self.model(batch.inputs)
        return prediction

    def objective(self, output: Prediction, batch: Strings) -> Tensor:
        return self.model.halting.objective(output, batch.targets)

    def on_update_end(self, output: Prediction, batch: Strings) -> None:
        self.model.halting.on_update_end(output, batch.targets)

    def outcome(self, output: Prediction, batch: Strings) -> BatchMetrics:
        """Return the loss over bits, and how many bits are right."""
        targets, count = batch.targets, torch.tensor(batch.targets.numel())
        losses = torch.nn.functional.cross_entropy(output.logits.flatten(0, 1), targets.flatten())
        right = (output.logits.argmax(dim=-1) == targets).sum()
        examples = torch.tensor(len(targets))
        return BatchMetrics(
            losses * count, count, right, count, examples, output.steps, output.ponder_cost
        )

    def dev_metrics(self) -> Metrics:
        means = EpochMetrics()
        prediction = evaluate(self.model, self.dev, self.config.training.batch_size)
        means.add(self.outcome(prediction, self.dev))
        return means.metrics()
