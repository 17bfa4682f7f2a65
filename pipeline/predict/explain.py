"""An answer in words and step by step, drawn for the abilities of a stream."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from pipeline.answering.answer import PairAnswer

MOST = 3  # tokens that are named for each sentence and step
BAR, SHORT_BAR = 20, 8  # columns of a weight of 1, where there is room and where not
MARGIN = 13  # columns in front of the sentences
SENTENCES = ("premise", "hypothesis")
WIDTH = 80  # columns where none are known
# From a share on: background and text colour, of xterm's 256
SHADES = ((0.05, 189, 16), (0.15, 153, 16), (0.3, 75, 16), (0.5, 25, 231))


@dataclass(frozen=True)
class Style:
    """How to draw.

    colour: with terminal escapes. unicode: with block characters.
    """

    colour: bool = False
    unicode: bool = True
    width: int = WIDTH

    @classmethod
    def of(cls, stream: TextIO) -> "Style":
        """Return the style of a stream; NO_COLOR turns colour off (no-color.org)."""
        terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        try:
            "█…".encode(stream.encoding or "ascii")
            unicode = True
        except UnicodeEncodeError:
            unicode = False
        width = shutil.get_terminal_size((WIDTH, 24)).columns if terminal else WIDTH
        return cls(terminal and not os.environ.get("NO_COLOR"), unicode, max(width, 40))

    def bar(self, share: float, columns: int) -> str:
        """Return a bar that is full at 1."""
        return ("█" if self.unicode else "#") * round(share * columns)

    def cut(self, text: str, columns: int) -> str:
        """Return the text cut to its columns, with control characters escaped."""
        text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
        end = "…" if self.unicode else "..."
        return text if len(text) <= columns else text[: columns - len(end)] + end

    def shaded(self, text: str, weight: float) -> str:
        """Return a token on a background for its weight."""
        chosen = [(back, fore) for least, back, fore in SHADES if weight >= least]
        if not (self.colour and chosen):
            return text
        back, fore = chosen[-1]
        return f"\x1b[48;5;{back};38;5;{fore}m{text}\x1b[0m"

    def bold(self, text: str) -> str:
        """Return the text in bold."""
        return f"\x1b[1m{text}\x1b[0m" if self.colour else text

    def wrapped(self, tokens: Sequence[str], weights: Sequence[float], indent: int) -> str:
        """Return shaded tokens, wrapped into lines behind `indent` columns."""
        lines: list[list[str]] = [[]]
        used, room = 0, self.width - indent
        for token, weight in zip(tokens, weights, strict=True):
            short = self.cut(token, room)
            if lines[-1] and used + 1 + len(short) > room:
                lines.append([])
                used = 0
            used += len(short) + bool(lines[-1])
            lines[-1].append(self.shaded(short, weight))
        return ("\n" + " " * indent).join(" ".join(line) for line in lines)


def in_words(answer: PairAnswer) -> str:
    """Return an answer in a line."""
    line = f"{answer.predicted:<13} ({probabilities(answer.probabilities)})"
    if answer.steps is not None:
        line += f", {answer.steps} step{'s' * (answer.steps != 1)}"
    if answer.unknown_words:
        line += f"; not known to the model: {', '.join(map(repr, answer.unknown_words))}"
    return line


def probabilities(shares: dict[str, float]) -> str:
    """Return labels with their probabilities."""
    return ", ".join(f"{label} {share:.3f}" for label, share in shares.items())


def explained(answer: PairAnswer, style: Style) -> str:
    """Return an answer with its steps, over many lines."""
    lines, attention = [style.bold(in_words(answer))], answer.attention
    if attention is not None:
        for part in SENTENCES:
            tokens = attention[part]
            plain = style.wrapped(tokens, [0.0] * len(tokens), MARGIN + 2)
            lines.append(f"  {part:<{MARGIN}}{plain}")
        for step in attention["trace"]:
            lines += ["", *_step(step, attention, style)]
    return "\n".join(lines) + "\n"


def _step(step: dict[str, Any], sentences: dict[str, Any], style: Style) -> list[str]:
    halting = f"halting {step['halting_probability']:.3f}, weight {step['weight']:.3f}"
    lines = [
        f"  {style.bold('step ' + str(step['step']))}: {halting}",
        f"  {'alone':<{MARGIN}}{step['class']} ({probabilities(step['class_probabilities'])})",
    ]
    columns = BAR if style.width >= 72 else SHORT_BAR
    room = style.width - MARGIN - columns - 8  # for the token at the end
    for part in SENTENCES:
        tokens, weights = sentences[part], step[f"{part}_attention"]
        if style.colour:
            lines.append(f"  {part:<{MARGIN}}{style.wrapped(tokens, weights, MARGIN + 2)}")
        most = sorted(zip(tokens, weights, strict=True), key=lambda pair: -pair[1])[:MOST]
        for number, (token, weight) in enumerate(most):
            name = part if number == 0 and not style.colour else ""
            bar = f"{style.bar(weight, columns):<{columns}}"
            lines.append(f"  {name:<{MARGIN}}{weight:.2f} {bar} {style.cut(token, room)}")
    return lines
