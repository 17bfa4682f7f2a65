"""Models of one shape as one model: every parameter and setting once per trial, in front.

A model's code does not know whether its weights are one trial's or a pack's (actmodels.modules.
linear): a pack is a model of the same class whose tensors have a dimension more.
"""

import copy
from collections.abc import Hashable, Sequence

import torch
from torch import Tensor, nn

from actmodels.config import AnyTrialConfig
from actmodels.models.pair_model import PairModel
from actmodels.registry import MODELS, load_class


def pack_shape(config: AnyTrialConfig) -> Hashable:
    """What trials must have in common to be one pack: all but numbers with a fraction, and seed."""
    shared = [(k, v) for k, v in config.flat().items() if not isinstance(v, float)]
    return tuple((k, v) for k, v in shared if k not in ("seed", "max_epochs", "patience"))


def can_pack(name: str) -> bool:
    """Whether trials of a model of this name can be one pack."""
    return name in MODELS and bool(load_class(MODELS[name].model).packs)


def stack(models: Sequence[PairModel]) -> PairModel:
    """Put models of one shape into one, which maps batches [trials, batch, ...].

    Parameters and saved buffers are copied and stacked. Word vectors that are the same for all are
    shared, and so is a setting that is; a setting that differs becomes a tensor [trials].

    Args:
        models: of one class and shape, in the order of the trials.

    Raises:
        ValueError: the models differ in more than numbers.
    """
    shared = {id(buffer): buffer for buffer in models[0].buffers()}  # not worth a copy
    pack = copy.deepcopy(models[0], shared)
    device = next(pack.parameters()).device
    all_modules = [list(model.modules()) for model in models]
    for module, *originals in zip(pack.modules(), *all_modules, strict=True):
        _stack_tensors(module, originals)
        for name, value in list(vars(originals[0]).items()):
            values = [vars(original)[name] for original in originals]
            if isinstance(value, float):
                if any(other != value for other in values):
                    own = torch.tensor(values, dtype=torch.float64, device=device)
                    setattr(module, name, own)
            elif isinstance(value, int | str) and any(other != value for other in values):
                raise ValueError(f"{type(module).__name__}.{name} differs: {values}")
    return pack


@torch.no_grad()
def _stack_tensors(module: nn.Module, originals: Sequence[nn.Module]) -> None:
    """Replace the tensors of one module by those of all trials."""
    for name, parameter in list(module.named_parameters(recurse=False)):
        stacked = torch.stack([original.get_parameter(name) for original in originals])
        setattr(module, name, nn.Parameter(stacked, parameter.requires_grad))
    saved = set(module.state_dict().keys())
    for name, buffer in list(module.named_buffers(recurse=False)):
        buffers = [original.get_buffer(name) for original in originals]
        if name in saved or not all(_same(buffer, other) for other in buffers):
            setattr(module, name, torch.stack(buffers))


def _same(one: Tensor, other: Tensor) -> bool:
    return one.data_ptr() == other.data_ptr() or torch.equal(one, other)


def member_state(pack: PairModel, trial: int) -> dict[str, Tensor]:
    """The state_dict of one trial, copied out of the pack."""
    return {name: tensor[trial].clone() for name, tensor in pack.state_dict().items()}


@torch.no_grad()
def load_member(pack: PairModel, trial: int, state: dict[str, Tensor]) -> None:
    """Put a trial's state_dict into the pack."""
    for name, tensor in pack.state_dict().items():
        tensor[trial].copy_(state[name])
