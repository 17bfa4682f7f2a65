"""Steps as text: within the width, with or without colour, with the signs that there are."""

import io
import re
from typing import Any

import pytest

from pipeline.answering.answer import PairAnswer
from pipeline.predict.explain import Style, explained, in_words

SHARES = {"neutral": 0.1, "entailment": 0.65, "contradiction": 0.25}
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def step(number: int, premise: list[float], hypothesis: list[float]) -> dict[str, Any]:
    return {
        "step": number,
        "halting_probability": 0.25,
        "weight": 0.5,
        "class": "entailment",
        "class_probabilities": SHARES,
        "premise_attention": premise,
        "hypothesis_attention": hypothesis,
    }


ANSWER = PairAnswer(
    "entailment",
    SHARES,
    2,
    [],
    {
        "premise": ["a", "man", "sleeps", "."],
        "hypothesis": ["he", "rests"],
        "trace": [step(1, [0.6, 0.3, 0.0, 0.1], [0.02, 0.98]), step(2, [0, 0, 1, 0], [0.5, 0.5])],
    },
)

PLAIN = """\
entailment    (neutral 0.100, entailment 0.650, contradiction 0.250), 2 steps
  premise      a man sleeps .
  hypothesis   he rests

  step 1: halting 0.250, weight 0.500
  alone        entailment (neutral 0.100, entailment 0.650, contradiction 0.250)
  premise      0.60 ############         a
               0.30 ######               man
               0.10 ##                   .
  hypothesis   0.98 #################### rests
               0.02                      he

  step 2: halting 0.250, weight 0.500
  alone        entailment (neutral 0.100, entailment 0.650, contradiction 0.250)
  premise      1.00 #################### sleeps
               0.00                      a
               0.00                      man
  hypothesis   0.50 ##########           he
               0.50 ##########           rests
"""


def test_plain_text_is_this() -> None:
    assert explained(ANSWER, Style(colour=False, unicode=False)) == PLAIN
    assert explained(ANSWER, Style()) == PLAIN.replace("#", "█")


def test_words_that_the_model_does_not_know_end_the_line_of_the_answer() -> None:
    answer = ANSWER._replace(unknown_words=["awake", ",", "n't", "\x1b[2J"])
    first, rest = PLAIN.split("\n", 1)
    first += """; not known to the model: 'awake', ',', "n't", '\\x1b[2J'"""
    assert in_words(answer) == first
    assert explained(answer, Style(unicode=False)) == f"{first}\n{rest}"
    without = PairAnswer("neutral", SHARES, None, ["awake"], None)
    line = "neutral       (neutral 0.100, entailment 0.650, contradiction 0.250)"
    assert in_words(without) == f"{line}; not known to the model: 'awake'"
    assert explained(without, Style()) == f"{in_words(without)}\n"


def test_colour_shades_each_token_by_its_weight() -> None:
    text = explained(ANSWER, Style(colour=True))
    heavy, light = "\x1b[48;5;25;38;5;231m{}\x1b[0m", "\x1b[48;5;189;38;5;16m{}\x1b[0m"
    tokens = [heavy.format("a"), "\x1b[48;5;75;38;5;16mman\x1b[0m", "sleeps", light.format(".")]
    assert f"  premise      {' '.join(tokens)}\n" in text
    assert f"  hypothesis   he {heavy.format('rests')}\n" in text
    plain = ESCAPE.sub("", text)
    assert "\x1b" not in plain
    assert "  premise      a man sleeps .\n               0.60 ████████████         a\n" in plain


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("width", [40, 80])
def test_no_line_is_wider_than_the_terminal(colour: bool, width: int) -> None:
    tokens = [f"token{number}" for number in range(60)] + ["x" * 200]
    even = [1 / len(tokens)] * (len(tokens) - 1) + [0.9]
    attention = {"premise": tokens, "hypothesis": tokens, "trace": [step(1, even, even)]}
    text = explained(
        PairAnswer("entailment", SHARES, 1, [], attention), Style(colour=colour, width=width)
    )
    sentences = [line for line in text.splitlines() if "token" in line or "x" * 9 in line]
    assert len(sentences) > 4
    assert all(len(ESCAPE.sub("", line)) <= width for line in sentences)
    shown = " ".join(ESCAPE.sub("", text).split())
    assert all(token in shown for token in tokens[:-1])
    assert "x" * 200 not in shown
    assert "x…" in shown


def test_what_would_move_the_terminal_is_shown_as_it_is_written() -> None:
    attention = {**ANSWER.attention, "premise": ["\x1bc", "man", "\u202e", "\x07"]}  # type: ignore[dict-item]
    for style in (Style(), Style(colour=True)):
        shown = ESCAPE.sub("", explained(ANSWER._replace(attention=attention), style))
        assert r"\x1bc man \u202e \x07" in shown
        assert all(c.isprintable() or c == "\n" for c in shown)


class Screen(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "terminal", "colour"),
    [
        ({}, True, True),
        ({"NO_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
        ({}, False, False),
    ],
)
def test_colour_is_for_terminals_alone(
    variables: dict[str, str], terminal: bool, colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for encoding, unicode in (("utf-8", True), ("ascii", False)):
        stream = (Screen if terminal else io.TextIOWrapper)(io.BytesIO(), encoding=encoding)
        style = Style.of(stream)
        assert (style.colour, style.unicode) == (colour, unicode)
