"""Adam and Adagrad for fused trials, each with its own learning rate, clipping and update count.

Parameters, gradients and moments of a fusion are tables [trials, parameters]: the number of
operations of an update does not depend on the number of tensors.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from actmodels.models.pair_model import PairModel
from actmodels.trial_config import TrialConfig

BETA1, BETA2, ADAM_EPSILON = 0.9, 0.999, 1e-8  # Kingma & Ba 2014; torch's defaults
ADAGRAD_EPSILON = 1e-10  # torch's default
NORM_EPSILON = 1e-6  # torch.nn.utils.clip_grad_norm_
# Parameters and gradients are views of tables, so gradients are not contiguous. torch warns of it;
# contiguous gradients would need a copy at each update.
warnings.filterwarnings("ignore", message="grad and param do not obey the gradient layout")

STATE_NAMES = {"adam": ("exp_avg", "exp_avg_sq"), "adagrad": ("sum",)}


class FusedOptimizer:
    """Update all trials of a fusion with the arithmetic of torch.optim.

    Args:
        fusion: stacked model; its parameters become views of the table.
        configs: configurations with one type of optimizer.
        states: the torch.optim state_dict of each trial.
    """

    def __init__(
        self, fusion: PairModel, configs: Sequence[TrialConfig], states: Sequence[dict[str, Any]]
    ) -> None:
        self.parameters = list(fusion.parameters())
        self.type = configs[0].training.optimizer
        trials, first = len(configs), self.parameters[0]
        self.sizes = [p[0].numel() for p in self.parameters]
        self.shapes = [p.shape[1:] for p in self.parameters]
        self.table = first.new_empty(trials, sum(self.sizes))
        self.gradients = torch.zeros_like(self.table)
        self._move_parameters()

        def column(values: list[float]) -> Tensor:
            return torch.tensor(values, dtype=torch.float64, device=first.device)[:, None]

        self.rate = column([state["param_groups"][0]["lr"] for state in states]).to(first.dtype)
        norms = [c.training.clip_norm or torch.inf for c in configs]
        self.clip_norm = column(norms).to(first.dtype)
        starts = [c.training.adagrad_accumulator for c in configs]
        start = column(starts if self.type == "adagrad" else [0.0] * trials).to(first.dtype)
        self.moments = [start.repeat(1, sum(self.sizes)) for _ in STATE_NAMES[self.type]]
        self.updates = column([0.0] * trials)
        for trial, state in enumerate(states):
            self._load(trial, state)

    def _move_parameters(self) -> None:
        """Replace every parameter and gradient by a view of its table."""
        tables = (self.table.split(self.sizes, 1), self.gradients.split(self.sizes, 1))
        for parameter, values, gradient in zip(self.parameters, *tables, strict=True):
            view = values.unflatten(1, parameter.shape[1:])
            view.copy_(parameter.detach())
            parameter.data = view
            parameter.grad = gradient.unflatten(1, parameter.shape[1:])

    def zero_grad(self) -> None:
        self.gradients.zero_()

    @torch.no_grad()
    def step(self, alive: Tensor) -> None:
        """Clip and apply the gradients of `alive` trials [trials]; those of others may be nan."""
        gradient = torch.where(alive[:, None], self.gradients, 0.0)
        norm = torch.linalg.vector_norm(gradient, dim=1, keepdim=True)
        gradient *= (self.clip_norm / (norm + NORM_EPSILON)).clamp(max=1.0)
        self.updates += 1
        if self.type == "adam":
            self._adam(gradient)
        else:
            total = self.moments[0]
            total.addcmul_(gradient, gradient)
            self.table.sub_(gradient.mul_(self.rate).div_(total.sqrt().add_(ADAGRAD_EPSILON)))

    def _adam(self, gradient: Tensor) -> None:
        mean, square = self.moments
        mean.lerp_(gradient, 1 - BETA1)
        square.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
        rate = (self.rate / (1 - BETA1**self.updates)).to(mean.dtype)
        correction = torch.sqrt(1 - BETA2**self.updates).to(mean.dtype)
        self.table.sub_((mean * rate).div_(square.sqrt().div_(correction).add_(ADAM_EPSILON)))

    def state_dict(self, trial: int, groups: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the torch.optim state_dict of one trial, with its param_groups."""
        step = self.updates[trial, 0].to("cpu", torch.float32)  # as in torch.optim
        state = {number: {"step": step.clone()} for number in range(len(self.sizes))}
        for name, moment in zip(STATE_NAMES[self.type], self.moments, strict=True):
            for number, part in enumerate(moment[trial].split(self.sizes)):
                state[number][name] = part.clone().view(self.shapes[number])
        return {"state": state, "param_groups": groups}

    def _load(self, trial: int, state: dict[str, Any]) -> None:
        """Load a torch.optim state_dict of one trial."""
        saved = state["state"]
        if not saved:
            return
        self.updates[trial] = float(saved[0]["step"])
        for name, moment in zip(STATE_NAMES[self.type], self.moments, strict=True):
            values = [saved[number][name].flatten() for number in range(len(self.sizes))]
            moment[trial] = torch.cat(values).to(moment)
