"""What trials are trained on, in Ray's object store: once on each node, whatever it trains.

A node reads nothing of this project's folders.
"""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy
import ray
import torch

from actmodels.kinds import kind_of
from actmodels.registry import load_class
from tune.execution import Execution
from tune.grid import Trial


def share(trials: Iterable[Trial], execution: Execution) -> dict[str, ray.ObjectRef[Any]]:
    """Give the cluster what trials are trained on, each digest once.

    Returns:
        by a trial's key, what a worker gets it by.

    Raises:
        ArtefactError: a file is missing or damaged.
    """
    ray.util.register_serializer(
        torch.Tensor, serializer=torch.Tensor.numpy, deserializer=_as_tensor
    )
    shared: dict[str, ray.ObjectRef[Any]] = {}
    by_key: dict[str, ray.ObjectRef[Any]] = {}
    for trial in trials:
        digest, load = trial.origin["data"], load_class(kind_of(trial.config).data)
        if digest not in shared:
            shared[digest] = ray.put(load(trial.config, execution.data_folder, execution.text))
        by_key[trial.key] = shared[digest]
    return by_key


def _as_tensor(array: numpy.ndarray) -> torch.Tensor:
    """The memory of the object store itself, where Ray leaves arrays."""
    with warnings.catch_warnings(category=UserWarning, action="ignore"):  # it is not writable
        return torch.from_numpy(array)
