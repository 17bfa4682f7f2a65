"""Training one network on one task, epoch by epoch, with a state that can be taken up again.

An epoch is a fixed number of updates on data drawn from (seed, epoch), so a run that is
interrupted after any epoch and resumed gives the same bits as one that was not.
"""

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from actmodels.draws import generator, seed_of
from actmodels.model_training import ModelTraining
from actmodels.records import EpochRecord
from actmodels.sequences.act_rnn import ActRnn
from actmodels.sequences.batch import SequenceBatch
from actmodels.sequences.config import SequenceTrialConfig
from actmodels.sequences.evaluation import SequenceMarks, evaluate
from actmodels.sequences.objective import adapt, objective, score
from actmodels.sequences.task import Task


class SequenceTraining(ModelTraining[SequenceTrialConfig, ActRnn, SequenceMarks]):
    """One trial in progress.

    Args:
        config: the trial.
        task: that of config.task; for characters, with its text.
        device: where the model lives, such as "cpu" or "cuda".
    """

    def __init__(self, config: SequenceTrialConfig, task: Task, device: str = "cpu") -> None:
        super().__init__(config)
        self.task = task
        self.device = torch.device(device)
        torch.manual_seed(seed_of("parameters", config.seed))
        self.model = ActRnn(task.inputs, task.outputs.size, config.network, config.halting)
        self.model.to(self.device)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(),
            lr=config.training.learning_rate,
            fused=self.device.type == "cpu",
        )
        settings = config.training
        drawn = generator("dev sequences", settings.dev_seed)
        dev = task.sample_dev(settings.dev_sequences, drawn)
        self.dev: SequenceBatch = dev.to(self.device)

    @property
    def parameters(self) -> int:
        """Trained parameters."""
        return sum(parameter.numel() for parameter in self.model.parameters())

    def train_epoch(self) -> SequenceMarks:
        """Updates on fresh sequences; sets `diverged` and stops at a non-finite loss."""
        settings = self.config.training
        drawn = self.epoch_generator
        marks = SequenceMarks(self.task.marked)
        self.model.train()
        for _ in range(settings.updates_per_epoch):
            batch = self.task.sample(settings.batch_size, drawn).to(self.device)
            pondered = self.model(batch.inputs, batch.mask)
            scored = score(self.task.outputs, pondered.logits, batch)
            loss = objective(scored, pondered, self.model.halting)
            if not torch.isfinite(loss):
                self.diverged = True
                break
            self.update(loss)
            if self.model.halting is not None:
                adapt(self.model.halting, pondered, batch.mask)
            marks.add(scored, pondered, batch)
        return marks

    def update(self, loss: Tensor) -> None:
        """One step of Adam."""
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if self.config.training.clip_norm > 0:
            clip_grad_norm_(self.model.parameters(), self.config.training.clip_norm)
        self.optimizer.step()

    def measured(self, means: SequenceMarks, seconds: float) -> EpochRecord:
        """Score the dev sequences, and give the epoch's record."""
        halting, at_a_time = self.model.halting, self.config.training.batch_size
        train = means.figures()
        found = evaluate(self.model, self.task.outputs, self.dev, at_a_time)
        dev = found.figures(self.task.marked)
        weight = None if halting is None else halting.current_ponder_weight
        return EpochRecord(
            epoch=self.next_epoch,
            train_loss=train.loss,
            train_accuracy=train.accuracy,
            train_mean_steps=train.mean_steps,
            train_sd_steps=train.sd_steps,
            train_ponder_cost=train.ponder_cost,
            dev_loss=dev.loss,
            dev_accuracy=dev.accuracy,
            dev_mean_steps=dev.mean_steps,
            dev_sd_steps=dev.sd_steps,
            dev_ponder_cost=dev.ponder_cost,
            ponder_weight=None if weight is None else float(weight),
            seconds=seconds,
            examples_per_second=means.sequences / seconds,
        )
