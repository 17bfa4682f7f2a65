"""Run a model over groups of pairs and write predictions as text, JSON lines or CSV."""

import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TextIO

import torch
from rich.console import Console
from tqdm import tqdm

from actmodels.configs import LABELS
from actmodels.errors import ArtifactError, DataError
from actmodels.files import replacing
from pipeline.datasets.tokens import TokenPair
from pipeline.inference.bundle import WORDS, read_bundle
from pipeline.inference.explain import escape_controls, explain_steps, summarize
from pipeline.inference.input_pairs import InputPair
from pipeline.inference.predictor import PairError, PairPrediction, Predictor

CHUNK = 512  # pairs per update of the progress bar
ADDED = ("model", "predicted", *LABELS, "steps", "unknown_words", "reliable", "refusal")
Writer = Callable[[InputPair, PairPrediction], object]


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
        groups: groups of pairs; a group is validated as a whole before prediction.
        style: "text", "jsonl" or "csv". explain: add the inference steps.
        path: output file, written atomically; None for standard output.

    Raises:
        ArtifactError: the model is missing or corrupt, or differs from best.json.
        DataError: a pair is invalid, or no pair has an answer.
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
    answered: list[bool] = []  # of each group; a closed pipe ends the block before
    with open_output(path) as out:
        for rows in groups:
            pairs = [_tokenize(row, predictor) for row in rows]
            first = write is None
            write = write or make_writer(style, rows, out, folder.name, explain)
            answered.append(_predict_group(rows, pairs, predictor, explain, write))
            out.flush()
            if first and style == "text":  # the other formats have the column `model`
                print(f"model: {folder.name}", file=sys.stderr)
    if answered and not any(answered):
        words = f"the vocabulary is {folder / WORDS}"
        raise DataError(f"no answer: each pair has a sentence without a known word; {words}")


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


def _tokenize(row: InputPair, predictor: Predictor) -> TokenPair:
    try:
        return predictor.tokenize(row.premise, row.hypothesis)
    except PairError as error:
        raise DataError(f"{row.where}: {error}") from error


def _predict_group(
    rows: list[InputPair],
    pairs: list[TokenPair],
    predictor: Predictor,
    explain: bool,
    write: Writer,
) -> bool:
    """Write the predictions of a group; return whether one of them is an answer."""
    unknown: list[str] = []  # the first of each pair
    unreliable = refused = labeled = right = 0
    few = len(rows) <= CHUNK  # disable=None hides the bar unless stderr is a terminal
    with tqdm(total=len(rows), desc="predict", unit=" pairs", disable=few or None) as progress:
        for start in range(0, len(rows), CHUNK):
            chunk = slice(start, start + CHUNK)
            predictions = predictor.predict(pairs[chunk], attention=explain)
            for row, prediction in zip(rows[chunk], predictions, strict=True):
                write(row, prediction)
                labeled += row.label is not None
                right += row.label is not None and row.label == prediction.predicted
            unknown += [p.unknown_words[0] for p in predictions if p.unknown_words]
            refused += sum(p.refusal is not None for p in predictions)
            unreliable += sum(p.refusal is None and not p.reliable for p in predictions)
            progress.update(len(predictions))
    if unknown and len(rows) > 1:  # the prediction of a single pair lists its unknown words
        have = "has" if len(unknown) == 1 else "have"
        print(
            f"{len(unknown)} of {len(rows)} pairs {have} words outside the model's vocabulary; "
            f"the first: {unknown[0]!r}; unreliable answers: {unreliable}; refused: {refused}",
            file=sys.stderr,
        )
    if labeled and len(rows) > 1:
        print(
            f"accuracy: {100 * right / labeled:.1f} % (n = {labeled} labeled pairs)",
            file=sys.stderr,
        )
    return refused < len(rows)


def _prefix(row: InputPair) -> str:
    return f"{escape_controls(row.name)}: " if row.name else ""


def make_writer(
    style: str, rows: Sequence[InputPair], out: TextIO, model: str, explain: bool
) -> Writer:
    """Return the function that writes a pair and its prediction.

    Args:
        rows: pairs to write; their fields determine the columns of a table.
        model: name of the model.

    Raises:
        DataError: a field of a pair has the name of an added field.
    """
    if style == "text":
        console = Console(file=out)
        render = (lambda result: explain_steps(result, console)) if explain else summarize
        return lambda row, prediction: out.write(f"{_prefix(row)}{render(prediction)}\n")
    for row in rows:
        for field in row.fields:
            if field in (*ADDED, "attention"):
                raise DataError(f"{row.where}: {field!r} is a field of the output; rename it")

    def fields(row: InputPair, prediction: PairPrediction) -> dict[str, Any]:
        attention = {} if prediction.attention is None else {"attention": prediction.attention}
        return {**row.fields, "model": model, **prediction.row(), **attention}

    if style == "jsonl":
        return lambda row, prediction: out.write(as_json(fields(row, prediction)) + "\n")
    columns = [*dict.fromkeys(field for row in rows for field in row.fields), *ADDED]
    table = csv.DictWriter(out, columns, extrasaction="ignore", restval="", lineterminator="\n")
    table.writeheader()
    return lambda row, prediction: table.writerow(
        {
            # nested values and booleans are written as JSON
            name: as_json(value) if isinstance(value, dict | list | bool) else value
            for name, value in fields(row, prediction).items()
        }
    )
