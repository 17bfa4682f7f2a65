"""A pair step by step, for a terminal: what is looked at, what is answered, when it halts."""

from typing import Any

from pipeline.answering.answer import Answer
from pipeline.predict.style import Style

MOST = 3  # tokens that are named for each sentence and step
BAR, SHORT_BAR = 20, 8  # columns of a weight of 1, where there is room and where not
MARGIN = 13  # columns in front of the sentences
SENTENCES = ("premise", "hypothesis")
NO_STEPS = "This model takes no inference steps: there are none to show."


def in_words(answer: Answer) -> str:
    """An answer in a line."""
    line = f"{answer.predicted:<13} ({probabilities(answer.probabilities)})"
    if answer.steps is not None:
        line += f", {answer.steps} step{'s' * (answer.steps != 1)}"
    if answer.unknown_words:
        line += f"; not known to the model: {', '.join(map(repr, answer.unknown_words))}"
    return line


def probabilities(shares: dict[str, float]) -> str:
    """Labels with their probabilities."""
    return ", ".join(f"{label} {share:.3f}" for label, share in shares.items())


def explained(answer: Answer, style: Style) -> str:
    """An answer with its steps, over many lines; `answer` was asked for with attention."""
    if answer.attention is None:
        return f"{style.bold(in_words(answer))}\n  {NO_STEPS}\n"
    lines = [style.bold(in_words(answer))]
    for part in SENTENCES:
        tokens = answer.attention[part]
        plain = style.wrapped(tokens, [0.0] * len(tokens), MARGIN + 2)
        lines.append(f"  {part:<{MARGIN}}{plain}")
    for step in answer.attention["trace"]:
        lines += ["", *_step(step, answer.attention, style)]
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
