"""Which trials train together: fusions of one shape, spread over the workers. No Ray."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from actmodels.fused.stack import can_fuse, fusion_shape
from actmodels.trial_config import BaseTrialConfig
from tune.grid import Trial


@dataclass(frozen=True)
class Fusion:
    """Trials that one worker trains at once; each keeps its own key, checkpoint and record."""

    trials: tuple[Trial, ...]

    @property
    def name(self) -> str:
        """What the fusion is called in Ray's dashboard: its first trial, and how many follow."""
        others = len(self.trials) - 1
        return self.trials[0].name + (f"-and-{others}-more" if others else "")

    def halves(self) -> list["Fusion"]:
        """The fusion as two, the first one larger by one if need be."""
        middle = (len(self.trials) + 1) // 2
        return [Fusion(self.trials[:middle]), Fusion(self.trials[middle:])]


def slowness(config: BaseTrialConfig) -> tuple[float, ...]:
    """Sorts trials by their probable steps: a fusion takes as many as its slowest trial."""
    settings = config.flat()
    more = [float(settings.get(name, 0.0)) for name in ("target_steps", "prior_steps")]
    fewer = [-float(settings.get(n, 0.0)) for n in ("ponder_weight", "halting_bias", "epsilon")]
    return (*more, *fewer)


def by_shape(trials: Sequence[Trial]) -> dict[Hashable, list[Trial]]:
    """Trials that can be one fusion, in the order in which they are cut into fusions.

    Equal seeds, which share batches, come together, then like slowness. A trial of a model that
    cannot fusion is a shape of its own.
    """
    groups: dict[Hashable, list[Trial]] = {}
    for trial in sorted(trials, key=lambda t: (t.config.seed, slowness(t.config))):
        shape = fusion_shape(trial.config) if can_fuse(trial.config.model) else trial.key
        groups.setdefault(shape, []).append(trial)
    return groups


def make_fusions(
    groups: Mapping[Hashable, Sequence[Trial]], sizes: Mapping[Hashable, int], workers: int
) -> list[Fusion]:
    """Cut groups into fusions: none above the size of its shape, and enough for all workers."""
    counts = {shape: -(-len(trials) // sizes[shape]) for shape, trials in groups.items()}
    while sum(counts.values()) < min(workers, sum(map(len, groups.values()))):
        largest = max(groups, key=lambda shape: len(groups[shape]) / counts[shape])
        counts[largest] += 1
    fusions = []
    for shape, trials in groups.items():
        bounds = [len(trials) * number // counts[shape] for number in range(counts[shape] + 1)]
        fusions += [Fusion(tuple(trials[a:b])) for a, b in pairwise(bounds)]
    return fusions


def spread(fusions: Sequence[Fusion], places: int) -> list[Fusion]:
    """The same trials in as many fusions as there are places, or as there are trials."""
    found = list(fusions)
    while len(found) < places:
        largest = max(found, key=lambda fusion: len(fusion.trials))
        if len(largest.trials) == 1:
            break
        found.remove(largest)
        found += largest.halves()
    return found


def in_order(fusions: Sequence[Fusion], trials: Sequence[Trial]) -> list[Fusion]:
    """Fusions sorted by the first of their trials, as `trials` has them."""
    place = {trial.key: number for number, trial in enumerate(trials)}
    return sorted(fusions, key=lambda fusion: min(place[trial.key] for trial in fusion.trials))
