"""Stack models of one shape and their batches along a leading dimension [trials, ...].

A fusion is a model of the same class, so its code serves single and fused trials alike
(actmodels.modules.linear; Wang et al. 2021, HFTA).
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
