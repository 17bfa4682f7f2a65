"""Models of one shape as one, and their batches: all that differs by trial, stacked in front.

A model's code does not know whether its weights are one trial's or a fusion's (actmodels.modules.
linear): a fusion is a model of the same class whose tensors have a dimension more.
"""

import copy
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from actmodels.data.pairs import FILLER, Batch
from actmodels.models.pair_model import PairModel
from actmodels.registry import MODELS, load_class
from actmodels.trial_config import BaseTrialConfig


def fusion_shape(config: BaseTrialConfig) -> Hashable:
    """Return what trials of one fusion share: all settings but floats and the seed."""
    shared = [(k, v) for k, v in config.flat().items() if not isinstance(v, float)]
    return tuple((k, v) for k, v in shared if k not in ("seed", "max_epochs", "patience"))


def can_fuse(name: str) -> bool:
    """Whether trials of a model of this name can be one fusion."""
    return name in MODELS and bool(load_class(MODELS[name].model).fusions)


def stack(models: Sequence[PairModel]) -> PairModel:
    """Stack models of one class and shape into one, which maps batches [trials, batch, ...].

    Parameters and saved buffers are copied. Equal word vectors and settings are shared; a setting
    that differs becomes a tensor [trials]. ValueError if models differ in more than numbers.
    """
    shared = {id(buffer): buffer for buffer in models[0].buffers()}  # not worth a copy
    fusion = copy.deepcopy(models[0], shared)
    device = next(fusion.parameters()).device
    all_modules = [list(model.modules()) for model in models]
    for module, *originals in zip(fusion.modules(), *all_modules, strict=True):
        _stack_tensors(module, originals)
        for name, value in list(vars(originals[0]).items()):
            values = [vars(original)[name] for original in originals]
            if isinstance(value, float):
                if any(other != value for other in values):
                    own = torch.tensor(values, dtype=torch.float64, device=device)
                    setattr(module, name, own)
            elif isinstance(value, int | str) and any(other != value for other in values):
                raise ValueError(f"{type(module).__name__}.{name} differs: {values}")
    return fusion


@torch.no_grad()
def _stack_tensors(module: nn.Module, originals: Sequence[nn.Module]) -> None:
    """Replace the tensors of one module by those of all trials."""
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
    """The state_dict of one trial, copied out of the fusion."""
    return {name: tensor[trial].clone() for name, tensor in fusion.state_dict().items()}


@torch.no_grad()
def load_member(fusion: PairModel, trial: int, state: dict[str, Tensor]) -> None:
    """Put a trial's state_dict into the fusion."""
    for name, tensor in fusion.state_dict().items():
        tensor[trial].copy_(state[name])


def shared_batch(batch: Batch, trials: int) -> Batch:
    """The same examples for all trials: views [trials, batch, ...], no copies."""
    return batch.each(lambda tensor: tensor.expand(trials, *tensor.shape))


def joined_batch(batches: Sequence[Batch]) -> Batch:
    """Join one batch per trial: sentences padded, the last example repeated with label FILLER."""
    device, counts = batches[0].labels.device, [len(batch.labels) for batch in batches]
    numbers = torch.arange(max(counts), device=device)
    rows = [numbers.clamp(max=count - 1) for count in counts]

    def joined(parts: tuple[Any, ...]) -> Tensor | None:
        if parts[0] is None:
            return None
        longest = max(part.shape[-1] for part in parts)
        padded = [pad(part, (0, longest - part.shape[-1])) for part in parts]
        return torch.stack([part[own] for part, own in zip(padded, rows, strict=True)])

    batch = Batch(*(joined(parts) for parts in zip(*batches, strict=True)))  # type: ignore[arg-type]
    repeated = numbers >= torch.tensor(counts, device=device)[:, None]
    return batch._replace(labels=batch.labels.masked_fill(repeated, FILLER))


def fused_batches(own: Sequence[Iterator[Batch]], seeds: Sequence[int]) -> Iterator[Batch]:
    """The batches of an epoch, of each trial's own; trials of one seed share them."""
    if len(set(seeds)) == 1:
        yield from (shared_batch(batch, len(seeds)) for batch in own[0])
    else:
        yield from (joined_batch(batches) for batches in zip(*own, strict=True))
