"""A logger for TensorBoard: a series per metric and trial, in state/tensorboard/.

A package registers it in its pyproject.toml, and `pip install` of that package turns it on:

    [project.entry-points."actmodels.loggers"]
    tensorboard = "my_package.tensorboard_logger:TensorBoard"
"""

from collections.abc import Mapping
from typing import Any

from torch.utils.tensorboard import SummaryWriter


class TensorBoard:
    """A writer for each trial of a sweep."""

    def __init__(self, sweep: str) -> None:
        self.folder, self.writers = f"state/tensorboard/{sweep}", dict[str, Any]()

    def trial_started(self, trial: str, settings: Mapping[str, Any]) -> None:
        self.writers[trial] = SummaryWriter(f"{self.folder}/{trial}")
        self.writers[trial].add_text("settings", str(dict(settings)))

    def epoch_ended(self, trial: str, epoch: int, metrics: Mapping[str, float]) -> None:
        for name, value in metrics.items():
            self.writers[trial].add_scalar(name, value, epoch)

    def trial_ended(self, trial: str, end: str) -> None:
        self.writers.pop(trial).close()
