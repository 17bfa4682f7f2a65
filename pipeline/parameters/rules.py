"""Rules of params.yaml that span several keys."""

import math
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from typing import Any

from actmodels.errors import ConfigError, shown
from actmodels.multihop.words import MAX_HOPS
from actmodels.registry import MODELS, first_network, model_with, published_model
from actmodels.sequences.config import sequence_setting_types
from actmodels.trial_config import setting_types
from pipeline.parameters import trials
from pipeline.parameters.schema import Params
from pipeline.parameters.section import SPLITS
from pipeline.parameters.sentences import unknown
from pipeline.parameters.study_sections import LIMITS, WDW

HALTS = "a model that halts"


def rule_problems(params: Params) -> list[str]:
    """Return one message for each broken rule."""
    sweep = (_sweep, _search, _models)
    rules = (*sweep, _stages, _halting, _sequences, _multihop, _cloze_data, _cloze)
    return [problem for rule in rules for problem in rule(params)]


def _sweep(params: Params) -> Iterator[str]:
    only, models = params.sweep.only, params.sweep.models
    if only and set(only) - models.keys():
        expected = f"a list of models of sweep.models: {_listed(models)}"
        yield f"sweep.only is {shown(only)}; must be {expected}"
    for model, trial_grid in models.items():
        key = f"sweep.models.{model}"
        for name in (name for name in trial_grid.settings if name in trial_grid.grid):
            yield f"{key}.settings.{name} is in grid as well; keep one of the two"
        yield from _build_problems(key, trials.model_trials(model, params.sweep))
        if MODELS[model].reads_parses and not params.corpus.parses:
            yield f"{key} reads parses; set corpus.parses to true"


def _search(params: Params) -> Iterator[str]:
    sweep = params.sweep
    if sweep.search == "grid":
        if sweep.trials is not None:
            yield f"sweep.trials is {sweep.trials}; must be null with search grid"
        return
    most = max(math.prod(map(len, model.grid.values())) for model in sweep.models.values())
    if sweep.trials is None or sweep.trials > most:
        limit = f"at most {most}, the points of the largest grid, with search {sweep.search}"
        yield f"sweep.trials is {sweep.trials or 'null'}; must be {limit}"
    if sweep.search == "optuna" and len(sweep.seeds) > 1:
        yield f"sweep.seeds is {sweep.seeds}; must be one seed with search optuna"
    if sweep.search == "optuna" and params.cluster.trials_per_fusion != 1:
        size = params.cluster.trials_per_fusion
        yield f"cluster.trials_per_fusion is {shown(size)}; must be 1 with search optuna"


def _models(params: Params) -> Iterator[str]:
    """Require that the models named in other sections are swept, and that some halt."""
    halting = [name for name, model in MODELS.items() if model.halting is not None]
    stepped = {"ablate.model": params.ablate.model, "trace.model": params.trace.model}
    named = {"evaluate.reference": params.evaluate.reference, **stepped}
    named |= {f"sizes.models[{index}]": name for index, name in enumerate(params.sizes.models)}
    named |= {f"fidelity.models.{name}": name for name in params.fidelity.models}
    if params.halting.mechanisms:
        named["halting.model"] = params.halting.model
    for key, model in named.items():
        if model is None:  # the first suitable one
            continue
        if key in stepped and model not in halting:
            yield from _absent(key, model, HALTS, halting)
        else:
            yield from _absent(key, model, "one of sweep.models", params.sweep.models)
    for model, variants in params.fidelity.models.items():
        for variant, changes in variants.items():
            known = setting_types(published_model(model, changes)) | LIMITS
            yield from _unknown_keys(f"fidelity.models.{model}.{variant}", changes, known)


def _stages(params: Params) -> Iterator[str]:
    for split in SPLITS:
        if params.corpus.source == "files" and getattr(params.corpus.files, split) is None:
            yield f"corpus.files.{split} is not set; source files needs its path or URL"
    max_steps = params.ablate.dev_steps
    for index, steps in enumerate(params.ablate.test_steps):
        if steps > max_steps:
            yield f"ablate.test_steps[{index}] is {steps}; must be at most dev_steps, {max_steps}"
    if params.trace.per_label == 0 and not params.trace.pair_ids:
        yield "trace.per_label is 0; must be at least 1, or name pairs in trace.pair_ids"


