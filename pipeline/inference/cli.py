"""Run a model over groups of pairs and write predictions as text, JSON lines or CSV.

Text shows the inference steps, too, with --explain.
"""

import csv
import io
import json
import os
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TextIO

import torch
from rich.console import Console
from rich.table import Table
from rich.text import Text
from tqdm import tqdm

from actmodels.errors import ArtifactError, DataError
from actmodels.files import replacing
from pipeline.datasets.tokens import TokenPair
from pipeline.inference.bundle import WORDS, Bundle, read_bundle
from pipeline.inference.input_pairs import InputPair
from pipeline.inference.predictor import PairError, PairPrediction, Predictor
from pipeline.parameters.labels import OUTPUT

CHUNK = 512  # pairs per update of the progress bar
Writer = Callable[[InputPair, PairPrediction], object]
TOP_TOKENS = 3  # tokens shown per sentence and step
BAR, SHORT_BAR, NARROW = 20, 8, 72  # columns of a weight of 1; short below NARROW columns
MARGIN = 15  # columns before the sentences
SENTENCES = ("premise", "hypothesis")
# minimum weight -> xterm colors of text and background
SHADES = {0.05: (16, 189), 0.15: (16, 153), 0.3: (16, 75), 0.5: (231, 25)}


def as_json(value: Any) -> str:
    """Return a value as JSON: dates of Parquet as text, NaN and infinity as null."""
    plain = json.loads(json.dumps(value, default=str), parse_constant=lambda _: None)
    return json.dumps(plain, ensure_ascii=False)


def write_predictions(
    folder: Path,
    digest: str,
    groups: Iterable[list[InputPair]],
    style: str,
    *,
    explain: bool,
    path: Path | None,
) -> None:
    """Predict pairs with the model in `folder` and write the predictions.

    Args:
        digest: of the model in best.json.
        groups: groups of pairs; a group is read as a whole before prediction.
        style: "text", "jsonl" or "csv". explain: add the inference steps.
        path: output file, written atomically; None for standard output.

    Raises:
        ArtifactError: the model is missing or corrupt, or differs from best.json.
        DataError: no pair has an answer.
    """
    torch.set_num_threads(1)  # results do not depend on the number of cores
    bundle = read_bundle(folder)
    if bundle.digest != digest:
        raise ArtifactError(
            f"{folder}: its digest is {bundle.digest[:12]}, and {digest[:12]} in best.json; "
            "run: dvc checkout, and if that changes nothing: dvc repro export"
        )
    predictor = Predictor(bundle)
    write: Writer | None = None
    refusals: list[str] = []  # one of each group; none where a closed pipe ended the block
    with open_output(path) as out:
        for rows in groups:
            first = write is None
            write = write or make_writer(style, rows, out, bundle, explain)
            refusals.append(_predict_group(rows, predictor, explain, write))
            out.flush()
            if first and style == "text":  # the other formats have the column `model`
                print(f"model: {folder.name}", file=sys.stderr)
    if refusals and all(refusals):
        raise DataError(f"no answer: {refusals[0]}; the vocabulary is {folder / WORDS}")


@contextmanager
def open_output(path: Path | None) -> Iterator[TextIO]:
    """Open standard output, or a file that is written atomically.

    A device or a pipe is written to directly. A closed pipe ends the block without an error.

    Raises:
        DataError: the output cannot be written.
    """
    name = "standard output"
    try:
        if path is None:
            if sys.stdout is None:
                raise DataError("standard output is closed; name a file: --output FILE")
            if isinstance(sys.stdout, io.TextIOWrapper):
                sys.stdout.reconfigure(errors="backslashreplace")
            yield sys.stdout
        else:
            path = path.resolve()  # keep symbolic links
            name = f"--output: {path}"
            special = path.exists() and not path.is_file()
            with (
                nullcontext(path) if special else replacing(path) as target,
                target.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file,
            ):
                yield file
    except OSError as error:
        if path is None:  # discard buffered output, including at interpreter exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise DataError(f"{name} cannot be written: {error.strerror}") from error


