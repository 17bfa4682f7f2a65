"""Readers of rows, pairs, vectors and archives: each line of a golden file is a file to read."""

import csv
import gzip
import io
import json
import math
import os
import random
import re
import shlex
import tarfile
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ruamel.yaml import YAML

from actmodels.errors import DataError
from pipeline.datasets.archive import member_lines, members, open_member
from pipeline.datasets.pair_files import SplitReader, split_files
from pipeline.datasets.pairs import checked_pair
from pipeline.datasets.rows import read_rows
from pipeline.datasets.text_lines import Row, RowError
from pipeline.datasets.vectors import read_vectors
from pipeline.parameters.labels import NLI, ClassReader
from pipeline.parameters.schema import PairFiles
from tests.pipeline.project import make_zip, params_tree, transcribe

DEFAULTS = params_tree()["corpus"]["files"]
SENTENCES = [("A man waves.", "He moves."), ("A man waves.", "He sings."), ("A cat.", "A dog.")]
ENTAILMENT, NEUTRAL, CONTRADICTION = MEANINGS = ["entailment", "neutral", "contradiction"]
CB = ["entailment", "contradiction", "neutral"]
ROW = {"premise": "a", "hypothesis": "b", "label": 0, "id": "x"}
ODD = [{"hypothesis": "…!\u200b"}, {"label": "maybe"}, {"premise": 5}, {"id": "y"}] * 11
BAD = "\n".join(json.dumps(ROW | row) for row in ({"id": "y"}, *ODD)) + "\n{oops\n[1]"
ROWS = [{"premise": 'a, "b" 5"', "label": "x"}, {"premise": "\u2028é", "label": ""}]
CSV = '\ufeffpremise,label\r\n"a, ""b"" 5""",x\r\n\r\n\u2028é,\r\n'
LINES = "\n\n".join(map(json.dumps, ROWS))
IGNORED = LINES.replace("}", ', "x": [{"y": NaN, "y": 1e999}]}')
# what differs between versions of zlib, pyarrow and Python
LIBRARY = re.compile(
    r"(?<=cannot read it )\(.*\)(?=;)|(?<=as Parquet )\(.*\)|\(Exceeds .*\)|(?<=read f )\(.*\)(?=;)"
)


def columns(**names: list[str]) -> dict[str, Any]:
    return DEFAULTS["columns"] | names


def table(labels: list[Any], names: str = "premise hypothesis label", **more: list[Any]) -> Any:
    """Return rows with these labels; the sentences repeat."""
    rows = [(*SENTENCES[index % 3], label) for index, label in enumerate(labels)]
    extra = [dict(zip(more, values, strict=True)) for values in zip(*more.values(), strict=True)]
    return [
        dict(zip(names.split(), row, strict=True)) | (extra[index] if extra else {})
        for index, row in enumerate(rows)
    ]


SPLIT = table(MEANINGS * 2, split=[*"ttdtdd"], number=[1, 1, 1, 2, 2, 2])


