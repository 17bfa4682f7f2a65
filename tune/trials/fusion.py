"""Fusions: trials of one shape that a worker trains together, and their points of Ray Tune.

A point is what Ray's dashboard and results show of a fusion. A setting whose value differs within
it is a list, in the order of the trials: a UserList, as Ray takes the items of a list or tuple for
settings of their own. Does not import Ray.
"""

import json
from collections import UserList
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, TypeAlias

from actmodels.records import trial_name
from actmodels.trial_config import BaseTrialConfig
from tune.trials.grid import Trial, by_configuration

KEY, PROPOSAL = "key", "proposal"
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
    from actmodels.fused import can_fuse, fusion_shape  # torch, which a rerun does not need

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
    while 0 < len(result) < count:
        largest = max(result, key=len)
        middle = (len(largest) + 1) // 2
        if len(largest) == 1:
            break
        result.remove(largest)
        result += [largest[:middle], largest[middle:]]
    return [[*chain(*groups)] for groups in result]


def fusion_point(fusion: Fusion, peers: Sequence[Sequence[str]] = ()) -> dict[str, Any]:
    """Return the settings and keys of a fusion.

    peers: keys of the configurations with which a proposed one, all of the fusion, is compared.
    """
    rows = [{KEY: trial.key, **trial.config.flat()} for trial in fusion]
    point = {name: _one_or_list([row[name] for row in rows]) for name in rows[0]}
    if proposal := fusion[0].proposal:
        templates = [trial.proposal["template"] for trial in fusion]
        content = {"templates": templates, "settings": proposal["settings"], "peers": peers}
        point[PROPOSAL] = json.dumps(content)
    return point


def _one_or_list(values: list[Any]) -> Any:
    return UserList(values) if any(value != values[0] for value in values) else values[0]


def search_space(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the search space of points: the values of settings that are equal in all of them."""
    names = dict.fromkeys(name for point in points for name in point)
    first = points[0]
    return {
        name: first.get(name) if all(p.get(name) == first.get(name) for p in points) else None
        for name in names
    }


def point_keys(point: Mapping[str, Any]) -> list[str]:
    """Return the keys of the trials of a fusion."""
    return [point[KEY]] if isinstance(point[KEY], str) else list(point[KEY])


def point_name(point: Mapping[str, Any]) -> str:
    """Return the name in Ray's dashboard: the first trial and the number of the others."""
    first, *others = point_keys(point)
    model = point["model"] if isinstance(point["model"], str) else point["model"][0]
    return trial_name(first, model) + (f"-and-{len(others)}-more" if others else "")


def point_trials(point: Mapping[str, Any], planned: Mapping[str, Trial]) -> list[Trial]:
    """Return the trials of a fusion; planned: all trials, or one of each model, by key."""
    settings = json.loads(_proposal(point).get("settings", "{}"))
    trials = [planned[key] for key in point_templates(point)]
    return [trial.at(settings) for trial in trials] if settings else trials


def point_templates(point: Mapping[str, Any]) -> list[str]:
    """Return the keys of the planned trials from which those of a fusion differ by a proposal."""
    found: list[str] = _proposal(point).get("templates") or point_keys(point)
    return found


def point_peers(point: Mapping[str, Any]) -> list[list[str]] | None:
    """Return the keys of the configurations with which a proposed one is compared."""
    found: list[list[str]] | None = _proposal(point).get("peers")
    return found


def _proposal(point: Mapping[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(point.get(PROPOSAL) or "{}")
    return content


def varied_settings(configs: Iterable[BaseTrialConfig], searched: Iterable[str] = ()) -> list[str]:
    """Return the settings that differ between trials of one model, and those of a search."""
    values: dict[str, dict[str, set[Any]]] = {}
    for config in configs:
        own = values.setdefault(config.model, {})
        for name, value in config.flat().items():
            own.setdefault(name, set()).add(value)
    differing = [n for own in values.values() for n, found in own.items() if len(found) > 1]
    return list(dict.fromkeys([*differing, *searched]))


def point_title(point: Mapping[str, Any], varied: Sequence[str], epoch: int) -> str:
    """Return the title of a worker's process: trial, epoch and the settings that vary.

    Ray's Cluster page shows it, and so do `top` and `nvidia-smi`.
    """
    texts = [f"{name}={_text(point[name])}" for name in varied if point.get(name) is not None]
    progress = f"epoch {epoch}/{_text(point['max_epochs'])}"
    return " ".join([f"ray::{point_name(point)}", progress, *texts])


def _text(value: Any) -> str:
    return "|".join(map(_text, value)) if isinstance(value, UserList) else f"{value}"
