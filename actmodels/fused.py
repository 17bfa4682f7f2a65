"""Trials of one shape, trained together as one stacked model [trials, ...].

A fusion is a model of the same class, so its code serves single and fused trials alike
(actmodels.modules.linear; Wang et al. 2021, HFTA). Each trial has the result of training it alone.

Between epochs each trial is a `Training`: it can continue in another fusion or alone. Finished
trials leave, and each epoch orders the others by their steps, slowest first. The optimizer has a
learning rate, clipping and update count of each trial. Parameters, gradients and moments are tables
[trials, parameters]: the number of operations does not depend on the number of tensors.
"""

import copy
import time
import warnings
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from actmodels.configs import InputConfig
from actmodels.data.pairs import FILLER, Batch, PairTensors
from actmodels.data.trial_data import TrialData, input_vectors
from actmodels.metrics import EpochMetrics, Outcome
from actmodels.models.pair_model import PairModel
from actmodels.modules.dropout import update_keys
from actmodels.prediction import Prediction
from actmodels.registry import MODELS, load_class
from actmodels.seeding import seed_of
from actmodels.training import Evaluation, Training, evaluate, pair_metrics
from actmodels.trial_config import BaseTrialConfig, TrialConfig

BETA1, BETA2, ADAM_EPSILON = 0.9, 0.999, 1e-8  # Kingma & Ba 2014; torch's defaults
ADAGRAD_EPSILON = 1e-10  # torch's default
NORM_EPSILON = 1e-6  # torch.nn.utils.clip_grad_norm_
STATE_NAMES = {"adam": ("exp_avg", "exp_avg_sq"), "adagrad": ("sum",)}
CHECK_EVERY = 64  # updates between checks whether every trial has diverged


def fusion_shape(config: BaseTrialConfig) -> Hashable:
    """Return the settings that trials of one fusion share: all but floats, seed and limits."""
    shared = [(k, v) for k, v in config.flat().items() if not isinstance(v, float)]
    return tuple((k, v) for k, v in shared if k not in ("seed", "max_epochs", "patience"))


def can_fuse(name: str) -> bool:
    """Return whether trials of a model of this name can be fused."""
    if name not in MODELS:
        return False
    classes = [load_class(reference) for reference in MODELS[name].references]
    return all(one.fusions for one in classes)


def stack(models: Sequence[PairModel]) -> PairModel:
    """Stack models of one class and shape into one, which maps batches [trials, batch, ...].

    Parameters and saved buffers are copied. Equal word vectors and settings are shared; a float
    setting that differs becomes a tensor [trials].

    Raises:
        ValueError: models differ in a setting that is not a float.
    """
    shared = {id(buffer): buffer for buffer in models[0].buffers()}  # not worth a copy
    fusion = copy.deepcopy(models[0], shared)
    device = next(fusion.parameters()).device
    fusion.halting.fused = True
    all_modules = [list(model.modules()) for model in models]
    for module, *originals in zip(fusion.modules(), *all_modules, strict=True):
        _stack_tensors(module, originals)
        for name, value in list(vars(originals[0]).items()):
            values = [vars(original)[name] for original in originals]
            if isinstance(value, float):
                if any(other != value for other in values):
                    setattr(module, name, torch.tensor(values, dtype=torch.float64, device=device))
            elif isinstance(value, int | str) and any(other != value for other in values):
                raise ValueError(f"{type(module).__name__}.{name} differs: {values}")
    return fusion


@torch.no_grad()
def _stack_tensors(module: nn.Module, originals: Sequence[nn.Module]) -> None:
    """Replace the tensors of one module by the stacked tensors of all trials."""
    for name, parameter in list(module.named_parameters(recurse=False)):
        stacked = torch.stack([original.get_parameter(name) for original in originals])
        setattr(module, name, nn.Parameter(stacked, parameter.requires_grad))
    saved = set(module.state_dict().keys())
    for name, buffer in list(module.named_buffers(recurse=False)):
        buffers = [original.get_buffer(name) for original in originals]
        if name in saved or not all(
            buffer.data_ptr() == other.data_ptr() or torch.equal(buffer, other) for other in buffers
        ):
            setattr(module, name, torch.stack(buffers))


def member_state(fusion: PairModel, trial: int) -> dict[str, Tensor]:
    """Copy the state_dict of one trial out of a fusion."""
    return {name: tensor[trial].clone() for name, tensor in fusion.state_dict().items()}


