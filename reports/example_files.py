"""Read the traced pairs and their counts, or say exactly what is wrong with them."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.reading import Source, read_json

# What steps after the first did to the answer, as the stage `trace` names and defines it.
OUTCOMES = (
    "corrected",
    "spoiled",
    "right_throughout",
    "wrong_throughout",
    "changed_in_between",
)
COUNTS = ("pairs", "right_after_step_1", "right", *OUTCOMES)
KEYS: Mapping[str, type] = {
    **{"model": str, "seed": int, "pair_id": str, "label": str, "depth": int},
    **{"premise": list, "hypothesis": list, "predicted": str, "steps": int, "answer": dict},
    **{"outcome": str, "trace": list},
}
STEP_KEYS: Mapping[str, type] = {
    **{"step": int, "halting_probability": float, "weight": float, "class": str},
    **{"class_probabilities": dict, "premise_attention": list, "hypothesis_attention": list},
}
NAMED = {str: "text", int: "a whole number", float: "a number", list: "a list", dict: "a mapping"}


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a pair: shares in [0, 1], attention token by token.

    label: what the state after this step would answer by itself, with `probabilities` by label.
    """

    halting: float
    weight: float
    label: str
    probabilities: tuple[float, ...]
    premise: list[float]
    hypothesis: list[float]


@dataclass(frozen=True, slots=True)
class Example:
    """One pair as one retrained model saw it; `answer` has the probability of each label."""

    model: str
    seed: int
    pair_id: str
    label: str
    depth: int
    premise: list[str]
    hypothesis: list[str]
    predicted: str
    answer: tuple[float, ...]
    outcome: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Counted:
    """How many pairs of one retrained model were traced, were right, and had each outcome."""

    model: str
    seed: int
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Examples:
    """The traced pairs in stored order, and their counts by model and seed.

    labels: of `answer` and `probabilities`, in their order.
    """

    labels: tuple[str, ...]
    pairs: tuple[Example, ...]
    counted: tuple[Counted, ...]


def read_examples(root: Path) -> Examples:
    """Read artefacts/trace/.

    Raises:
        ArtefactError: a file is missing or damaged, or the counts are not those of the pairs.
    """
    source = Source(root, "trace", "traces.jsonl")
    labels: tuple[str, ...] = ()
    pairs: list[Example] = []
    seen: set[tuple[str, int, str]] = set()
    text = source.read()
    for number, part in enumerate(text.removesuffix("\n").split("\n") if text else (), start=1):
        try:
            line = json.loads(part, parse_constant=_no_number)
            _check(line, KEYS, "the line")
            labels = labels or tuple(line["answer"])
            pair = _example(line, labels)
        except json.JSONDecodeError as error:
            raise source.damaged(f"is not JSON ({error.msg})", number) from error
        except ValueError as error:
            raise source.damaged(str(error), number) from error
        if (name := (pair.model, pair.seed, pair.pair_id)) in seen:
            twice = f"has the pair {pair.pair_id} of seed {pair.seed} of {pair.model} again"
            raise source.damaged(twice, number)
        seen.add(name)
        pairs.append(pair)
    counted = _counted(pairs)
    _check_summary(Source(root, "trace", "summary.json"), counted)
    return Examples(labels, tuple(pairs), counted)


def check_traced(root: Path, examples: Examples, retrained: set[tuple[str, int]]) -> None:
    """What was traced are retrained models, given by model and seed.

    Raises:
        ArtefactError: the traces are of an earlier run.
    """
    for run in examples.counted:
        if (run.model, run.seed) not in retrained:
            raise Source(root, "trace", "traces.jsonl").stale(
                f"has seed {run.seed} of {run.model}, which was not retrained"
            )


def _no_number(name: str) -> None:
    raise ValueError(f"has {name}, which is no number")


def _example(line: dict[str, Any], labels: tuple[str, ...]) -> Example:
    premise, hypothesis = line["premise"], line["hypothesis"]
    if not premise or not hypothesis or not all(type(t) is str for t in premise + hypothesis):
        raise ValueError("premise and hypothesis must be lists of one or more tokens")
    for key, allowed in (("label", labels), ("predicted", labels), ("outcome", OUTCOMES)):
        if line[key] not in allowed:
            raise ValueError(f"{key} is {line[key]!r}; must be one of {', '.join(allowed)}")
    if not line["trace"] or line["steps"] != len(line["trace"]):
        raise ValueError(f"steps is {line['steps']}, but trace has {len(line['trace'])}")
    return Example(
        *(line["model"], line["seed"], line["pair_id"], line["label"], line["depth"]),
        *(premise, hypothesis, line["predicted"], _by_label(line, "answer", labels)),
        line["outcome"],
        tuple(_steps(line, labels)),
    )


