"""The problems of params.yaml that only several keys together show.

Parts of the wrong type are passed over: they have problems of their own.
"""

import math
import re
from collections.abc import Iterator
from typing import Any

from actmodels.config import setting_types
from actmodels.errors import shown
from actmodels.registry import MODELS
from actmodels.values import value_problem
from pipeline.parameters.sentences import (
    at,
    axis_problems,
    dotted,
    listing,
    mapping,
    none_of,
    repeated,
    setting_problems,
    too_many,
    unknown,
)
from pipeline.parameters.study_rules import study_problems

SWEPT = ("sweep", "models")
COMMON = ("sweep", "settings")
UNIQUE = (
    ("sweep", "seeds"),
    ("retrain", "seeds"),
    ("vocabulary", "count_splits"),
    ("lexicalised", "features"),
    ("lexicalised", "regularisation"),
    ("select_best", "ties"),
    ("ablate", "test_steps"),
    ("trace", "pair_ids"),
    ("fidelity", "seeds"),
    ("sizes", "models"),
    ("halting", "seeds"),
    ("graves", "seeds"),
    ("multihop", "seeds"),
    ("questions", "kinds"),
    ("nse", "seeds"),
)
FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def rule_problems(tree: dict[str, Any]) -> list[str]:
    """All problems of this kind."""
    return [
        *_common(mapping(tree, *COMMON)),
        *(sentence for name in mapping(tree, *SWEPT) for sentence in _model(tree, name)),
        *(sentence for path in UNIQUE for sentence in repeated(path, listing(tree, *path))),
        *_parses(tree),
        *_texts(mapping(tree, "texts", "sources")),
        *study_problems(tree),
        *_stages(tree),
    ]


def _common(common: dict[str, Any]) -> Iterator[str]:
    hints = {name: hint for m in reversed(MODELS) for name, hint in setting_types(m).items()}
    yield from setting_problems(COMMON, hints, common)


def _model(tree: dict[str, Any], name: str) -> Iterator[str]:
    if name not in MODELS:
        yield unknown((*SWEPT, name), list(MODELS))
        return
    known, common = setting_types(name), mapping(tree, *COMMON)
    settings, grid = (at(tree, *SWEPT, name, place) for place in ("settings", "grid"))
    if not isinstance(settings, dict) or not isinstance(grid, dict):
        return
    for place, given in (("settings", settings), ("grid", grid)):
        for extra in (setting for setting in given if setting not in known):
            yield unknown((*SWEPT, name, place, extra), list(known))
    yield from too_many((*SWEPT, name, "grid"), grid, listing(tree, "sweep", "seeds"))
    for setting, hint in known.items():
        key = dotted((*SWEPT, name, "settings", setting))
        if setting in settings and setting in grid:
            yield f"{key} is in grid as well; keep one of the two"
        elif setting not in settings | grid | common:
            yield f"{key} is missing; it may be in grid or {dotted(COMMON)} instead"
        if setting in settings and (problem := value_problem(hint, settings[setting])):
            several = "; several values belong in grid" * isinstance(settings[setting], list)
            yield f"{key} {problem}{several}"
        axis = (*SWEPT, name, "grid", setting)
        yield from axis_problems(axis, hint, grid.get(setting))
        yield from repeated(axis, listing(grid, setting))


def _parses(tree: dict[str, Any]) -> Iterator[str]:
    readers = [n for n in mapping(tree, *SWEPT) if n in MODELS and MODELS[n].reads_parses]
    if at(tree, "corpus", "parses") is False and readers:
        yield f"{dotted((*SWEPT, readers[0]))} reads parses; set corpus.parses to true"


def _texts(sources: dict[str, Any]) -> Iterator[str]:
    for name, source in sources.items():
        path = ("texts", "sources", name)
        if not FILE_NAME.fullmatch(str(name)):  # a file is called by it
            yield f"{dotted(path)}: the name must be of letters, digits, _ and -"
        yield from repeated((*path, "members"), listing(source, "members"), "member")


def _stages(tree: dict[str, Any]) -> Iterator[str]:
    ties = listing(tree, "select_best", "ties")
    if ties and ties[-1] in ("dev_loss", "dev_mean_steps", "parameters"):
        # only the order of the grid tells any two configurations apart
        yield f"select_best.ties ends with {shown(ties[-1])}; must end with 'grid_order'"
    swept = at(tree, *SWEPT)
    halting = [name for name, model in MODELS.items() if model.halting is not None]
    for stage, name in (("evaluate", "reference"), ("ablate", "model"), ("trace", "model")):
        model, key = at(tree, stage, name), f"{stage}.{name}"
        if not isinstance(model, str):
            continue
        if name == "model" and model not in halting:
            yield f"{key} is {shown(model)}; must be a model that halts: {', '.join(halting)}"
        elif isinstance(swept, dict) and model not in swept:
            yield none_of(key, model, dotted(SWEPT), list(swept))
    most = at(tree, "ablate", "dev_steps")
    for place, step in enumerate(listing(tree, "ablate", "test_steps")):
        if isinstance(most, int) and isinstance(step, int) and step > most:
            yield f"ablate.test_steps[{place}] is {step}; must be at most dev_steps, {most}"
    if at(tree, "trace", "per_label") == 0 and at(tree, "trace", "pair_ids") == []:
        yield "trace.per_label is 0; must be at least 1, or name pairs in trace.pair_ids"
    gpus = at(tree, "cluster", "gpus_per_trial")
    # Ray's own rule: a share of one device or whole devices
    if isinstance(gpus, float) and math.isfinite(gpus) and gpus > 1 and gpus != int(gpus):
        yield f"cluster.gpus_per_trial is {gpus}; must be whole above 1"
