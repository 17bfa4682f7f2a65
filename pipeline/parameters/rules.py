"""The problems of params.yaml that only several keys together show."""

import math
from collections.abc import Iterator
from typing import Any

from actmodels.config import setting_problem, setting_types
from actmodels.registry import MODELS
from pipeline.parameters.graves_rules import graves_problems
from pipeline.parameters.nse_rules import nse_problems
from pipeline.parameters.problems import dotted, unknown
from pipeline.parameters.study_rules import study_problems
from pipeline.parameters.texts_rules import texts_problems

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
    ("halting", "seeds"),
    ("graves", "seeds"),
    ("questions", "kinds"),
    ("nse", "seeds"),
)


def rule_problems(tree: dict[str, Any]) -> list[str]:
    """All problems of this kind; parts of the wrong type are passed over, they have their own."""
    problems = []
    models, common = _at(tree, *SWEPT), _at(tree, *COMMON)
    common = common if isinstance(common, dict) else {}
    problems += list(_common_problems(common))
    if isinstance(models, dict):
        for name, model in models.items():
            problems += _model_problems(name, model, common)
    for path in UNIQUE:
        values = _at(tree, *path)
        problems += _repeats(dotted(path), values) if isinstance(values, list) else []
    problems += texts_problems(tree)
    problems += study_problems(tree)
    problems += graves_problems(tree)
    problems += nse_problems(tree)
    return (
        problems
        + list(_criteria(tree))
        + list(_compared(tree))
        + list(_stepped(tree))
        + list(_ablation(tree))
        + list(_gpus(tree))
    )


def _at(tree: Any, *path: str) -> Any:
    for part in path:
        if not isinstance(tree, dict):
            return None
        tree = tree.get(part)
    return tree


def _repeats(key: str, values: list[Any]) -> list[str]:
    return [
        f"{key}[{place}] is {value!r} again; each value must be given once"
        for place, value in enumerate(values)
        if value in values[:place]
    ]


def _common_problems(common: dict[str, Any]) -> Iterator[str]:
    owner = {setting: model for model in reversed(MODELS) for setting in setting_types(model)}
    for setting, value in common.items():
        if setting not in owner:
            yield unknown((*COMMON, setting), list(owner))
        elif problem := _value_problem(owner[setting], setting, value):
            yield f"{dotted((*COMMON, setting))} {problem}"


def _model_problems(name: str, model: Any, common: dict[str, Any]) -> list[str]:
    if name not in MODELS:
        return [unknown((*SWEPT, name), list(MODELS))]
    settings, grid = _at(model, "settings"), _at(model, "grid")
    if not isinstance(settings, dict) or not isinstance(grid, dict):
        return []
    at = dotted((*SWEPT, name))
    problems = []
    for place, names in (("settings", settings), ("grid", grid)):
        for extra in (n for n in names if n not in setting_types(name)):
            problems.append(unknown((*SWEPT, name, place, extra), list(setting_types(name))))
    for setting in setting_types(name):
        if setting in settings and setting in grid:
            problems.append(f"{at}.settings.{setting} is in grid as well; keep one of the two")
        elif setting not in settings and setting not in grid and setting not in common:
            problems.append(
                f"{at}.settings.{setting} is missing; it may be in grid or {dotted(COMMON)} instead"
            )
        if setting in settings and (problem := _value_problem(name, setting, settings[setting])):
            several = "; several values belong in grid" * isinstance(settings[setting], list)
            problems.append(f"{at}.settings.{setting} {problem}{several}")
        if isinstance(grid.get(setting), list):
            problems += _axis_problems(name, setting, grid[setting])
    return problems


def _axis_problems(model: str, setting: str, values: list[Any]) -> list[str]:
    key = dotted((*SWEPT, model, "grid", setting))
    if not values:
        return [f"{key} is empty; must have at least one value"]
    found = [(place, _value_problem(model, setting, value)) for place, value in enumerate(values)]
    wrong = [f"{key}[{place}] {problem}" for place, problem in found if problem]
    return wrong + _repeats(key, values)


def _value_problem(model: str, setting: str, value: Any) -> str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return f"is {value!r}; must be finite"
    return setting_problem(model, setting, value)


def _criteria(tree: dict[str, Any]) -> Iterator[str]:
    ties = _at(tree, "select_best", "ties")
    if isinstance(ties, list) and ties and ties[-1] in ("dev_loss", "dev_mean_steps", "parameters"):
        # only the order of the grid tells any two configurations apart
        yield f"select_best.ties ends with {ties[-1]!r}; must end with 'grid_order'"


def _compared(tree: dict[str, Any]) -> Iterator[str]:
    swept, reference = _at(tree, *SWEPT), _at(tree, "evaluate", "reference")
    if isinstance(reference, str) and isinstance(swept, dict) and reference not in swept:
        present = ", ".join(map(str, swept))
        yield f"evaluate.reference is {reference!r}; must be one of sweep.models: {present}"


def _stepped(tree: dict[str, Any]) -> Iterator[str]:
    swept = _at(tree, *SWEPT)
    halting = [name for name, model in MODELS.items() if model.halting is not None]
    for stage in ("ablate", "trace"):
        model = _at(tree, stage, "model")
        if isinstance(model, str) and model not in halting:
            yield f"{stage}.model is {model!r}; must be a model that halts: {', '.join(halting)}"
        elif isinstance(model, str) and isinstance(swept, dict) and model not in swept:
            present = ", ".join(map(str, swept))
            yield f"{stage}.model is {model!r}; must be one of sweep.models: {present}"


def _ablation(tree: dict[str, Any]) -> Iterator[str]:
    most, steps = _at(tree, "ablate", "dev_steps"), _at(tree, "ablate", "test_steps")
    if isinstance(most, int) and isinstance(steps, list):
        for place, step in enumerate(steps):
            if isinstance(step, int) and step > most:
                yield f"ablate.test_steps[{place}] is {step}; must be at most dev_steps, {most}"


def _gpus(tree: dict[str, Any]) -> Iterator[str]:
    gpus = _at(tree, "cluster", "gpus_per_trial")
    # Ray's own rule: a share of one device or whole devices
    if isinstance(gpus, float) and math.isfinite(gpus) and gpus > 1 and gpus != int(gpus):
        yield f"cluster.gpus_per_trial is {gpus}; must be whole above 1"
    if gpus == 0 and _at(tree, "cluster", "cuda_graphs") is True:
        yield "cluster.cuda_graphs is true, but gpus_per_trial is 0; give trials a share of a GPU"