def _steps(line: dict[str, Any], labels: tuple[str, ...]) -> Iterator[Step]:
    for number, step in enumerate(line["trace"], start=1):
        try:
            _check(step, STEP_KEYS, "it")
            if step["step"] != number:
                raise ValueError(f"step is {step['step']}")
            if step["class"] not in labels:
                raise ValueError(f"class is {step['class']!r}; must be one of {', '.join(labels)}")
            for sentence in ("premise", "hypothesis"):
                weights, tokens = step[f"{sentence}_attention"], len(line[sentence])
                if len(weights) != tokens:
                    has = f"has {len(weights)} weights where {sentence} has {tokens} tokens"
                    raise ValueError(f"{sentence}_attention {has}")
                _check_shares(f"{sentence}_attention", weights)
            halting, weight = step["halting_probability"], step["weight"]
            _check_shares("halting_probability", [halting])
            _check_shares("weight", [weight])
            yield Step(
                *(halting, weight, step["class"], _by_label(step, "class_probabilities", labels)),
                *(step["premise_attention"], step["hypothesis_attention"]),
            )
        except ValueError as error:
            raise ValueError(f"step {number}: {error}") from error


def _check(found: Any, keys: Mapping[str, type], what: str) -> None:
    if not isinstance(found, dict):
        raise ValueError(f"{what} must be a mapping")
    if absent := [key for key in keys if key not in found]:
        raise ValueError(f"has no key {', '.join(absent)}")
    for key, kind in keys.items():
        value = found[key]
        if type(value) is not kind and not (kind is float and type(value) is int):
            raise ValueError(f"{key} is {value!r}; must be {NAMED[kind]}")


def _check_shares(name: str, values: list[Any]) -> None:
    try:
        inside = min(values) >= 0 and max(values) <= 1
    except TypeError:
        inside = False
    if not inside:
        wrong = next(v for v in values if type(v) not in (int, float) or not 0 <= v <= 1)
        raise ValueError(f"{name} has {wrong!r}; must be a number between 0 and 1")


def _by_label(found: dict[str, Any], key: str, labels: tuple[str, ...]) -> tuple[float, ...]:
    if tuple(found[key]) != labels:
        raise ValueError(f"{key} has {', '.join(found[key])}; must have {', '.join(labels)}")
    values = list(found[key].values())
    _check_shares(key, values)
    return tuple(values)


def _counted(pairs: list[Example]) -> tuple[Counted, ...]:
    runs: dict[tuple[str, int], Counter[str]] = {}
    for pair in pairs:
        counts = runs.setdefault((pair.model, pair.seed), Counter())
        counts["pairs"] += 1
        counts["right_after_step_1"] += pair.steps[0].label == pair.label
        counts["right"] += pair.predicted == pair.label
        counts[pair.outcome] += 1
    return tuple(
        Counted(model, seed, {name: counts[name] for name in COUNTS})
        for (model, seed), counts in runs.items()
    )


def _check_summary(source: Source, counted: tuple[Counted, ...]) -> None:
    """The stage's own counts are those of its lines."""
    stored = read_json(source, tuple(run.model for run in counted))
    try:
        found = {(model, seed): dict(c) for model, s in stored.items() for seed, c in s.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise source.damaged("must map models to seeds to counts") from error
    wanted = {(run.model, f"seed_{run.seed}"): run.counts for run in counted}
    for model, seed in sorted(set(found) ^ set(wanted)):
        one = "has" if (model, seed) in found else "lacks"
        other = "lacks" if (model, seed) in found else "has"
        raise source.damaged(f"{one} {model}, {seed}, which traces.jsonl {other}")
    for (model, seed), counts in wanted.items():
        for name, count in counts.items():
            if (has := found[model, seed].get(name)) != count:
                problem = f"{name} of {model}, {seed}, is {has} where traces.jsonl has {count}"
                raise source.damaged(problem)
