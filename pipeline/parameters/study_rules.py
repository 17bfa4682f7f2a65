"""The problems of the sections `fidelity` and `halting` that only other keys show."""

from collections.abc import Iterator
from typing import Any

from actmodels.config import setting_problem, setting_types
from actmodels.registry import HALTINGS, MODELS, as_published, model_with
from pipeline.parameters.problems import dotted, unknown

LIMITS = {"max_epochs": 1, "patience": 0}  # what a variant may change besides settings: least value


def study_problems(tree: dict[str, Any]) -> Iterator[str]:
    """All problems of this kind; parts of the wrong type are passed over, they have their own."""
    swept = _mapping(_mapping(tree.get("sweep")).get("models"))
    fidelity, halting = _mapping(tree.get("fidelity")), _mapping(tree.get("halting"))
    for model, variants in _mapping(fidelity.get("models")).items():
        path = ("fidelity", "models", model)
        if model not in swept:
            yield f"{dotted(path)} is not swept; must be one of sweep.models: {', '.join(swept)}"
        elif model in MODELS:
            for variant, changes in _mapping(variants).items():
                yield from _changes(model, (*path, variant), _mapping(changes))
    kinds = _mapping(halting.get("kinds"))
    if kinds:
        yield from _halting(halting.get("model"), kinds, swept)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _changes(model: str, path: tuple[str, ...], changes: dict[str, Any]) -> Iterator[str]:
    name = as_published(model, changes)
    known = setting_types(name)
    for setting, value in changes.items():
        key = dotted((*path, setting))
        if setting in LIMITS:
            if isinstance(value, bool) or not isinstance(value, int) or value < LIMITS[setting]:
                least = LIMITS[setting]
                yield f"{key} is {value!r}; must be a whole number of at least {least}"
        elif setting not in known:
            yield unknown((*path, setting), [*known, *LIMITS])
        elif problem := setting_problem(name, setting, value):
            yield f"{key} {problem}"


def _halting(model: Any, kinds: dict[str, Any], swept: dict[str, Any]) -> Iterator[str]:
    if model not in swept:
        yield f"halting.model is {model!r}; must be one of sweep.models: {', '.join(swept)}"
    if not isinstance(model, str) or model_with(model, "fixed_steps") not in MODELS:
        able = [name for name in MODELS if model_with(name, "fixed_steps") in MODELS]
        yield f"halting.model is {model!r}; must be a model that halts: {', '.join(able)}"
        return
    for kind, axes in kinds.items():
        path = ("halting", "kinds", kind)
        if kind not in HALTINGS:
            yield unknown(path, list(HALTINGS))
            continue
        known = setting_types(model_with(model, kind))
        for setting, values in _mapping(axes).items():
            if setting not in known:
                yield unknown((*path, setting), list(known))
                continue
            if values == []:
                yield f"{dotted((*path, setting))} is empty; must have at least one value"
            for place, value in enumerate(values if isinstance(values, list) else ()):
                if problem := setting_problem(model_with(model, kind), setting, value):
                    yield f"{dotted((*path, setting, place))} {problem}"