def _halting(params: Params) -> Iterator[str]:
    model, mechanisms = params.halting.model, params.halting.mechanisms
    if not mechanisms:
        return
    known = [name for name in MODELS if model_with(name, "fixed_steps") in MODELS]
    network = first_network(params.sweep.models) if model is None else model
    if network is None:
        yield f"halting.model is null and the sweep has no model that halts: {_listed(known)}"
    elif network not in known:
        yield from _absent("halting.model", network, HALTS, known)
    else:
        for name, axes in mechanisms.items():
            types = setting_types(model_with(network, name))
            yield from _unknown_keys(f"halting.mechanisms.{name}", axes, types)


def _sequences(params: Params) -> Iterator[str]:
    study, texts = params.sequences, params.texts.sources
    if study.text is not None:
        yield from _absent("sequences.text", study.text, "one of texts.sources", texts)
    elif "characters" in study.tasks:
        needed = "characters need a text; name one of texts.sources"
        yield f"sequences.text is null, but {needed}: {_listed(texts)}"
    for task, task_study in study.tasks.items():
        key, known = f"sequences.tasks.{task}", dict[str, Any]()
        for name, axes in task_study.mechanisms.items():
            types = sequence_setting_types(task, name)
            known |= {setting: of for setting, of in types.items() if setting not in axes}
            configs = trials.sequence_trials(task, name, task_study, study.seeds)
            yield from _build_problems(f"{key}.mechanisms.{name}", configs)
        yield from _unknown_keys(f"{key}.settings", task_study.settings, known)


def _multihop(params: Params) -> Iterator[str]:
    study = params.multihop
    for model, axes in study.models.items():
        key = f"multihop.models.{model}"
        if "max_hops" in axes:  # dev and test have its depths
            yield f"{key}.max_hops belongs in multihop.settings: it has one value"
        yield from _build_problems(key, trials.multihop_trials(model, study))
    hops, beyond = study.settings["max_hops"], study.corpus.beyond
    if hops + beyond > MAX_HOPS:
        limit = f"at most {MAX_HOPS - hops}, as a premise has at most {MAX_HOPS} hops"
        yield f"multihop.corpus.beyond is {beyond}; must be {limit} and max_hops is {hops}"


def _cloze_data(params: Params) -> Iterator[str]:
    data, text = params.cloze_data, params.cloze_data.text
    if data.source == "text":
        texts = params.texts.sources
        yield from _absent("cloze_data.text.name", text.name, "one of texts.sources", texts)
        shares = (text.dev_share, text.test_share)
        if sum(shares) >= 1:
            expected = "must leave sections for training"
            yield f"cloze_data.text.dev_share and test_share are {shares}; {expected}"
    for split in SPLITS:
        if data.source == "whodidwhat" and getattr(data.whodidwhat, split) is None:
            yield f"cloze_data.whodidwhat.{split} is not set; source whodidwhat needs its file"


def _cloze(params: Params) -> Iterator[str]:
    data, key = params.cloze_data, "cloze.question_types"
    studies = params.cloze.question_types
    if studies and data.source == "none":
        yield f"cloze_data.source is 'none'; {key} needs questions: text, cbt or whodidwhat"
        return
    known: list[str] = [WDW] if data.source == "whodidwhat" else list(data.question_types)
    yield from _unknown_keys(key, studies, known)
    for name, study in studies.items():
        if not (study.one_step or study.query_gating or study.adaptive_computation):
            yield f"{key}.{name} compares nothing; set one_step or numbers of steps"
        configs = trials.reader_trials(name, study, params.cloze.seeds)
        yield from _build_problems(f"{key}.{name}", configs)


def _build_problems(key: str, configs: Iterable[object]) -> Iterator[str]:
    """Yield the reasons why trials cannot be built."""
    try:
        list(configs)
    except ConfigError as error:
        yield from (f"{key}: {problem}" for problem in error.problems)


def _unknown_keys(section: str, names: Iterable[str], known: Collection[str]) -> Iterator[str]:
    yield from (unknown((section, name), list(known)) for name in names if name not in known)


def _absent(key: str, value: Any, expected: str, known: Collection[str]) -> Iterator[str]:
    """Yield a message, with the closest known name if any, if the value is not one of them."""
    if value not in known:
        closest = [f"did you mean {name}?" for name in get_close_matches(str(value), known, n=1)]
        hint = closest or [f"must be {expected}: {_listed(known)}"]
        yield f"{key} is {shown(value)}; {hint[0]}"


def _listed(known: Iterable[str]) -> str:
    return ", ".join(known) or "which is empty"
