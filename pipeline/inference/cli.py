"""From groups of pairs to answers, as text, JSON lines or CSV."""

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
from pipeline.inference.answer import Answerer, PairAnswer, PairError
from pipeline.inference.bundle import read_bundle
from pipeline.inference.read import InputPair
from pipeline.predict.explain import explained, in_words

CHUNK = 512  # pairs between two steps of the progress bar
ADDED = ("model", "predicted", *LABELS, "steps", "unknown_words", "attention")
Writer = Callable[[InputPair, PairAnswer], object]


def ask(
    folder: Path,
    stored: dict[str, Any],
    groups: Iterable[list[InputPair]],
    style: str,
    *,
    explain: bool,
    path: Path | None,
) -> None:
    """Write the answers of the model in `folder`.

    Args:
        stored: the model's entry in best.json.
        groups: pairs; each group is checked before any of it is answered.
        style: "text", "jsonl" or "csv". explain: write the steps too.
        path: a file that appears whole; None is standard output.

    Raises:
        ArtifactError: the model is missing, damaged or another one.
        DataError: a pair cannot be asked about.
    """
    torch.set_num_threads(1)  # the same bits whatever the machine's number of cores
    bundle = read_bundle(folder)
    expected = (folder.name, stored)
    if (bundle.config.model, {**stored, **bundle.origin, "digest": bundle.digest}) != expected:
        raise ArtifactError(
            f"{folder}: holds {bundle.config.model} with the digest {bundle.digest[:12]}; expected "
            f"{folder.name} with the digest {str(stored.get('digest'))[:12]} of best.json; "
            "run: dvc checkout, and if that changes nothing: dvc repro export"
        )
    answerer = Answerer(bundle)
    write: Writer | None = None
    with output(path) as out:
        for rows in groups:
            pairs = _checked(rows, answerer)
            first, write = write is None, write or writer(style, rows, out, folder.name, explain)
            _answer(rows, pairs, answerer, explain, write)
            out.flush()
            if first and style == "text":  # the other formats have a field
                print(f"answered by {folder.name}", file=sys.stderr)


@contextmanager
def output(path: Path | None) -> Iterator[TextIO]:
    """Open standard output, or a file that appears whole; a device or a pipe is not replaced.

    The block ends early and quietly where nobody reads the other end of a pipe.

    Raises:
        DataError: it cannot be written.
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
            path = path.resolve()  # a link stays one
            name = f"--output: {path}"
            special = path.exists() and not path.is_file()
            with (
                nullcontext(path) if special else replacing(path) as target,
                target.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file,
            ):
                yield file
    except OSError as error:
        if path is None:  # discard the rest, also at the exit of Python
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise DataError(f"{name} cannot be written: {error.strerror}") from error


def _checked(rows: list[InputPair], answerer: Answerer) -> list[TokenPair]:
    pairs = []
    for row in rows:
        try:
            pairs.append(answerer.read(*(row.fields[key] for key in row.keys)))
        except PairError as error:
            raise DataError(f"{row.where}: {error}") from error
    return pairs


def _answer(
    rows: list[InputPair], pairs: list[TokenPair], answerer: Answerer, explain: bool, write: Writer
) -> None:
    unknown: list[list[str]] = []
    few = len(rows) <= CHUNK or not sys.stderr.isatty()
    with tqdm(total=len(rows), desc="predict", unit=" pairs", disable=few) as progress:
        for first in range(0, len(rows), CHUNK):
            chunk = slice(first, first + CHUNK)
            answers = answerer.answers(pairs[chunk], attention=explain)
            for row, answer in zip(rows[chunk], answers, strict=True):
                write(row, answer)
            unknown += [answer.unknown_words for answer in answers if answer.unknown_words]
            progress.update(len(answers))
    if unknown and len(rows) > 1:  # of a pair by itself the answer says all
        have = "has" if len(unknown) == 1 else "have"
        print(
            f"{len(unknown)} of {len(rows)} pairs {have} words that the model does not know; "
            f"the first: {unknown[0][0]!r}",
            file=sys.stderr,
        )


def writer(style: str, rows: Sequence[InputPair], out: TextIO, model: str, explain: bool) -> Writer:
    """Return the function that writes a pair and its answer in a format.

    Args:
        rows: the pairs to come; those of a table decide on its columns.
        model: the name of the model that answers.

    Raises:
        DataError: a pair has a field with the name of one that the answer adds.
    """
    if style == "text":
        console = Console(file=out)
        shown = (lambda answer: explained(answer, console)) if explain else in_words
        return lambda _, answer: out.write(shown(answer) + "\n")
    for row in rows:
        for field in row.fields:
            if field in ADDED:
                raise DataError(
                    f"{row.where}: {field!r} is what the answer would be called; rename it"
                )

    def fields(row: InputPair, answer: PairAnswer) -> dict[str, Any]:
        attention = {} if answer.attention is None else {"attention": answer.attention}
        return {**row.fields, "model": model, **answer.row(), **attention}

    if style == "jsonl":
        return lambda row, answer: out.write(as_json(fields(row, answer)) + "\n")
    columns = [*dict.fromkeys(field for row in rows for field in row.fields), *ADDED[:-1]]
    table = csv.DictWriter(out, columns, extrasaction="ignore", restval="", lineterminator="\n")
    table.writeheader()
    return lambda row, answer: table.writerow(
        {
            # what JSON nests stays JSON in a table
            name: as_json(value) if isinstance(value, dict | list) else value
            for name, value in fields(row, answer).items()
        }
    )


def as_json(value: Any) -> str:
    """Return JSON in a line."""
    return json.dumps(value, ensure_ascii=False)
