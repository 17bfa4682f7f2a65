"""The problems of the sections `questions` and `nse` that only other keys show."""

from collections.abc import Iterator
from typing import Any

from actmodels.comprehension.config import build_reader_trial
from actmodels.errors import ConfigError
from pipeline.parameters.cloze_text import cloze_config
from pipeline.parameters.problems import dotted, unknown

WDW = "WDW"  # the one kind of questions that Who-Did-What has
SPLITS = ("train", "dev", "test")


def nse_problems(tree: dict[str, Any]) -> Iterator[str]:
    """All problems of this kind; parts of the wrong type are passed over, they have their own."""
    questions = _mapping(tree.get("questions"))
    source = questions.get("source")
    if source == "text":
        sources = _mapping(_mapping(tree.get("texts")).get("sources"))
        yield from _text_problems(_mapping(questions.get("text")), list(sources))
    if source == "whodidwhat":
        files = _mapping(questions.get("whodidwhat"))
        for split in (split for split in SPLITS if files.get(split) is None):
            yield f"questions.whodidwhat.{split} is not set; source whodidwhat needs its file"
    kinds = _mapping(_mapping(tree.get("nse")).get("kinds"))
    if kinds and source == "none":
        yield "questions.source is 'none'; nse.kinds needs questions: text, cbt or whodidwhat"
        return
    listed = questions.get("kinds")
    known = [WDW] if source == "whodidwhat" else listed if isinstance(listed, list) else []
    for kind, study in kinds.items():
        path = ("nse", "kinds", kind)
        if kind not in known:
            yield unknown(path, known)
        elif isinstance(study, dict):
            yield from _study_problems(path, study)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text_problems(text: dict[str, Any], sources: list[str]) -> Iterator[str]:
    name = text.get("name")
    if name not in sources:
        present = ", ".join(sources) or "which is empty"
        yield f"questions.text.name is {name!r}; must be one of texts.sources: {present}"
    settings = {key: value for key, value in text.items() if key != "name"}
    try:
        cloze_config(settings)
    except ConfigError as error:
        yield from (f"questions.text.{problem}" for problem in error.problems)
    except TypeError:
        return  # missing, unknown or of the wrong type: said elsewhere


def _study_problems(path: tuple[str, ...], study: dict[str, Any]) -> Iterator[str]:
    steps = {name: study.get(name) for name in ("query_gating", "adaptive_computation")}
    for name, values in steps.items():
        listed = values if isinstance(values, list) else []
        for place, value in enumerate(listed):
            if value in listed[:place]:
                key = dotted((*path, name, place))
                yield f"{key} is {value!r} again; each value must be given once"
    if steps == {"query_gating": [], "adaptive_computation": []} and not study.get("one_step"):
        yield f"{dotted(path)} compares nothing; set one_step or numbers of steps"
    settings = study.get("settings")
    if not isinstance(settings, dict):
        return
    own = [name for name in ("strategy", "steps") if name in settings]
    for name in own:
        yield f"{dotted((*path, 'settings', name))} belongs in query_gating or adaptive_computation"
    given = {"strategy": "query_gating", "steps": 1}
    try:
        build_reader_trial(path[-1], settings | given, max_epochs=1, patience=0, seed=0)
    except ConfigError as error:
        yield from (f"{dotted((*path, 'settings'))}: {problem}" for problem in error.problems)
