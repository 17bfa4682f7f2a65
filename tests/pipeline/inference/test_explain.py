"""Rendered steps fit the width, with or without color."""

import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from pipeline.inference.cli import explain_steps, summarize
from pipeline.inference.predictor import PairPrediction

SHARES = {"neutral": 0.1, "entailment": 0.65, "contradiction": 0.25}
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def step(number: int, premise: list[float], hypothesis: list[float]) -> dict[str, Any]:
    return {
        **{"step": number, "halting_probability": 0.25, "weight": 0.5},
        **{"class": "entailment", "class_probabilities": SHARES},
        **{"premise_attention": premise, "hypothesis_attention": hypothesis},
    }


ATTENTION = {
    "premise": ["a", "man", "sleeps", "."],
    "hypothesis": ["he", "rests"],
    "trace": [step(1, [0.6, 0.3, 0.0, 0.1], [0.02, 0.98]), step(2, [0, 0, 1, 0], [0.5, 0.5])],
}
PREDICTION = PairPrediction("entailment", SHARES, 2, [], ATTENTION)


def render(
    prediction: PairPrediction, encoding: str = "utf-8", width: int = 80, **more: Any
) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    text = explain_steps(prediction, Console(file=stream, width=width, **more))
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def test_steps_words_and_unknown_words(golden: Callable[..., None]) -> None:
    """Also of a model that reads the hypothesis word by word, and of one without steps."""
    trace = [step(1, [0.6, 0.3, 0.0, 0.1], [1.0, 0.0]), step(2, [0, 0, 1, 0], [0.0, 1.0])]
    words = PREDICTION._replace(steps=None, attention={**ATTENTION, "trace": trace})
    unknown = PREDICTION._replace(unknown_words=["awake", ",", "n't", "\x1b[2J"])
    without = PairPrediction("neutral", SHARES, None, ["awake"], None)
    marks = without._replace(unknown_words=[","])
    texts = [render(one, "ascii") for one in (PREDICTION, words, unknown, without, marks)]
    golden("explain.txt", "\n".join(texts))
    assert render(PREDICTION) == texts[0].replace("#", "█")
    assert [summarize(one) for one in (unknown, without, marks)] == [
        text.partition("\n")[0].rstrip() for text in texts[2:]
    ]


@pytest.mark.parametrize("color", [None, "256"])
@pytest.mark.parametrize("width", [40, 80])
def test_tokens_are_shaded_truncated_and_escaped(color: Any, width: int) -> None:
    tokens = ["\x1bc", *(f"token{number}" for number in range(60)), "x" * 200]
    weights = [*[1 / len(tokens)] * (len(tokens) - 1), 0.9]
    attention = {"premise": tokens, "hypothesis": tokens, "trace": [step(1, weights, weights)]}
    prediction = PairPrediction("entailment", SHARES, 1, [], attention)
    text = render(prediction, width=width, force_terminal=True, color_system=color)
    assert ("\x1b[38;5;231;48;5;25mxxx" in text) is (color is not None)
    plain = ESCAPE.sub("", text)
    assert all(len(line) <= width for line in plain.splitlines()[1:])
    words = " ".join(plain.split())
    assert all(token in words for token in tokens[1:-1])
    assert r"\x1bc" in words and "x…" in words and "x" * 200 not in words