@torch.no_grad()
def load_member(fusion: PairModel, trial: int, state: dict[str, Tensor]) -> None:
    """Copy the state_dict of one trial into a fusion."""
    for name, tensor in fusion.state_dict().items():
        tensor[trial].copy_(state[name])


def shared_batch(batch: Batch, trials: int) -> Batch:
    """Expand a batch to [trials, batch, ...] without copies: the same examples for all trials."""
    return batch.each(lambda tensor: tensor.expand(trials, *tensor.shape))


def joined_batch(batches: Sequence[Batch]) -> Batch:
    """Stack one batch per trial: pad sentences, repeat the last example with the label FILLER."""
    device, counts = batches[0].labels.device, [len(batch.labels) for batch in batches]
    numbers = torch.arange(max(counts), device=device)
    rows = [numbers.clamp(max=count - 1) for count in counts]

    def joined(parts: tuple[Any, ...]) -> Tensor | None:
        if parts[0] is None:
            return None
        longest = max(part.shape[-1] for part in parts)
        padded = [pad(part, (0, longest - part.shape[-1])) for part in parts]
        return torch.stack([part[row] for part, row in zip(padded, rows, strict=True)])

    batch = Batch(*(joined(parts) for parts in zip(*batches, strict=True)))  # type: ignore[arg-type]
    repeated = numbers >= torch.tensor(counts, device=device)[:, None]
    return batch._replace(labels=batch.labels.masked_fill(repeated, FILLER))


def fused_batches(batches: Sequence[Iterator[Batch]], seeds: Sequence[int]) -> Iterator[Batch]:
    """Yield the stacked batches of an epoch; trials of one seed share their batches."""
    if len(set(seeds)) == 1:
        yield from (shared_batch(batch, len(seeds)) for batch in batches[0])
    else:
        yield from map(joined_batch, zip(*batches, strict=True))


# Parameters and gradients are views of tables, so gradients are not contiguous. torch warns of it;
# contiguous gradients would need a copy at each update.
warnings.filterwarnings("ignore", message="grad and param do not obey the gradient layout")


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

        self.rate = torch.zeros_like(self.table[:, :1])
        norms = [c.training.clip_norm or torch.inf for c in configs]
        self.clip_norm = column(norms).to(first.dtype)
        starts = [c.training.adagrad_accumulator for c in configs]
        start = column(starts if self.type == "adagrad" else [0.0] * trials).to(first.dtype)
        self.moments = [start.repeat(1, sum(self.sizes)) for _ in STATE_NAMES[self.type]]
        self.updates = column([0.0] * trials)
        self.load(states)

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

    def load(self, states: Sequence[dict[str, Any]]) -> None:
        """Load the torch.optim state_dict of each trial, in place."""
        rates = [[state["param_groups"][0]["lr"]] for state in states]
        self.rate.copy_(torch.tensor(rates, dtype=torch.float64))
        for trial, state in enumerate(states):
            if state["state"]:
                self._load(trial, state["state"])

    def _load(self, trial: int, saved: dict[int, Any]) -> None:
        """Load the state of the parameters of one trial."""
        self.updates[trial] = float(saved[0]["step"])
        for name, moment in zip(STATE_NAMES[self.type], self.moments, strict=True):
            values = [saved[number][name].flatten() for number in range(len(self.sizes))]
            moment[trial] = torch.cat(values).to(moment)


def slowness(trial: Training) -> float:
    """Return the mean steps in the last epoch."""
    return (trial.history[-1].train_mean_steps or 0.0) if trial.history else 0.0


def fuse(members: Sequence[Training]) -> tuple[PairModel, FusedOptimizer]:
    """Stack the models of trials, and their optimizers' states."""
    fusion = stack([member.model for member in members])
    configs, states = zip(*((m.config, m.optimizer.state_dict()) for m in members), strict=True)
    return fusion, FusedOptimizer(fusion, configs, states)


