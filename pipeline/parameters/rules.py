"""Rules of params.yaml that span several keys."""

from collections.abc import Callable, Collection, Iterable, Iterator
from difflib import get_close_matches
from itertools import chain
from typing import Any

from actmodels import ranges
from actmodels.errors import ConfigError, shown
from actmodels.registry import MODELS
from pipeline.parameters.labels import NLI, UNLABELED
from pipeline.parameters.schema import Params
from pipeline.parameters.section import listed, unknown
from pipeline.parameters.trials import MAX_TRIALS, model_axes, model_trials

HALTS = "a model that halts"


def rule_problems(params: Params, *, trials: bool = False) -> list[str]:
    """Return one message for each broken rule.

    Args:
        trials: build those of the sweep and of the studies, which shows missing settings.
    """
    studies = [getattr(params, name) for name in params.studies]
    rules: list[Callable[[Params], Iterable[str]]] = [
        *(_classes, _watch, _cluster, _sweep, _search, _models, _stages),
        *(study.problems for study in studies),
    ]
    problems = [problem for rule in rules for problem in rule(params)]
    built = {f"sweep.models.{m}": model_trials(m, params.sweep) for m in params.sweep.models}
    for key, configs in (
        chain(built.items(), *(study.trials() for study in studies)) if trials else ()
    ):
        try:
            list(configs)
        except ConfigError as error:
            problems += [f"{key}: {problem}" for problem in error.problems]
    return problems


def _classes(params: Params) -> Iterator[str]:
    """Require the three classes of generated pairs and SNLI, and that labels map to classes."""
    corpus = params.corpus
    if corpus.source != "files" and {*corpus.classes} != {*NLI}:
        yield f"corpus.source {corpus.source} needs the classes {', '.join(NLI)}"
    known = (*corpus.classes, UNLABELED)
    for label, name in corpus.files.labels.items():
        if name not in (*known, *NLI):  # those of the default do not apply to other classes
            key = f"corpus.files.labels.{label}"
            yield f"{key} is {shown(name)}; must be one of {', '.join(known)}"


def _watch(params: Params) -> Iterator[str]:
    if set(reading := watched(params)) - {*params.watch}:
        stages = f"[{', '.join(reading)}], the stages that read local files or may end early"
        yield f"watch is {shown(params.watch)}; must be {stages}; act-nli use sets it"


def _cluster(params: Params) -> Iterator[str]:
    if params.cluster.gpu_graphs and not params.cluster.gpus_per_trial:
        yield "cluster.gpus_per_trial is 0; must be above 0 with cluster.gpu_graphs"


def _sweep(params: Params) -> Iterator[str]:
    only, models = params.sweep.only, params.sweep.models
    if only and set(only) - models.keys():
        expected = f"a list of models of sweep.models: {listed(models)}"
        yield f"sweep.only is {shown(only)}; must be {expected}"
    for model, trial_grid in models.items():
        key = f"sweep.models.{model}"
        for name in (name for name in trial_grid.settings if name in trial_grid.grid):
            yield f"{key}.settings.{name} is in grid as well; keep one of the two"
        for index, point in enumerate(trial_grid.points):
            for name in (name for name in point if name in trial_grid.grid):
                yield f"{key}.points[{index}].{name} is in grid as well; keep one of the two"
        if MODELS[model].reads_parses and not params.corpus.parses:
            yield f"{key} reads parses; set corpus.parses to true"


def _search(params: Params) -> Iterator[str]:
    sweep = params.sweep
    axes = {model: model_axes(model, sweep) for model in sweep.models}
    if sweep.search == "grid":
        if sweep.trials is not None:
            yield f"sweep.trials is {sweep.trials}; must be null with search grid"
        for model, of_model in axes.items():
            for name in (name for name, axis in of_model.items() if isinstance(axis, ranges.Range)):
                key = f"sweep.models.{model}.grid.{name}"
                yield f"{key} is a range; search grid needs a list; or set sweep.search to random"
        return
    points, most = max(map(ranges.size, axes.values())), MAX_TRIALS // len(sweep.seeds)
    if sweep.trials is None or sweep.trials > min(points, most):
        limit = f"{points:.0f}, the points of the largest grid," if points <= most else f"{most:,}"
        text = f"at most {limit} with search {sweep.search}"
        yield f"sweep.trials is {sweep.trials or 'null'}; must be {text}"
    if sweep.search == "optuna":
        for model in (model for model, own in sweep.models.items() if own.points):
            key = f"sweep.models.{model}.points"
            yield f"{key}: search optuna proposes points of a grid; set sweep.search to random"
    if sweep.search == "optuna" and params.cluster.trials_per_fusion != 1:
        size = params.cluster.trials_per_fusion
        yield f"cluster.trials_per_fusion is {shown(size)}; must be 1 with search optuna"


def _models(params: Params) -> Iterator[str]:
    """Require that the models named in other sections are swept, and that some halt."""
    halting = [name for name, model in MODELS.items() if model.halting is not None]
    attending = [name for name, model in MODELS.items() if model.attends_by_word]
    for key, model, known in (
        ("evaluate.reference", params.evaluate.reference, list(MODELS)),
        ("ablate.model", params.ablate.model, halting),
        ("trace.model", params.trace.model, [*halting, *attending]),
    ):
        if model is None:  # the first suitable one
            continue
        if key != "evaluate.reference" and model not in known:
            yield from absent(key, model, HALTS, known)
        else:
            yield from not_swept(key, model, params)


def _stages(params: Params) -> Iterator[str]:
    max_steps = params.ablate.dev_steps
    for index, steps in enumerate(params.ablate.test_steps):
        if steps > max_steps:
            yield f"ablate.test_steps[{index}] is {steps}; must be at most dev_steps, {max_steps}"


def unknown_keys(section: str, names: Iterable[str], known: Collection[str]) -> Iterator[str]:
    """Yield a message for each name that is not known."""
    yield from (unknown((section, name), list(known)) for name in names if name not in known)


def absent(key: str, value: Any, expected: str, known: Collection[str]) -> Iterator[str]:
    """Yield a message, with the closest known name if any, if the value is not one of them."""
    if value not in known:
        closest = get_close_matches(str(value), known, n=1, cutoff=0.85)  # names share endings
        hint = f"did you mean {closest[0]}?" if closest else f"must be {expected}: {listed(known)}"
        yield f"{key} is {shown(value)}; {hint}"


def not_swept(key: str, model: str, params: Params) -> Iterator[str]:
    """Yield a message if the sweep does not have a model."""
    yield from absent(key, model, "one of sweep.models", params.sweep.models)


def watched(params: Any) -> list[str]:
    """Return the setting `watch`: the stages that read local files or have a time limit."""
    local = any(str(url).lower().startswith("file:") for url in params.vectors.glove.urls)
    reading = {"corpus": params.corpus.source == "files"}
    reading |= {"vectors": params.vectors.source == "glove" and local}
    reading |= {"sweep": params.sweep.time_limit is not None}
    return [stage for stage, reads in reading.items() if reads]
