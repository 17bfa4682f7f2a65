"""The problems of the studies' sections that only other keys show, or a whole trial."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from actmodels.config import setting_types
from actmodels.errors import ConfigError, shown
from actmodels.multihop.config import build_multihop_trial, multihop_setting_types
from actmodels.multihop.words import MAX_HOPS
from actmodels.reader.config import build_reader_trial
from actmodels.registry import HALTINGS, MODELS, as_published, model_with
from actmodels.sequences.config import (
    HALTING_KINDS,
    TASKS,
    build_sequence_trial,
    sequence_setting_types,
)
from actmodels.values import Epochs, Natural
from pipeline.parameters.section import SPLITS
from pipeline.parameters.sentences import (
    KeyPath,
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
from pipeline.parameters.study_sections import CONTEXT_LINES

LIMITS = {"max_epochs": Epochs, "patience": Natural}  # what a variant may change besides settings
LEAST = {"max_epochs": 1, "patience": 0, "seed": 0}  # of a trial made to see whether it can be
WDW = "WDW"  # the one kind of questions that Who-Did-What has


def study_problems(tree: dict[str, Any]) -> Iterator[str]:
    """All problems of this kind; parts of the wrong type are passed over, they have their own."""
    yield from _fidelity(tree)
    yield from _sizes(tree)
    yield from _halting(tree)
    yield from _graves(tree)
    yield from _multihop(tree)
    yield from _questions(tree)
    yield from _readers(tree)


def _fidelity(tree: dict[str, Any]) -> Iterator[str]:
    swept = mapping(tree, "sweep", "models")
    for model, variants in mapping(tree, "fidelity", "models").items():
        path = ("fidelity", "models", model)
        if model not in swept:
            yield f"{dotted(path)} is not swept; must be one of sweep.models: {', '.join(swept)}"
        elif model in MODELS:
            for variant in mapping(variants):
                yield from _changes(model, (*path, variant), mapping(variants, variant))


def _changes(model: str, path: KeyPath, changes: dict[str, Any]) -> Iterator[str]:
    known = setting_types(as_published(model, changes)) | LIMITS
    yield from setting_problems(path, known, changes)


def _sizes(tree: dict[str, Any]) -> Iterator[str]:
    swept = mapping(tree, "sweep", "models")
    for place, model in enumerate(listing(tree, "sizes", "models")):
        if model not in swept:
            yield none_of(f"sizes.models[{place}]", model, "sweep.models", list(swept))


def _halting(tree: dict[str, Any]) -> Iterator[str]:
    model, kinds = at(tree, "halting", "model"), mapping(tree, "halting", "kinds")
    swept = mapping(tree, "sweep", "models")
    if kinds and model not in swept:
        yield none_of("halting.model", model, "sweep.models", list(swept))
    able = [name for name in MODELS if model_with(name, "fixed_steps") in MODELS]
    if kinds and model not in able:
        yield f"halting.model is {shown(model)}; must be a model that halts: {', '.join(able)}"
        return
    known = {kind: setting_types(model_with(model, kind)) for kind in HALTINGS if kinds}
    yield from _kinds(("halting", "kinds"), kinds, known, listing(tree, "halting", "seeds"))


def _kinds(
    path: KeyPath, kinds: dict[str, Any], known: dict[str, dict[str, Any]], seeds: list[Any]
) -> Iterator[str]:
    """Of the ways of halting that are compared; known: the settings of each with their types."""
    for kind in kinds:
        here = (*path, kind)
        if kind not in known:
            yield unknown(here, list(known))
            continue
        yield from too_many(here, mapping(kinds, kind), seeds)
        for setting, values in mapping(kinds, kind).items():
            if setting not in known[kind]:
                yield unknown((*here, setting), list(known[kind]))
            else:
                yield from axis_problems((*here, setting), known[kind][setting], values)


def _graves(tree: dict[str, Any]) -> Iterator[str]:
    tasks, text = mapping(tree, "graves", "tasks"), at(tree, "graves", "text")
    sources = at(tree, "texts", "sources")
    if isinstance(sources, dict) and ("characters" in tasks or isinstance(text, str)):
        known = ", ".join(map(str, sources)) or "which is empty"
        if text is None:
            needed = "characters need a text; name one of texts.sources"
            yield f"graves.text is null, but {needed}: {known}"
        elif text not in sources:
            yield none_of("graves.text", text, "texts.sources", list(sources))
    for task, study in tasks.items():
        path = ("graves", "tasks", task)
        if task not in TASKS:
            yield unknown(path, list(TASKS))
        elif isinstance(study, dict):
            yield from _task(path, task, study, listing(tree, "graves", "seeds"))


def _task(path: KeyPath, task: str, study: dict[str, Any], seeds: list[Any]) -> Iterator[str]:
    kinds, settings = mapping(study, "kinds"), mapping(study, "settings")
    known = {kind: sequence_setting_types(task, kind) for kind in HALTING_KINDS}
    yield from _kinds((*path, "kinds"), kinds, known, seeds)
    taken: dict[str, None] = {}
    for kind in (kind for kind in kinds if kind in known):
        axes = mapping(kinds, kind)
        taken |= dict.fromkeys(name for name in known[kind] if name not in axes)
    lost = [name for name in settings if name not in taken] if kinds.keys() <= known.keys() else []
    yield from (unknown((*path, "settings", name), list(taken)) for name in lost if kinds)
    for problem in _first_trials(partial(build_sequence_trial, task), kinds, known, settings):
        in_settings = problem.split(" ")[0] in settings
        yield f"{dotted(path)}{'.settings.' if in_settings else ': '}{problem}"


def _first_trials(
    build: Callable[..., object],
    kinds: dict[str, Any],
    known: dict[str, dict[str, Any]],
    settings: dict[str, Any],
) -> dict[str, None]:
    """Why the first trial of each kind cannot be built, apart from the values of its axes.

    Args:
        build: of (kind, settings). known: the settings of each kind. settings: the common ones.
    """
    problems: dict[str, None] = {}  # several kinds may have the same
    for kind in (kind for kind in kinds if kind in known):
        axes = mapping(kinds, kind)
        given = {name: value for name, value in settings.items() if name in known[kind]}
        given |= {name: values[0] for name in axes if (values := listing(axes, name))}
        refused = _refused(build, kind, given, **LEAST)
        problems |= dict.fromkeys(p for p in refused if p.split(" ")[0] not in axes)
    return problems


def _multihop(tree: dict[str, Any]) -> Iterator[str]:
    path, section = ("multihop", "settings"), mapping(tree, "multihop")
    if not isinstance(section.get("settings"), dict):
        return
    models, settings = mapping(section, "models"), mapping(section, "settings")
    known = {model: multihop_setting_types(model) for model in MODELS}
    types = {name: hint for of_model in reversed(known.values()) for name, hint in of_model.items()}
    yield from _kinds(("multihop", "models"), models, known, listing(section, "seeds"))
    wrong = list(setting_problems(path, types, settings))
    yield from wrong
    if "max_hops" not in settings:  # dev and test have its depths, so it has one value
        yield f"{dotted((*path, 'max_hops'))} is missing"
    for model in (model for model in models if "max_hops" in mapping(models, model)):
        yield f"multihop.models.{model}.max_hops belongs in {dotted(path)}: it has one value"
    for problem in _first_trials(build_multihop_trial, models, known, {"max_hops": 1} | settings):
        if not any(sentence.endswith(problem) for sentence in wrong):
            yield f"multihop: {problem}"
    hops, beyond = settings.get("max_hops"), at(section, "corpus", "beyond")
    if isinstance(hops, int) and isinstance(beyond, int) and hops <= MAX_HOPS < hops + beyond:
        most = f"at most {MAX_HOPS - hops}, as a premise has at most {MAX_HOPS} hops"
        yield f"multihop.corpus.beyond is {beyond}; must be {most} and max_hops is {hops}"


def _questions(tree: dict[str, Any]) -> Iterator[str]:
    source, text = at(tree, "questions", "source"), mapping(tree, "questions", "text")
    if source == "text":
        known = mapping(tree, "texts", "sources")
        if text.get("name") not in known:
            yield none_of("questions.text.name", text.get("name"), "texts.sources", list(known))
        yield from (f"questions.text.{problem}" for problem in _cloze_text(text))
    if source == "whodidwhat":
        files = mapping(tree, "questions", "whodidwhat")
        for split in (split for split in SPLITS if files.get(split) is None):
            yield f"questions.whodidwhat.{split} is not set; source whodidwhat needs its file"


def _cloze_text(text: dict[str, Any]) -> Iterator[str]:
    length = text.get("section_sentences")
    if isinstance(length, int) and length < CONTEXT_LINES + 1:
        yield f"section_sentences is {length}; must be at least {CONTEXT_LINES + 1}"
    given = (text.get(name) for name in ("dev_share", "test_share"))
    shares = tuple(share for share in given if isinstance(share, int | float))
    if len(shares) == 2 and sum(shares) >= 1:
        yield f"dev_share and test_share are {shares}; must leave sections for training"
    for name in ("section_pattern", "left_out_pattern"):
        try:
            re.compile(text.get(name, ""))
        except re.error as error:
            yield f"{name} is no regular expression: {error}"
        except TypeError:  # no text, which is said elsewhere
            continue


def _readers(tree: dict[str, Any]) -> Iterator[str]:
    source, kinds = at(tree, "questions", "source"), mapping(tree, "nse", "kinds")
    if kinds and source == "none":
        yield "questions.source is 'none'; nse.kinds needs questions: text, cbt or whodidwhat"
        return
    known = [WDW] if source == "whodidwhat" else listing(tree, "questions", "kinds")
    for kind, study in kinds.items():
        path = ("nse", "kinds", kind)
        if kind not in known:
            yield unknown(path, known)
        elif isinstance(study, dict):
            yield from _reader(path, kind, study)


def _reader(path: KeyPath, kind: str, study: dict[str, Any]) -> Iterator[str]:
    steps = {name: study.get(name) for name in ("query_gating", "adaptive_computation")}
    for name in steps:
        yield from repeated((*path, name), listing(steps, name))
    if steps == {"query_gating": [], "adaptive_computation": []} and not study.get("one_step"):
        yield f"{dotted(path)} compares nothing; set one_step or numbers of steps"
    settings = study.get("settings")
    if not isinstance(settings, dict):
        return
    here = (*path, "settings")
    for name in (name for name in ("strategy", "steps") if name in settings):
        yield f"{dotted((*here, name))} belongs in query_gating or adaptive_computation"
    given = settings | {"strategy": "query_gating", "steps": 1}
    for problem in _refused(build_reader_trial, kind, given, **LEAST):
        yield f"{dotted(here)}: {problem}"


def _refused(make: Callable[..., object], *given: Any, **limits: int) -> list[str]:
    """Why something cannot be made."""
    try:
        make(*given, **limits)
    except ConfigError as error:
        return error.problems
    return []
