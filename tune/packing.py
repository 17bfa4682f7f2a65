"""Which trials train together: packs of one shape, spread over the workers. No Ray."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from actmodels.config import AnyTrialConfig
from actmodels.packed.stack import can_pack, pack_shape
from tune.grid import Trial


@dataclass(frozen=True)
class Pack:
    """Trials that one worker trains at once; each keeps its own key, checkpoint and record."""

    trials: tuple[Trial, ...]

    @property
    def name(self) -> str:
        """What the pack is called in Ray's dashboard: its first trial, and how many follow."""
        others = len(self.trials) - 1
        return self.trials[0].name + (f"-and-{others}-more" if others else "")

    def halves(self) -> list["Pack"]:
        """The pack as two, the first one larger by one if need be."""
        middle = (len(self.trials) + 1) // 2
        return [Pack(self.trials[:middle]), Pack(self.trials[middle:])]


def slowness(config: AnyTrialConfig) -> tuple[float, ...]:
    """Sorts trials by their probable steps: a pack takes as many as its slowest trial."""
    settings = config.flat()
    more = [float(settings.get(name, 0.0)) for name in ("target_steps", "prior_steps")]
    fewer = [-float(settings.get(n, 0.0)) for n in ("ponder_weight", "halting_bias", "epsilon")]
    return (*more, *fewer)


def by_shape(trials: Sequence[Trial]) -> dict[Hashable, list[Trial]]:
    """Trials that can be one pack, in the order in which they are cut into packs.

    Equal seeds, which share batches, come together, then like slowness. A trial of a model that
    cannot pack is a shape of its own.
    """
    groups: dict[Hashable, list[Trial]] = {}
    for trial in sorted(trials, key=lambda t: (t.config.seed, slowness(t.config))):
        shape = pack_shape(trial.config) if can_pack(trial.config.model) else trial.key
        groups.setdefault(shape, []).append(trial)
    return groups


def make_packs(
    groups: Mapping[Hashable, Sequence[Trial]], sizes: Mapping[Hashable, int], workers: int
) -> list[Pack]:
    """Cut groups into packs: none above the size of its shape, and enough for all workers."""
    counts = {shape: -(-len(trials) // sizes[shape]) for shape, trials in groups.items()}
    while sum(counts.values()) < min(workers, sum(map(len, groups.values()))):
        largest = max(groups, key=lambda shape: len(groups[shape]) / counts[shape])
        counts[largest] += 1
    packs = []
    for shape, trials in groups.items():
        bounds = [len(trials) * number // counts[shape] for number in range(counts[shape] + 1)]
        packs += [Pack(tuple(trials[a:b])) for a, b in pairwise(bounds)]
    return packs


def spread(packs: Sequence[Pack], places: int) -> list[Pack]:
    """The same trials in as many packs as there are places, or as there are trials."""
    found = list(packs)
    while len(found) < places:
        largest = max(found, key=lambda pack: len(pack.trials))
        if len(largest.trials) == 1:
            break
        found.remove(largest)
        found += largest.halves()
    return found


def in_order(packs: Sequence[Pack], trials: Sequence[Trial]) -> list[Pack]:
    """Packs sorted by the first of their trials, as `trials` has them."""
    place = {trial.key: number for number, trial in enumerate(trials)}
    return sorted(packs, key=lambda pack: min(place[trial.key] for trial in pack.trials))
