"""What a stream can show: colour, signs beyond ASCII, and how many columns."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TextIO

WIDTH = 80  # columns where none are known
# Backgrounds of xterm's 256 colours, from light to deep blue, each with a text colour that is
# read on it; below the first share there is none.
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
        """That of a stream: coloured on a terminal, unless NO_COLOR is set (no-color.org)."""
        terminal = stream.isatty() and os.environ.get("TERM") != "dumb"
        try:
            "█…".encode(stream.encoding or "ascii")
            unicode = True
        except UnicodeEncodeError:
            unicode = False
        width = shutil.get_terminal_size((WIDTH, 24)).columns if terminal else WIDTH
        return cls(terminal and not os.environ.get("NO_COLOR"), unicode, max(width, 40))

    def bar(self, share: float, columns: int) -> str:
        """A bar that is full at 1."""
        return ("█" if self.unicode else "#") * round(share * columns)

    def cut(self, text: str, columns: int) -> str:
        """The text, its end left out where it is too long."""
        end = "…" if self.unicode else "..."
        return text if len(text) <= columns else text[: columns - len(end)] + end

    def shaded(self, text: str, weight: float) -> str:
        """A token on a background that is the deeper the more it weighs."""
        chosen = [(back, fore) for least, back, fore in SHADES if weight >= least]
        if not (self.colour and chosen):
            return text
        back, fore = chosen[-1]
        return f"\x1b[48;5;{back};38;5;{fore}m{text}\x1b[0m"

    def bold(self, text: str) -> str:
        """A text that stands out."""
        return f"\x1b[1m{text}\x1b[0m" if self.colour else text

    def wrapped(self, tokens: Sequence[str], weights: Sequence[float], indent: int) -> str:
        """Tokens between blanks, shaded, over as many lines as they take behind `indent`."""
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
