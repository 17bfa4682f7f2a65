"""Load word vectors in GloVe's text format, from a text file or an archive, or draw or train them.

A line of GloVe's format is `word number number ...`, with blanks or tabs in between. Some words
contain blanks, so numbers are counted from the right. The 840B file has 2.2 million lines; those of
unwanted words are skipped by one search.

A random vector depends only on the seed and the word, so a larger vocabulary keeps the vectors of a
smaller one. Its bits come from a hash: the generator of torch keeps 32 bits of a seed, so with
40,000 words the probability of two equal vectors would be one in six.
"""

import codecs
import csv
import hashlib
import io
import math
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from tqdm import tqdm

from actmodels.errors import DataError
from actmodels.files import file_digest
from pipeline.datasets.archive import columnar_format, member_lines, named, other_format
from pipeline.datasets.download import fetch
from pipeline.datasets.tokenizer import is_character
from pipeline.parameters.schema import Vectors

Array = NDArray[np.float32]
CHUNK_BYTES = 1 << 23  # of lines that are parsed together
TEXT_LINES = 100  # checked whether they are text
FASTTEXT = b"\xba\x16\x4f\x2f"  # the first bytes of its binary format
JSON = re.compile(rb'\s*(\{\s*"|\[\s*[\["{])')
CONCEPTNET = re.compile(rb"/c/[a-z]{2,3}/")
HEADER = re.compile(rb"(\d+)\s+(\d+)(\s+[a-z]+\d*)?\s*")  # words, dimensions, type of numbers
FORMAT: dict[str, Any] = {"sep": " ", "header": None, "quoting": csv.QUOTE_NONE, "na_filter": False}
FORMAT |= {"lineterminator": "\n", "skip_blank_lines": False}
START, SEPARATOR = re.compile(rb"[^ \t]*"), re.compile(rb"[ \t]+")


def look_up(
    words: list[str], settings: Vectors, sentences: Iterable[Sequence[str]] = ()
) -> tuple[Tensor, Tensor, str | None]:
    """Return vectors, float32 [words, dimensions]; whether each is defined, bool [words]; and the
    SHA-256 of their file, if there is one.

    sentences: of words, read by `source: text` alone.
    """
    random, glove = settings.random, settings.glove
    if settings.source == "random":
        vectors = draw_vectors(words, settings.dimensions, random.seed, random.std)
        return vectors, torch.ones(len(words)).bool(), None
    if settings.source == "text":
        from pipeline.datasets.text_vectors import train_vectors  # SciPy's solvers take a second

        shape = (settings.dimensions, settings.text.window)
        return *train_vectors(words, sentences, *shape, random.std), None
    archive = fetch(glove, "vectors.glove")
    vectors, found = read_vectors(archive, glove.member, words, settings.dimensions)
    total = vectors.norm(dim=1).sum()
    if not total or not total.isfinite():
        advice = "; some words are single characters, as of Chinese; take vectors of characters"
        raise DataError(
            f"{named(archive, glove.member)}: no vector of any of the {len(words)} words, or only "
            "zeros, or infinite lengths; expected vectors of the corpus' language in UTF-8"
            + advice
            * any(map(is_character, words))
        )
    found &= vectors.any(dim=1)  # zeros say nothing about a word
    return vectors, found, glove.sha256 or file_digest(archive)


def read_vectors(
    archive: Path, member: str | None, words: Sequence[str], dimensions: int
) -> tuple[Tensor, Tensor]:
    """Read the vectors of distinct words, written in NFC or NFD; the first line of a word counts.

    A header `words dimensions`, or with a type of numbers, is checked; a note names a file with
    fewer words.

    Returns:
        vectors, float32 [words, dimensions], zeros if not found; and found, bool [words].

    Raises:
        DataError: the archive is corrupt or binary, or the first line or the line of a wanted word
            has another number of columns or a value that is not finite.
    """
    vectors = np.zeros((len(words), dimensions), np.float32)
    found = np.zeros(len(words), bool)
    rows = {unicodedata.normalize("NFD", word).encode(): row for row, word in enumerate(words)}
    rows |= {word.encode(): row for row, word in enumerate(words)}
    # a word with spaces is recognized by its part before the first space
    starts = {word.partition(b" ")[0] for word in rows}
    source, promised, number = named(archive, member), 0, 0
    chunk: dict[int, bytes] = {}  # lines by number
    size, start = 0, START.match
    for number, line in member_lines(archive, member, "vectors.glove", "vectors"):
        if number <= TEXT_LINES:
            where = f"{source}, line {number}"
            _check_text(line, number, where)
            if number == 1:
                line = line.removeprefix(codecs.BOM_UTF8)
                if promised := _header(line, dimensions, where):
                    continue
                _columns(line, dimensions, where)
        if start(line)[0] in starts:  # type: ignore[index]
            chunk[number] = line
            if (size := size + len(line)) > CHUNK_BYTES:
                _store(source, chunk, rows, vectors, found)
                chunk, size = {}, 0
    if chunk:
        _store(source, chunk, rows, vectors, found)
    if promised >= (lines := max(number, 1)):
        problem = f"its header promises {promised:,} words, and {lines - 1:,} came"
        tqdm.write(f"warning: {source}: {problem}; the file may be cut short", file=sys.stderr)
    return torch.from_numpy(vectors), torch.from_numpy(found)


