"""Render a prediction and its inference steps as text with rich."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.inference.predictor import PairPrediction

TOP_TOKENS = 3  # tokens shown per sentence and step
BAR, SHORT_BAR, NARROW = 20, 8, 72  # columns of a weight of 1; short below NARROW columns
MARGIN = 15  # columns before the sentences
SENTENCES = ("premise", "hypothesis")
# minimum weight -> xterm colors of text and background
SHADES = {0.05: (16, 189), 0.15: (16, 153), 0.3: (16, 75), 0.5: (231, 25)}


def summarize(prediction: PairPrediction) -> str:
    """Return a prediction on one line."""
    line = f"unknown: {prediction.refusal}"
    if prediction.refusal is None:
        line = f"{prediction.predicted:<13} ({format_probabilities(prediction.probabilities)})"
    if prediction.steps is not None:
        line += f", {prediction.steps} step{'s' * (prediction.steps != 1)}"
    if prediction.unknown_words:
        unreliable = "" if prediction.reliable or prediction.refusal else "unreliable, "
        line += f"; {unreliable}unknown words: {', '.join(map(repr, prediction.unknown_words))}"
    return line


def format_probabilities(probabilities: Mapping[str, float | None]) -> str:
    """Return labels with their probabilities."""
    return ", ".join(f"{label} {value:.3f}" for label, value in probabilities.items())


def shade(tokens: Sequence[str], weights: Sequence[float]) -> Text:
    """Return tokens with background colors for their weights."""
    text = Text(overflow="ellipsis")
    for token, weight in zip(tokens, weights, strict=True):
        styles = [
            f"color({a}) on color({b})" for least, (a, b) in SHADES.items() if weight >= least
        ]
        text.append(escape_controls(token), styles[-1] if styles else "").append(" ")
    text.rstrip()
    return text


def escape_controls(token: str) -> str:
    """Escape control characters."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in token)


def explain_steps(prediction: PairPrediction, console: Console) -> str:
    """Return a prediction on several lines, with its inference steps or the words that attend."""
    grid = Table.grid()
    grid.add_column(width=MARGIN)
    grid.add_column()
    attention = prediction.attention or {"trace": []}
    for part in SENTENCES if prediction.attention else ():
        grid.add_row(f"  {part}", shade(attention[part], [0.0] * len(attention[part])))
    columns = BAR if console.width >= NARROW else SHORT_BAR
    full = "█" if console.encoding.startswith("utf") else "#"
    by_word = prediction.steps is None
    for step in attention["trace"]:
        grid.add_row()
        if by_word:  # all the weight over the hypothesis is the word's own
            word = max(zip(step["hypothesis_attention"], attention["hypothesis"], strict=True))[1]
            grid.add_row(Text("  word", "bold"), Text(escape_controls(word)))
        else:
            halting = f"halting {step['halting_probability']:.3f}, weight {step['weight']:.3f}"
            grid.add_row(Text(f"  step {step['step']}", "bold"), halting)
        probabilities = format_probabilities(step["class_probabilities"])
        grid.add_row("  alone", f"{step['class']} ({probabilities})")
        for part in SENTENCES[:1] if by_word else SENTENCES:
            weights, lines = step[f"{part}_attention"], []
            if console.color_system and not console.no_color:
                lines.append(shade(attention[part], weights))
            ranked = sorted(zip(weights, attention[part], strict=True), key=lambda pair: -pair[0])
            for weight, token in ranked[:TOP_TOKENS]:
                bar = f"{full * round(weight * columns):<{columns}}"
                line = f"{weight:.2f} {bar} {escape_controls(token)}"
                lines.append(Text(line, no_wrap=True, overflow="ellipsis"))
            for number, row in enumerate(lines):
                grid.add_row("" if number else f"  {part}", row)
    with console.capture() as capture:
        console.print(Text(summarize(prediction), "bold"), soft_wrap=True)
        console.print(grid)
    return capture.get()
