"""The problems of the section `graves` that only a whole trial shows."""

from collections.abc import Iterator
from typing import Any

from actmodels.errors import ConfigError
from actmodels.sequences.config import TASKS, build_sequence_trial
from pipeline.parameters.problems import dotted, unknown


def graves_problems(tree: dict[str, Any]) -> Iterator[str]:
    """All problems of this kind; parts of the wrong type are passed over, they have their own."""
    graves = tree.get("graves")
    graves = graves if isinstance(graves, dict) else {}
    tasks = graves.get("tasks")
    tasks = tasks if isinstance(tasks, dict) else {}
    if "characters" in tasks or isinstance(graves.get("text"), str):
        yield from _text_problems(graves.get("text"), tree.get("texts"))
    for task, study in tasks.items():
        path = ("graves", "tasks", task)
        if task not in TASKS:
            yield unknown(path, list(TASKS))
        elif isinstance(study, dict):
            yield from _trial_problems(path, task, study)


def _text_problems(text: Any, texts: Any) -> Iterator[str]:
    sources = texts.get("sources") if isinstance(texts, dict) else None
    if not isinstance(sources, dict):
        return
    known = ", ".join(map(str, sources)) or "which is empty"
    if text is None:
        yield f"graves.text is null, but characters need a text; name one of texts.sources: {known}"
    elif text not in sources:
        yield f"graves.text is {text!r}; must be one of texts.sources: {known}"


def _trial_problems(path: tuple[str, ...], task: str, study: dict[str, Any]) -> Iterator[str]:
    weights, settings = study.get("ponder_weights"), study.get("settings")
    if weights == [] and study.get("without_act") is False:
        key = dotted((*path, "ponder_weights"))
        yield f"{key} is empty; must have a value, unless without_act is true"
    if not isinstance(weights, list) or not isinstance(settings, dict):
        return
    if "ponder_weight" in settings:
        yield f"{dotted((*path, 'settings', 'ponder_weight'))} belongs in ponder_weights"
        return
    told: dict[str, None] = {}
    for place, weight in enumerate(weights or [0.0]):
        try:
            build_sequence_trial(
                task,
                "act",
                settings | {"ponder_weight": weight},
                max_epochs=1,
                patience=0,
                seed=0,
            )
        except ConfigError as error:
            for problem in error.problems:
                here = problem.startswith("ponder_weight ")
                key = dotted((*path, "settings"))
                if here:
                    key = dotted((*path, "ponder_weights", place))
                told[f"{key}: {problem}"] = None
    yield from told