def write(path: Path, content: Any, names: list[str] | None = None) -> Path:
    """Write bytes, a text, or rows in the format of the path."""
    path.unlink(missing_ok=True)
    if path.name == "pipe":
        os.mkfifo(path)
    if content is None:
        return path
    if isinstance(content, str | bytes):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    elif path.suffix == ".parquet":
        features = {"label": {"names": names}} if names else {}
        metadata = {"huggingface": json.dumps({"info": {"features": features}})}
        rows = pa.Table.from_pylist(content) if isinstance(content, list) else content
        pq.write_table(rows.replace_schema_metadata(metadata), path)
    elif path.suffix in (".csv", ".tsv"):
        out = io.StringIO()
        writer = csv.DictWriter(out, content[0], delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(content)
        path.write_text(out.getvalue())
    else:
        path.write_text("\n".join(map(json.dumps, content)))
    return path


def read(*paths: Path, classes: list[str] = NLI, **changes: Any) -> tuple[SplitReader, list[Any]]:
    labels = ClassReader(classes, changes.get("labels", DEFAULTS["labels"]))
    reader = SplitReader("dev", PairFiles.model_validate(DEFAULTS | changes), labels)
    return reader, list(reader.read([(path, None) for path in paths]))


@pytest.fixture
def transcript(
    folder: Path, golden: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> Callable[..., None]:
    """Return a function that evaluates the lines of a golden file with a reader of files."""

    def check(name: str, reader: Callable[..., list[str]], **names: Any) -> None:
        def run(*arguments: Any, **options: Any) -> list[str]:
            found = []
            try:
                for line in reader(*arguments, **options):
                    found.append(line)
            except DataError as error:
                found += str(error).splitlines()
            lines = re.split("[\r\n]", capsys.readouterr().err)
            found += [f"note: {line}" for line in lines if line.strip() and "B/s]" not in line]
            if len(found) > 20:
                found[3:-3] = [f"… {len(found) - 6} more"]
            return [LIBRARY.sub("(…)", line)[:400] for line in found]

        transcribe(golden, name, globals() | {reader.__name__: run} | names, f"{folder}/")

    return check


def test_rows(transcript: Callable[..., None]) -> None:
    def rows(name: str, content: Any, **options: Any) -> Any:
        for row in read_rows(write(Path(name), content), None, **options):
            place = row.where.rpartition(", ")[2]
            yield str(row) if isinstance(row, RowError) else f"{place}: {row.fields}"

    transcript("rows.txt", rows, gzip=gzip)


def test_pairs(
    transcript: Callable[..., None], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder))

    def pairs(name: str, rows: Any, names: Any = None, second: str = "", **changes: Any) -> Any:
        if "where" in changes:
            changes["where"] = DEFAULTS["where"] | {"dev": changes["where"]}
        paths = [write(Path(name), rows, names)]
        if second:
            more = table(MEANINGS, split=["t", "d", "t"], number=[2] * 3)
            paths.insert(0, write(Path(f"second-{second}"), more))
        reader, found = read(*paths, **changes)
        for pair in found:
            yield " | ".join(f"{value}" for value in pair.values())
        yield from reader.classes.notes
        yield from map(str, filter(None, [reader.dropped]))

    def value(changes: dict[str, Any], missing: str = "") -> Any:
        good = {"gold_label": "neutral", "sentence1": "a", "sentence2": "b", "pairID": "1"}
        fields = {name: of for name, of in (good | changes).items() if name != missing}
        return checked_pair(Row("p, line 17", 17, fields))

    def places(places: Any, sha256: str | None = None) -> list[str]:
        return [f"{path}, member {member}" for path, member in split_files(places, sha256, "k")]

    for name in ("a-1.csv", "a-2.csv", "b [1].csv"):
        (folder / name).write_text("x")
    inside = ("m/m_train.jsonl", "m/m_dev.jsonl", "__MACOSX/m/._m_train.jsonl")
    make_zip(folder / "m.zip", dict.fromkeys(inside, b"x"))
    transcript("pairs.txt", pairs, value=value, places=places, math=math)


TEXT = """the 1 2 3
, -0.5 1e-3 .25
. . . 7 7 7
. 4 5 6
at name@domain.com 8 8 8
the 9 9 9
café 0.1 0.2 0.3
unwanted 1 2
"""


def test_vectors(transcript: Callable[..., None], folder: Path) -> None:
    def vectors(text: str, *words: str, dimensions: int = 3) -> Any:
        archive = make_zip(folder / "v.zip", {"v.txt": text.encode(errors="surrogateescape")})
        result, found = read_vectors(archive, "v.txt", words, dimensions)
        for word, row, has in zip(words, result.tolist(), found, strict=True):
            yield f"{word}: {[float(f'{x:.6g}') for x in row] if has else None}"

    transcript("vectors.txt", vectors)


MODES = {".tgz": "w:gz", ".tar": "w", ".bz2": "w:bz2", ".xz": "w:xz"}


def test_archives(transcript: Callable[..., None]) -> None:
    """A tar archive also has a folder and links."""

    def archive(name: str, content: Any, member: str | None = "f", change: Any = bytes) -> Any:
        path = Path(name)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif path.suffix in MODES:
            with tarfile.open(path, MODES[path.suffix]) as opened:  # type: ignore[call-overload]
                for name, kind in (
                    *(("folder", tarfile.DIRTYPE), ("link", tarfile.SYMTYPE)),
                    ("hard", tarfile.LNKTYPE),
                ):
                    info = tarfile.TarInfo(name)
                    info.type, info.linkname = kind, "/etc/passwd" if "dir" not in name else ""
                    opened.addfile(info)
                for name, inside in content.items():
                    info = tarfile.TarInfo(name)
                    info.size = len(inside)
                    opened.addfile(info, io.BytesIO(inside))
        else:
            make_zip(path, content)
        if path.name == "twice.zip":
            with zipfile.ZipFile(path, "a") as twice, pytest.warns(UserWarning, match="Duplicate"):
                twice.writestr("f", b"two")
        path.write_bytes(change(path.read_bytes()))
        if path.name == "renamed.csv":
            yield f"{members(path)}"
        with open_member(path, member, "texts.sources.a") as (stream, size):
            yield f"{len(stream.read())} of {size} bytes"
        lines = list(member_lines(path, member, "texts.sources.a", "words"))
        yield f"{lines[0]} to {lines[-1]}"

    def marked(content: bytes, place: int, bits: int) -> bytes:
        """Set bits in the directory of a zip archive."""
        changed = bytearray(content)
        changed[content.index(b"PK\x01\x02") + place] |= bits
        return bytes(changed)

    lines = b"".join(b"line %d of the file\n" % number for number in range(20_000))
    junk = ("__MACOSX/._f", "._f", "in/._f", ".DS_Store", "in/.DS_Store")
    transcript(
        "archives.txt",
        archive,
        **{
            "gzip": gzip,
            "marked": marked,
            "LINES": lines,
            "RANDOM": random.Random(1).randbytes(9000),
        },
        **{"JUNK": dict.fromkeys(junk, b"x"), "SNLI": {"README": b"", "snli_1.0/dev.jsonl": b""}},
    )


@pytest.mark.parametrize(
    "labels",
    [
        ["same", "different"],
        ["a b", "c.d", 'say "x"', "it's", "$x", "4"],
        ["entailment", "not_entailment"],
        ["3", "4", "5"],
        ["jä", "ja\u0308", "nein"],
    ],
)
def test_the_command_for_other_labels_works_as_printed(folder: Path, labels: list[str]) -> None:
    path = write(folder / "own.csv", table(labels * 2))
    with pytest.raises(DataError) as error:
        read(path)
    printed = str(error.value).splitlines()[-1].partition(" are the classes: act-nli use ")[2]
    (word,) = shlex.split(printed.partition("; if they")[0])
    key, _, value = word.partition("=")
    _, pairs = read(path, classes=YAML(typ="safe", pure=True).load(value))
    names = [unicodedata.normalize("NFC", label) for label in labels * 2]
    assert key == "corpus.classes" and [pair["gold_label"] for pair in pairs] == names


def test_numbers_with_two_meanings(folder: Path) -> None:
    labels, files = ClassReader(NLI, DEFAULTS["labels"]), PairFiles.model_validate(DEFAULTS)
    named = write(folder / "n.parquet", table([0, 2, 1]), CB)
    list(SplitReader("train", files, labels).read([(named, None)]))
    problem = "line 3: class 1 is neutral here, and contradiction in train, by the names in the sc"
    advice = (
        """act-nli use 'corpus.files.labels.2="neutral"' 'corpus.files.labels.1="contradiction"'"""
    )
    numbers = write(folder / "d.csv", table(["0", "1", "2"]))
    with pytest.raises(DataError, match=rf"{problem}.*: {advice}$"):
        list(SplitReader("dev", files, labels).read([(numbers, None)]))