def _predict_group(
    rows: list[InputPair], predictor: Predictor, explain: bool, write: Writer
) -> str:
    """Write the predictions of a group; return the first refusal if none of them is an answer."""
    unknown: list[str] = []  # the first of each pair
    refusals: list[str] = []
    labels, unreliable, right = Counter[str](), 0, 0
    few = len(rows) <= CHUNK  # disable=None hides the bar unless stderr is a terminal
    with tqdm(total=len(rows), desc="predict", unit=" pairs", disable=few or None) as progress:
        for start in range(0, len(rows), CHUNK):
            chunk = rows[start : start + CHUNK]
            for row, prediction in zip(chunk, _predictions(chunk, predictor, explain), strict=True):
                write(row, prediction)
                if row.label is not None:
                    labels[row.label] += 1
                    right += row.label == prediction.predicted
                unknown += prediction.unknown_words[:1]
                if prediction.refusal:
                    refusals.append(f"{row.where}: {prediction.refusal}")
                elif not prediction.reliable:
                    unreliable += 1
            progress.update(len(chunk))
    if len(rows) > 1:  # the prediction of a single pair lists its unknown words
        if unknown:
            have = "has" if len(unknown) == 1 else "have"
            print(
                f"{len(unknown)} of {len(rows)} pairs {have} words outside the model's vocabulary; "
                f"the first: {unknown[0]!r}; unreliable answers: {unreliable}",
                file=sys.stderr,
            )
        if refusals:
            print(f"refused: {len(refusals)} of {len(rows)} pairs; {refusals[0]}", file=sys.stderr)
    _print_accuracy(labels, right, len(rows), predictor.bundle.classes)
    return refusals[0] if len(refusals) == len(rows) else ""


def _predictions(
    rows: Sequence[InputPair], predictor: Predictor, explain: bool
) -> list[PairPrediction]:
    """Return the prediction of each row, a refusal for one that the model cannot read."""
    answers: dict[int, PairPrediction] = {}
    pairs: dict[int, TokenPair] = {}
    for number, row in enumerate(rows):
        try:
            if row.refusal:
                raise PairError(row.refusal)
            pairs[number] = predictor.tokenize(row.premise, row.hypothesis)
        except PairError as error:
            answers[number] = predictor.refused(str(error))
    answers |= zip(pairs, predictor.predict([*pairs.values()], attention=explain), strict=True)
    return [answers[number] for number in range(len(rows))]


def _print_accuracy(labels: Counter[str], right: int, rows: int, classes: Sequence[str]) -> None:
    """Print the accuracy over all labeled pairs; those with an unknown label count as wrong."""
    if not (total := labels.total()):
        return
    pairs = f"labeled of {rows} pairs" if total < rows else "labeled pairs"
    text = f"accuracy: {100 * right / total:.1f} % (n = {total} {pairs}"
    if unknown := Counter({name: n for name, n in labels.items() if name not in classes}):
        listed = ", ".join(f"{name!r} ({n})" for name, n in unknown.most_common(5))
        text += f"; unknown labels count as wrong: {listed}"
        if known := total - unknown.total():
            text += f"; without them {right} of {known} are right"
        text += f"); name the class of a label: --label {shlex.quote(next(iter(unknown)))}=CLASS"
    else:
        text += ")"
    print(text, file=sys.stderr)


def _prefix(row: InputPair) -> str:
    return f"{escape_controls(row.name)}: " if row.name else ""


def make_writer(
    style: str, rows: Sequence[InputPair], out: TextIO, bundle: Bundle, explain: bool
) -> Writer:
    """Return the function that writes a pair and its prediction.

    Args:
        rows: pairs to write; their fields determine the columns of a table.
        bundle: the model.

    Raises:
        DataError: a field of a pair has the name of an added field.
    """
    if style == "text":
        console = Console(file=out)
        render = (lambda result: explain_steps(result, console)) if explain else summarize
        return lambda row, prediction: out.write(f"{_prefix(row)}{render(prediction)}\n")
    model, added = bundle.config.model, (*OUTPUT[:2], *bundle.classes, *OUTPUT[2:])
    for row in rows:
        for field in row.fields:
            if field in added:
                raise DataError(f"{row.where}: {field!r} is a field of the output; rename it")

    def fields(row: InputPair, prediction: PairPrediction) -> dict[str, Any]:
        attention = {} if prediction.attention is None else {"attention": prediction.attention}
        return {**row.fields, "model": model, **prediction.row(), **attention}

    if style == "jsonl":
        return lambda row, prediction: out.write(as_json(fields(row, prediction)) + "\n")
    names = dict.fromkeys(field for row in rows for field in row.fields)
    columns = [*names, *added[:-1]]  # a table has no attention
    table = csv.DictWriter(out, columns, extrasaction="ignore", restval="", lineterminator="\n")
    table.writeheader()
    return lambda row, prediction: table.writerow(
        {
            # nested values and booleans are written as JSON
            name: as_json(value) if isinstance(value, dict | list | bool) else value
            for name, value in fields(row, prediction).items()
        }
    )


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