class FusedTraining:
    """The training of trials of one shape, `members` in the order of `configs`.

    Raises:
        ValueError: the trials differ in `fusion_shape`.
    """

    def __init__(
        self, configs: Sequence[TrialConfig], data: TrialData, device: str = "cpu"
    ) -> None:
        if len({fusion_shape(config) for config in configs}) != 1:
            raise ValueError("trials of one fusion must have the same shape (fusion_shape)")
        self.data, self.device = data, torch.device(device)
        inputs = {(config.input, config.seed) for config in configs}
        vectors = {key: input_vectors(data.words, *key).to(self.device) for key in inputs}
        self.members = [Training(c, data, device, vectors[c.input, c.seed]) for c in configs]

    @property
    def running(self) -> list[Training]:
        """The unfinished trials, slowest first."""
        unfinished = [member for member in self.members if not member.finished]
        return sorted(unfinished, key=slowness, reverse=True)

    @property
    def finished(self) -> bool:
        return not self.running

    def run_epoch(self) -> list[Training]:
        """Train and evaluate the running trials for one epoch; return them with new records."""
        start = time.perf_counter()
        members = self.running
        for member in members:
            settings = member.config.training
            member.set_rate(settings.learning_rate, settings.final_rate)
        fusion, optimizer = self.fused(members)
        means, alive = self.train_epoch(fusion, optimizer, members)
        for trial, (member, survived) in enumerate(zip(members, alive.tolist(), strict=True)):
            member.diverged = not survived
            if member.diverged:
                load_member(fusion, trial, member.model.state_dict())
            else:
                groups = member.optimizer.state_dict()["param_groups"]
                member.model.load_state_dict(member_state(fusion, trial))
                member.optimizer.load_state_dict(optimizer.state_dict(trial, groups))
        seconds, weights = (time.perf_counter() - start) / len(members), fusion.ponder_weight
        evaluations = evaluate_fusion(fusion, self.data.dev, members[0].config.input, len(members))
        for trial, (member, dev) in enumerate(zip(members, evaluations, strict=True)):
            weight = weights[trial] if isinstance(weights, Tensor) and weights.dim() else weights
            train, seen = means.metrics(trial), means.examples(trial)
            member.add(train, dev.metrics, weight, seconds, seen)
        return members

    def fused(self, members: Sequence[Training]) -> tuple[PairModel, FusedOptimizer]:
        """Return the members of the next epoch as one model, and its optimizer."""
        return fuse(members)

    def train_epoch(
        self, fusion: PairModel, optimizer: FusedOptimizer, members: Sequence[Training]
    ) -> tuple[EpochMetrics, Tensor]:
        """Train one epoch; return its metrics, and which trials [trials] had only finite losses."""
        draws = [member.epoch_generator for member in members]
        seeds = torch.tensor([m.config.seed for m in members], device=self.device)
        epochs = torch.tensor([m.next_epoch for m in members], device=self.device)
        alive = torch.ones(len(members), dtype=torch.bool, device=self.device)
        means = EpochMetrics(pair_metrics)
        torch.manual_seed(seed_of("torch", *(one.initial_seed() for one in draws)))
        fusion.train()
        fusion.halting.start_epoch(epochs)
        keys = update_keys(seeds, epochs, self.device)
        for update, batch in enumerate(self.batches(members, draws)):
            fusion.dropout_stream.restart(next(keys))
            means.add(self.update(fusion, optimizer, batch, alive))
            if update % CHECK_EVERY == 0 and not bool(alive.any()):
                break
        return means, alive

    def batches(
        self, members: Sequence[Training], draws: Sequence[torch.Generator]
    ) -> Iterator[Any]:
        """Yield the batches of an epoch, drawn by a generator of each member."""
        batches = [member.batches(one) for member, one in zip(members, draws, strict=True)]
        return fused_batches(batches, [one.initial_seed() for one in draws])

    def update(
        self, fusion: PairModel, optimizer: FusedOptimizer, batch: Any, alive: Tensor
    ) -> Outcome:
        """Update on a batch, and `alive` [trials] in place; return what metrics need."""
        return finish_update(fusion, optimizer, fusion(batch), batch.labels, alive)


def finish_update(
    fusion: PairModel,
    optimizer: FusedOptimizer,
    prediction: Prediction,
    labels: Tensor,
    alive: Tensor,
) -> Outcome:
    """Update on the prediction of a batch; see `FusedTraining.update`."""
    objective = fusion.objective(prediction, labels)
    alive &= torch.isfinite(objective)
    optimizer.zero_grad()
    objective.sum().backward()
    optimizer.step(alive)
    fusion.halting.on_update_end(prediction, labels)
    with torch.no_grad():
        return *prediction[:3], torch.where(alive[:, None], labels, FILLER)


def evaluate_fusion(
    fusion: PairModel, pairs: PairTensors, config: InputConfig, trials: int
) -> list[Evaluation]:
    """Evaluate each trial of a fusion on a split; see actmodels.training.evaluate."""
    fused = evaluate(fusion, pairs, config, transform=lambda batch: shared_batch(batch, trials))
    return [fused.trial(number) for number in range(trials)]