def _store(
    source: str,
    chunk: dict[int, bytes],
    rows: dict[bytes, int],
    vectors: Array,
    found: NDArray[np.bool_],
) -> None:
    """Store the vectors of lines, by number, whose words have none yet."""
    split = [line.rstrip().partition(b" ") for line in chunk.values()]
    columns = [(word, numbers) for word, _, numbers in split]
    places: list[str] = []
    values = _parse([numbers for _, numbers in columns], vectors.shape[1])
    if values is None:  # tabs, words with spaces, or errors
        places = [f"{source}, line {number}" for number in chunk]
        both = zip(chunk.values(), places, strict=True)
        columns = [_columns(line, vectors.shape[1], where) for line, where in both]
    lines: dict[int, int] = {}  # first line by row
    for number, (word, _) in enumerate(columns):
        if (row := rows.get(word)) is not None and not found[row]:
            lines.setdefault(row, number)
    chosen = [*lines.values()]
    if not chosen:
        return
    if values is None:
        values = _parse_checked([(places[n], columns[n][1]) for n in chosen])
    elif len(chosen) < len(columns):
        values = values[chosen]
    vectors[[*lines]], found[[*lines]] = values, True


def _parse(lines: Sequence[bytes], dimensions: int) -> Array | None:
    """Return the numbers [lines, dimensions]; None if any is missing, or not finite."""
    import pandas as pd  # half a second, which random vectors do not need

    text = b"\n".join(lines)
    if not text.isascii():  # pandas skips a byte order mark
        return None
    try:
        with np.errstate(over="ignore"):
            table = pd.read_csv(io.BytesIO(text), dtype=np.float32, **FORMAT).to_numpy()
            # pandas takes columns of True and False for numbers
            same = np.array_equal(table[0], np.array(lines[0].split(b" "), np.float32))
    except ValueError:
        return None
    shape = (len(lines), dimensions)
    return table if same and table.shape == shape and np.isfinite(table).all() else None


def _parse_checked(lines: Sequence[tuple[str, bytes]]) -> Array:
    """Return the numbers [lines, dimensions]; DataError names the first that is not finite."""
    texts = [numbers for _, numbers in lines]
    if (values := _parse(texts, texts[0].count(b" ") + 1)) is not None:
        return values
    parsed = [[_number(text) for text in numbers.split(b" ")] for numbers in texts]  # slower
    with np.errstate(over="ignore"):
        values = np.array(parsed, np.float32)
    for row, column in np.argwhere(~np.isfinite(values))[:1]:
        shown = texts[row].split(b" ")[column][:40].decode(errors="replace")
        raise DataError(f"{lines[row][0]}: {shown!r} is not a finite number in single precision")
    return values


def _check_text(line: bytes, number: int, where: str) -> None:
    """Raise DataError for one of the first lines of a file that is not words in UTF-8."""
    form = None
    if number == 1:
        form = other_format(line) or columnar_format(line) or ("JSON" if JSON.match(line) else None)
    if form is None and (b"\0" in line or line.startswith(FASTTEXT)):
        form = "fastText's" if line.startswith(FASTTEXT) else "probably word2vec's"
        form = f"binary, {form} format"
    if form is not None:
        problem = f"{form}; expected text, a word and its numbers a line"
        raise DataError(f"{where}: {problem}; convert the file, or take its .vec or .txt version")
    if CONCEPTNET.match(line):
        advice = "take a file of numberbatch for one language, which has words"
        raise DataError(f"{where}: keys of ConceptNet; {advice}")


def _header(line: bytes, dimensions: int, where: str) -> int:
    """Return the number of words in a header, 0 for another line."""
    fields = HEADER.fullmatch(line)
    if fields is None or dimensions == 1:
        return 0
    if fields[2] != b"%d" % dimensions:
        raise _wrong_count(where, f"the header has {fields[2][:20].decode()}", dimensions)
    return int(fields[1][:20])


def _columns(line: bytes, dimensions: int, where: str) -> tuple[bytes, bytes]:
    """Split a line into its word and its numbers, separated by blanks or tabs."""
    line = line.rstrip()
    if b"\t" in line or b"  " in line:
        line = SEPARATOR.sub(b" ", line)
    word, _, numbers = line.partition(b" ")
    if numbers.count(b" ") == dimensions - 1 and numbers:
        return word, numbers
    word, *found = line.rsplit(b" ", dimensions)
    first, *inner = word.split(b" ")
    # a word with blanks, such as "at home" or "10 000"
    if math.isfinite(_number(first)) or not all(math.isfinite(_number(n)) for n in inner):
        inner = []
    if (count := len(found) + len(inner)) != dimensions:
        if not count and line.count(b",") >= dimensions:
            advice = "expected blanks or tabs; replace the commas"
            raise DataError(f"{where}: separated by commas; {advice}")
        raise _wrong_count(where, f"got {count}", dimensions)
    return word, b" ".join(found)


def _number(text: bytes) -> float:
    """Return the number, nan if the text is not one; Python would read 1_0 as ten."""
    try:
        return math.nan if b"_" in text else float(text)
    except ValueError:
        return math.nan


def _wrong_count(where: str, problem: str, dimensions: int) -> DataError:
    return DataError(
        f"{where}: expected a word and {dimensions} numbers, {problem}; "
        "correct vectors.dimensions or vectors.glove.member in params.yaml"
    )


def draw_vectors(words: Sequence[str], dimensions: int, seed: int, std: float) -> Tensor:
    """Draw vectors from N(0, std^2), float32 [words, dimensions], each by its word and seed."""
    vectors = torch.empty(len(words), dimensions)
    for row, word in enumerate(tqdm(words, "vectors", unit=" words")):
        bits = bytearray(hashlib.shake_256(f"{seed} {word}".encode()).digest(4 * dimensions))
        integers = torch.frombuffer(bits, dtype=torch.int32).double()
        uniform = (integers + 2.0**31 + 0.5) / 2.0**32  # in (0, 1)
        vectors[row] = torch.special.ndtri(uniform) * std
    return vectors
