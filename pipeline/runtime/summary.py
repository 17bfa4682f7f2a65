"""The last lines of `make repro`: results in short, and where to go on."""

import json
import os
import shlex
import time
from collections.abc import Sequence
from itertools import chain
from typing import Any

from pipeline.parameters.load import load_params
from pipeline.runtime.expected import MODELS, Expectations
from pipeline.runtime.progress import SINCE
from pipeline.runtime.results import diverged_seeds, intact, read_json
from pipeline.runtime.stage import artifacts

SUMMARY = "summary.txt"  # lines that a study writes for this summary
ACTIVE, ACTIVATE = "VIRTUAL_ENV", "source .venv/bin/activate"
NEXT = [
    "act-nli ui                      # MLflow's pages: every trial",
    "act-nli sweep plan models=all   # how long every model of the papers would take",
]


def summary() -> str:
    """Return what was trained, results with their expected ranges, paths and next commands."""
    params = load_params()
    expected, lines = Expectations(params), result_lines(params.studies)
    texts = {part: [expected.annotated(part, line) for line in lines[part]] for part in lines}
    parts = {"Data:": _data(), "Trials:": _trials(), "Test:": texts.pop(MODELS) + _lost()}
    parts |= {"Studies:": [*chain(*texts.values())], "Check:": expected.verdict()}
    if since := os.environ.get(SINCE):
        minutes, seconds = divmod(round(time.time() - float(since)), 60)
        parts["Time:"] = [f"{minutes} min {seconds} s"]
    report, first = artifacts("report", "index.html"), [] if os.environ.get(ACTIVE) else [ACTIVATE]
    parts |= {"Report:": [report.as_uri() if report.is_file() else "none yet; run: make repro"]}
    parts |= {"Next:": [*first, *_question(), *NEXT] if report.is_file() else []}
    return "\n".join(
        f"{label if number == 0 else '':<9}{text}"
        for label, texts in parts.items()
        for number, text in enumerate(texts)
    )


def _data() -> list[str]:
    """Return the notes of the stages on pairs, labels and vectors."""
    lines: list[str] = []
    with intact("corpus", "summary.json"):
        lines += _json("corpus", "summary.json").get("notes", [])
    with intact("vectors", "summary.json"):
        lines += filter(None, [_json("vectors", "summary.json").get("note")])
    return lines


def _trials() -> list[str]:
    parts = []
    for stage in ("sweep", "retrain"):
        with intact(stage, "environment.json"):
            if environment := _json(stage, "environment.json"):
                trials, reused = environment["trials"], environment["reused"]
                parts.append(f"{stage} has {trials} trials, {reused} of them from earlier runs")
    lines = [", ".join(parts)] if parts else []
    with intact("sweep", "summary.json"):
        lines += filter(None, [_json("sweep", "summary.json").get("ended")])
    return lines


def _question() -> list[str]:
    """Return the command that asks the best model about the first pair of test, if it is here."""
    if not (path := artifacts("corpus", "test.jsonl")).is_file():
        return []
    with intact("corpus", "test.jsonl"), path.open(encoding="utf-8") as lines:
        pair = json.loads(next(lines, ""))
        premise, hypothesis = (shlex.quote(pair[key]) for key in ("sentence1", "sentence2"))
    return [f"act-nli predict --premise {premise} --hypothesis {hypothesis}"]


def _lost() -> list[str]:
    """Return a line for each model of the sweep that has no test result."""
    with intact("sweep", "summary.json"), intact("evaluate", "summary.json"):
        tested = _json("evaluate", "summary.json")
        swept = _json("sweep", "summary.json").get("models", {}) if tested else {}
        lost = {model: of for model, of in swept.items() if model not in tested}
        diverged, absent = "all its trials diverged", "no trial has a result"
        return [f"{m}: {absent if of.get('trials') == 0 else diverged}" for m, of in lost.items()]


def result_lines(studies: Sequence[str]) -> dict[str, list[str]]:
    """Return a line of test results for each model, and the lines that each study wrote."""
    models = []
    for stage in ("evaluate", "lexical_baseline"):
        with intact(stage, "summary.json"):
            models += [_accuracy(*pair) for pair in _json(stage, "summary.json").items()]
    paths = {name: artifacts("studies", name, SUMMARY) for name in studies}
    return {MODELS: models} | {
        name: path.read_text("utf-8").splitlines() for name, path in paths.items() if path.is_file()
    }


def _accuracy(model: str, result: Any) -> str:
    accuracy = result.get("test_accuracy_mean", result.get("test_accuracy"))
    sd = result.get("test_accuracy_sd")
    spread = f" ± {100 * sd:.2f}" if sd is not None else ""
    steps = f", {result['mean_steps']:.1f} steps" if result.get("mean_steps") else ""
    n = f"{result.get('seeds')}{steps}{diverged_seeds(result)}"
    seeds = f" (n = {n})" if "seeds" in result else ""
    return f"{model}: {100 * accuracy:.1f}{spread} %{seeds}"


def _json(stage: str, name: str) -> dict[str, Any]:
    content: dict[str, Any] = read_json(stage, name) if artifacts(stage, name).is_file() else {}
    return content
