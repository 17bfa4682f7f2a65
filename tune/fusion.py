"""Group trials of one shape into fusions, distributed over the workers. Does not import Ray."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import chain, pairwise
from typing import TypeAlias

from actmodels.fused import can_fuse, fusion_shape
from actmodels.trial_config import BaseTrialConfig
from tune.grid import Trial, by_configuration
from tune.points import fusion_point, point_name

# Trials that one worker trains together; each has its own checkpoint and record.
Fusion: TypeAlias = Sequence[Trial]


def fusion_name(fusion: Fusion) -> str:
    """Return the name in Ray's dashboard: the first trial and the number of the others."""
    return point_name(fusion_point(fusion))


def slowness(config: BaseTrialConfig) -> tuple[float, ...]:
    """Return a sort key for the expected number of steps; the slowest trial delays its fusion."""
    settings = config.flat()
    more = [float(settings.get(name, 0.0)) for name in ("target_steps", "prior_steps")]
    fewer = [-float(settings.get(n, 0.0)) for n in ("ponder_weight", "halting_bias", "epsilon")]
    return (*more, *fewer)


def group_by_shape(trials: Sequence[Trial]) -> dict[Hashable, list[Trial]]:
    """Group trials that can be fused, sorted by seed (same batches), then by slowness.

    A trial of a model that cannot be fused is a group of its own.
    """
    groups: dict[Hashable, list[Trial]] = {}
    for trial in sorted(trials, key=lambda t: (t.config.seed, slowness(t.config))):
        shape = fusion_shape(trial.config) if can_fuse(trial.config.model) else trial.key
        groups.setdefault(shape, []).append(trial)
    return groups


def make_fusions(
    trials: Sequence[Trial], sizes: Mapping[Hashable, int], workers: int
) -> list[Fusion]:
    """Split the groups of trials into fusions, in the order of their first trials.

    sizes: the maximum by shape, 1 if missing; see by_configuration. There is at least one fusion
    per worker.
    """
    units = {unit[0].key: unit for unit in by_configuration(trials)}
    firsts = group_by_shape([unit[0] for unit in units.values()])
    groups = {shape: [units[trial.key] for trial in group] for shape, group in firsts.items()}
    counts = {
        shape: min(len(group), -(-sum(map(len, group)) // sizes.get(shape, 1)))
        for shape, group in groups.items()
    }
    while sum(counts.values()) < min(workers, len(units)):
        largest = max(groups, key=lambda shape: len(groups[shape]) / counts[shape])
        counts[largest] += 1
    fusions: list[Fusion] = []
    for shape, group in groups.items():
        bounds = [len(group) * number // counts[shape] for number in range(counts[shape] + 1)]
        fusions += [[*chain(*group[a:b])] for a, b in pairwise(bounds)]
    position = {trial.key: number for number, trial in enumerate(trials)}
    return sorted(fusions, key=lambda fusion: min(position[trial.key] for trial in fusion))


def split_largest(fusions: Sequence[Fusion], count: int) -> list[Fusion]:
    """Halve the largest fusion until there are `count` fusions, or none can be split."""
    result = [by_configuration(fusion) for fusion in fusions]
    while len(result) < count:
        largest = max(result, key=len)
        middle = (len(largest) + 1) // 2
        if len(largest) == 1:
            break
        result.remove(largest)
        result += [largest[:middle], largest[middle:]]
    return [[*chain(*groups)] for groups in result]
