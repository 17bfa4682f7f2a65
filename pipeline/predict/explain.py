"""An answer in words and step by step; rich draws it for the abilities of a stream."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.inference.answer import PairAnswer

MOST = 3  # tokens that are named for each sentence and step
BAR, SHORT_BAR, NARROW = 20, 8, 72  # columns of a weight of 1, short on a narrow terminal
MARGIN = 15  # columns in front of the sentences
SENTENCES = ("premise", "hypothesis")
# from a weight on: xterm's colors
SHADES = {0.05: "16 189", 0.15: "16 153", 0.3: "16 75", 0.5: "231 25"}


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


def shaded(tokens: Sequence[str], weights: Sequence[float]) -> Text:
    """Return tokens on backgrounds for their weights."""
    text = Text(overflow="ellipsis")
    for token, weight in zip(tokens, weights, strict=True):
        shade = [colors.split() for least, colors in SHADES.items() if weight >= least]
        style = f"color({shade[-1][0]}) on color({shade[-1][1]})" if shade else ""
        text.append(printable(token), style).append(" ")
    text.rstrip()
    return text


def printable(token: str) -> str:
    """Escape control characters."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in token)


def most(weights: Sequence[float], tokens: Sequence[str]) -> list[tuple[float, str]]:
    """Return the tokens with most attention, the first of equals."""
    return sorted(zip(weights, tokens, strict=True), key=lambda pair: -pair[0])[:MOST]


def explained(answer: PairAnswer, console: Console) -> str:
    """Return an answer with its steps, over many lines."""
    grid = Table.grid()
    grid.add_column(width=MARGIN)
    grid.add_column()
    seen = answer.attention or {"trace": []}
    for part in SENTENCES if answer.attention else ():
        grid.add_row(f"  {part}", shaded(seen[part], [0.0] * len(seen[part])))
    columns = BAR if console.width >= NARROW else SHORT_BAR
    full = "█" if console.encoding.startswith("utf") else "#"
    for step in seen["trace"]:
        halting = f"halting {step['halting_probability']:.3f}, weight {step['weight']:.3f}"
        grid.add_row()
        grid.add_row(Text(f"  step {step['step']}", "bold"), halting)
        alone = f"{step['class']} ({probabilities(step['class_probabilities'])})"
        grid.add_row("  alone", alone)
        for part in SENTENCES:
            weights, name = step[f"{part}_attention"], f"  {part}"
            if console.color_system and not console.no_color:
                grid.add_row(name, shaded(seen[part], weights))
                name = ""
            for weight, token in most(weights, seen[part]):
                line = (
                    f"{weight:.2f} {full * round(weight * columns):<{columns}} {printable(token)}"
                )
                grid.add_row(name, Text(line, no_wrap=True, overflow="ellipsis"))
                name = ""
    with console.capture() as drawn:
        console.print(Text(in_words(answer), "bold"), soft_wrap=True)
        console.print(grid)
    return drawn.get()
