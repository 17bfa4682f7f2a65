"""Rendered steps fit the width, with or without color."""

import io
import re
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
PLAIN = """\
entailment    (neutral 0.100, entailment 0.650, contradiction 0.250), 2 steps
  premise      a man sleeps .
  hypothesis   he rests

  step 1       halting 0.250, weight 0.500
  alone        entailment (neutral 0.100, entailment 0.650, contradiction 0.250)
  premise      0.60 ############         a
               0.30 ######               man
               0.10 ##                   .
  hypothesis   0.98 #################### rests
               0.02                      he

  step 2       halting 0.250, weight 0.500
  alone        entailment (neutral 0.100, entailment 0.650, contradiction 0.250)
  premise      1.00 #################### sleeps
               0.00                      a
               0.00                      man
  hypothesis   0.50 ##########           he
               0.50 ##########           rests
"""

WORDS = """\
entailment    (neutral 0.100, entailment 0.650, contradiction 0.250)
  premise      a man sleeps .
  hypothesis   he rests

  word         he
  alone        entailment (neutral 0.100, entailment 0.650, contradiction 0.250)
  premise      0.60 ############         a
               0.30 ######               man
               0.10 ##                   .

  word         rests
  alone        entailment (neutral 0.100, entailment 0.650, contradiction 0.250)
  premise      1.00 #################### sleeps
               0.00                      a
               0.00                      man
"""


def render(
    prediction: PairPrediction, encoding: str = "utf-8", width: int = 80, **more: Any
) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    text = explain_steps(prediction, Console(file=stream, width=width, **more))
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def test_plain_text() -> None:
    assert render(PREDICTION, "ascii") == PLAIN
    assert render(PREDICTION) == PLAIN.replace("#", "█")


def test_words_of_the_hypothesis_in_place_of_steps() -> None:
    trace = [step(1, [0.6, 0.3, 0.0, 0.1], [1.0, 0.0]), step(2, [0, 0, 1, 0], [0.0, 1.0])]
    by_word = PREDICTION._replace(steps=None, attention={**ATTENTION, "trace": trace})
    assert render(by_word, "ascii") == WORDS


def test_unknown_words_end_the_first_line() -> None:
    prediction = PREDICTION._replace(unknown_words=["awake", ",", "n't", "\x1b[2J"])
    first, rest = PLAIN.split("\n", 1)
    first += """; unreliable, unknown words: 'awake', ',', "n't", '\\x1b[2J'"""
    assert summarize(prediction) == first
    assert render(prediction, "ascii") == f"{first}\n{rest}"
    without = PairPrediction("neutral", SHARES, None, ["awake"], None)
    line = "neutral       (neutral 0.100, entailment 0.650, contradiction 0.250)"
    assert summarize(without) == f"{line}; unreliable, unknown words: 'awake'"
    marks = without._replace(unknown_words=[","])
    assert summarize(marks) == f"{line}; unknown words: ','"
    assert render(without).strip() == summarize(without)


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
