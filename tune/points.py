"""Fusions as points of Ray Tune: what its dashboard and its results show of a trial.

A setting whose value differs within a fusion is a list, in the order of the trials: a UserList, as
Ray takes the items of a list or tuple for settings of their own.
"""

import json
from collections import UserList
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from actmodels.records import trial_name
from actmodels.trial_config import BaseTrialConfig
from tune.grid import Trial

KEY, PROPOSAL = "key", "proposal"


def fusion_point(fusion: Sequence[Trial], peers: Sequence[Sequence[str]] = ()) -> dict[str, Any]:
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


def space(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the search space of points: the values of settings that are equal in all of them."""
    names = dict.fromkeys(name for point in points for name in point)
    first = points[0]
    return {
        name: first.get(name) if all(p.get(name) == first.get(name) for p in points) else None
        for name in names
    }


def keys(point: Mapping[str, Any]) -> list[str]:
    """Return the keys of the trials of a fusion."""
    return [point[KEY]] if isinstance(point[KEY], str) else list(point[KEY])


def point_name(point: Mapping[str, Any]) -> str:
    """Return the name in Ray's dashboard: the first trial and the number of the others."""
    first, *others = keys(point)
    model = point["model"] if isinstance(point["model"], str) else point["model"][0]
    return trial_name(first, model) + (f"-and-{len(others)}-more" if others else "")


def members(point: Mapping[str, Any], planned: Mapping[str, Trial]) -> list[Trial]:
    """Return the trials of a fusion; planned: all trials, or one of each model, by key."""
    settings = json.loads(_proposal(point).get("settings", "{}"))
    trials = [planned[key] for key in templates(point)]
    return [trial.at(settings) for trial in trials] if settings else trials


def templates(point: Mapping[str, Any]) -> list[str]:
    """Return the keys of the planned trials from which those of a fusion differ by a proposal."""
    found: list[str] = _proposal(point).get("templates") or keys(point)
    return found


def peers(point: Mapping[str, Any]) -> list[list[str]] | None:
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


def title(point: Mapping[str, Any], varied: Sequence[str], epoch: int) -> str:
    """Return the title of a worker's process: trial, epoch and the settings that vary.

    Ray's Cluster page shows it, and so do `top` and `nvidia-smi`.
    """
    texts = [f"{name}={_text(point[name])}" for name in varied if point.get(name) is not None]
    progress = f"epoch {epoch}/{_text(point['max_epochs'])}"
    return " ".join([f"ray::{point_name(point)}", progress, *texts])


def _text(value: Any) -> str:
    return "|".join(map(_text, value)) if isinstance(value, UserList) else f"{value}"
