"""The problems of params.yaml that only several keys together show."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from actmodels.errors import ConfigError, shown
from actmodels.multihop.words import MAX_HOPS
from actmodels.registry import MODELS, as_published, model_with
from actmodels.sequences.config import sequence_setting_types
from actmodels.trial_config import setting_types
from pipeline.parameters import trials
from pipeline.parameters.schema import Params
from pipeline.parameters.section import SPLITS
from pipeline.parameters.sentences import unknown
from pipeline.parameters.study_sections import LIMITS, WDW


def rule_problems(params: Params) -> list[str]:
    """All problems of this kind, one sentence each."""
    rules = (_sweep, _models, _stages, _halting, _graves, _multihop, _questions, _nse)
    return [problem for rule in rules for problem in rule(params)]


def _sweep(params: Params) -> Iterator[str]:
    for model, own in params.sweep.models.items():
        key = f"sweep.models.{model}"
        for name in (name for name in own.settings if name in own.grid):
            yield f"{key}.settings.{name} is in grid as well; keep one of the two"
        yield from _refused(key, trials.model_trials(model, params.sweep))
        if MODELS[model].reads_parses and not params.corpus.parses:
            yield f"{key} reads parses; set corpus.parses to true"


def _models(params: Params) -> Iterator[str]:
    """Models that other sections name are swept; some must infer in steps."""
    halting = [name for name, model in MODELS.items() if model.halting is not None]
    named = [("evaluate.reference", params.evaluate.reference)]
    for key, model in {"ablate": params.ablate.model, "trace": params.trace.model}.items():
        if model in halting:
            named.append((f"{key}.model", model))
        else:
            yield f"{key}.model is {shown(model)}; must be a model that halts: {_listed(halting)}"
    named += [(f"sizes.models[{place}]", name) for place, name in enumerate(params.sizes.models)]
    named += [(f"fidelity.models.{name}", name) for name in params.fidelity.models]
    if params.halting.kinds:
        named.append(("halting.model", params.halting.model))
    for key, model in named:
        yield from _none_of(key, model, "sweep.models", params.sweep.models)
    for model, variants in params.fidelity.models.items():
        for variant, changes in variants.items():
            known = setting_types(as_published(model, changes)) | LIMITS
            yield from _strangers(f"fidelity.models.{model}.{variant}", changes, known)


def _stages(params: Params) -> Iterator[str]:
    most = params.ablate.dev_steps
    for place, step in enumerate(params.ablate.test_steps):
        if step > most:
            yield f"ablate.test_steps[{place}] is {step}; must be at most dev_steps, {most}"
    if params.trace.per_label == 0 and not params.trace.pair_ids:
        yield "trace.per_label is 0; must be at least 1, or name pairs in trace.pair_ids"


def _halting(params: Params) -> Iterator[str]:
    model = params.halting.model
    able = [name for name in MODELS if model_with(name, "fixed_steps") in MODELS]
    if params.halting.kinds and model not in able:
        yield f"halting.model is {shown(model)}; must be a model that halts: {_listed(able)}"
        return
    for kind, axes in params.halting.kinds.items():
        yield from _strangers(f"halting.kinds.{kind}", axes, setting_types(model_with(model, kind)))


def _graves(params: Params) -> Iterator[str]:
    study, texts = params.sequences, params.texts.sources
    if study.text is not None:
        yield from _none_of("sequences.text", study.text, "texts.sources", texts)
    elif "characters" in study.tasks:
        needed = "characters need a text; name one of texts.sources"
        yield f"sequences.text is null, but {needed}: {_listed(texts)}"
    for task, tasks in study.tasks.items():
        key = f"sequences.tasks.{task}"
        taken: dict[str, Any] = {}
        for kind, axes in tasks.kinds.items():
            known = sequence_setting_types(task, kind)
            taken |= {name: of for name, of in known.items() if name not in axes}
            drawn = trials.sequence_trials(task, kind, tasks, study.seeds)
            yield from _refused(f"{key}.kinds.{kind}", drawn)
        yield from _strangers(f"{key}.settings", tasks.settings, taken)


def _multihop(params: Params) -> Iterator[str]:
    study = params.multihop
    for model, axes in study.models.items():
        key = f"multihop.models.{model}"
        if "max_hops" in axes:  # dev and test have its depths
            yield f"{key}.max_hops belongs in multihop.settings: it has one value"
        yield from _refused(key, trials.multihop_trials(model, study))
    hops, beyond = study.settings["max_hops"], study.corpus.beyond
    if hops + beyond > MAX_HOPS:
        most = f"at most {MAX_HOPS - hops}, as a premise has at most {MAX_HOPS} hops"
        yield f"multihop.corpus.beyond is {beyond}; must be {most} and max_hops is {hops}"


def _questions(params: Params) -> Iterator[str]:
    questions, text = params.cloze_data, params.cloze_data.text
    if questions.source == "text":
        yield from _none_of(
            "cloze_data.text.name", text.name, "texts.sources", params.texts.sources
        )
        shares = (text.dev_share, text.test_share)
        if sum(shares) >= 1:
            must = "must leave sections for training"
            yield f"cloze_data.text.dev_share and test_share are {shares}; {must}"
    for split in SPLITS:
        if questions.source == "whodidwhat" and getattr(questions.whodidwhat, split) is None:
            yield f"cloze_data.whodidwhat.{split} is not set; source whodidwhat needs its file"


def _nse(params: Params) -> Iterator[str]:
    source, study = params.cloze_data.source, params.cloze
    if study.kinds and source == "none":
        yield "cloze_data.source is 'none'; cloze.kinds needs questions: text, cbt or whodidwhat"
        return
    known: list[str] = [WDW] if source == "whodidwhat" else list(params.cloze_data.kinds)
    yield from _strangers("cloze.kinds", study.kinds, known)
    for kind, of in study.kinds.items():
        if not (of.one_step or of.query_gating or of.adaptive_computation):
            yield f"cloze.kinds.{kind} compares nothing; set one_step or numbers of steps"
        yield from _refused(f"cloze.kinds.{kind}", trials.reader_trials(kind, of, study.seeds))


def _refused(key: str, drawn: Iterable[object]) -> Iterator[str]:
    """Why trials cannot be built."""
    try:
        list(drawn)
    except ConfigError as error:
        yield from (f"{key}: {problem}" for problem in error.problems)


def _strangers(section: str, names: Iterable[str], known: Collection[str]) -> Iterator[str]:
    """Sentences for keys of settings that a trial of their kind does not have."""
    yield from (unknown((section, name), list(known)) for name in names if name not in known)


def _none_of(key: str, value: Any, where: str, known: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for a value that must be a key of a section elsewhere."""
    if value not in known:
        yield f"{key} is {shown(value)}; must be one of {where}: {_listed(known)}"


def _listed(known: Iterable[str]) -> str:
    return ", ".join(known) or "which is empty"
