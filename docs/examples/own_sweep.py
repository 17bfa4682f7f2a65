"""Sweep a training that is not of this project: classes of handwritten digits by two layers.

    python docs/examples/own_sweep.py

A killed sweep goes on where it was; a finished one only prints its table.
"""

from typing import Any

import torch
from sklearn.datasets import load_digits
from torch import nn

from tune import Sweep


class Digits:
    """An epoch over 1,200 pictures of scikit-learn; 597 others are dev."""

    def __init__(self, config: dict[str, Any], device: str) -> None:
        data = load_digits()
        self.x = torch.tensor(data.data / 16, dtype=torch.float32, device=device)
        self.y = torch.tensor(data.target, device=device)
        self.random = torch.Generator().manual_seed(config["seed"])
        torch.manual_seed(config["seed"])
        layers = nn.Linear(64, config["width"]), nn.ReLU(), nn.Linear(config["width"], 10)
        self.model = nn.Sequential(*layers).to(device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), config["learning_rate"])

    def run_epoch(self) -> dict[str, float]:
        for rows in torch.randperm(1200, generator=self.random).split(32):
            self.optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self.model(self.x[rows]), self.y[rows])
            loss.backward()
            self.optimizer.step()
        right = self.model(self.x[1200:]).argmax(1) == self.y[1200:]
        return {"train_loss": loss.item(), "dev_accuracy": right.float().mean().item()}

    def state_dict(self) -> dict[str, Any]:
        parts = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        return parts | {"random": self.random.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.random.set_state(state["random"])


if __name__ == "__main__":
    sweep = Sweep(
        name="digits",
        training=Digits,
        settings={"learning_rate": [0.001, 0.01], "width": [16, 64]},
        seeds=[1, 2],
        max_epochs=10,
    )
    sweep.run()
    print(sweep.frame().to_string(index=False))
