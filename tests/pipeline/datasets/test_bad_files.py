"""Rows, pairs, vectors and archives that are bad: all messages in one golden file."""

import gzip
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import DataError
from pipeline.datasets.archive import members, open_member
from pipeline.datasets.pairs import checked_pair
from pipeline.datasets.rows import read_rows
from pipeline.datasets.text_lines import Row, RowError
from pipeline.datasets.vectors import read_vectors
from tests.pipeline.datasets.test_archive import make
from tests.pipeline.datasets.test_pair_files import CB, MEANINGS, columns, read, table, write
from tests.pipeline.project import make_zip

# what differs between versions of zlib, pyarrow and Python
LIBRARY = re.compile(r"(?<=cannot read it )\(.*\)(?=;)|(?<=as Parquet )\(.*\)|\(Exceeds .*\)")
Content = Any  # bytes, text, rows, members, or None without a file


def rows(path: Path, content: Content) -> list[str]:
    """Return the messages up to an error of the whole file."""
    found: list[str] = []
    if path.name == "pipe":
        os.mkfifo(path)
    elif content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        found.extend(str(row) for row in read_rows(path, None) if isinstance(row, RowError))
    except DataError as error:
        found.append(str(error))
    return found


def pairs(path: Path, content: Content) -> None:
    changes = content.pop() if isinstance(content[-1], tuple) else ()
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        write(path, content, CB if path.name.startswith("named") else None)
    read(path, **dict(changes))


def values(path: Path, content: Content) -> None:
    good = {"gold_label": "neutral", "sentence1": "a", "sentence2": "b", "pairID": "1"}
    fields = {key: value for key, value in (good | content).items() if value is not ...}
    checked_pair(Row(f"{path}, line 17", 17, fields))


def vectors(path: Path, content: Content) -> None:
    archive = make_zip(path, {"v.txt": content.encode(errors="surrogateescape")})
    read_vectors(archive, "v.txt", ["the", "9"], 3)


def archive(path: Path, content: Content) -> None:
    content, wanted = content if isinstance(content, tuple) else (content, "f")
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif path.name == "renamed.csv":
        members(make_zip(path, content))
    else:
        make(path, content)
    with open_member(path, wanted, "texts.sources.a") as (stream, _):
        stream.read()


BINARY = [
    *("a,b\n".encode("utf-16"), "a,b\nc,d\n".encode("utf-16-le"), "a,b\nc,d\n".encode("utf-16-be")),
    *(b'<?xml version="1.0"?>\n<pairs>', b'<entailment-corpus lang="EN">\n  <pair>', b"%PDF-1.7"),
    *(b"\xd0\xcf\x11\xe0", b"\x89HDF\r\n\x1a\n", b"\x93NUMPY\x01\0", b"\x80\x04\x95"),
    *(b"SQLite format 3\0", b"PK\3\4\0", b"ARROW1\0\0"),
]
ZIPPED = gzip.compress(b"a,b\n1,2\n" * 9999, mtime=0)
ROW = {"premise": "a", "hypothesis": "b", "label": 0, "id": "x"}
OTHERS = [{}, {"id": 1, "label": 3}, {"hypothesis": None}, {"id": 2, "label": 3}, {"premise": 5}]
NESTED = {"example": {"premise": "a", "hypothesis": "b"}, "label": 0}
LATIN = "premise,hypothesis,label\na,b,neutral\nä,b,neutral\n".encode("latin-1")
MANY = {f"{number}": b"" for number in range(12)}
SNLI = {"README": b"", "snli_1.0/dev.jsonl": b""}
TWELVE = [ROW | {"id": number, "label": f"x{number}"} for number in range(12)]

CASES: Mapping[Callable[[Path, Any], Any], list[tuple[str, Content]]] = {
    rows: [
        ("p.jsonl", '{}\n{oops\n[1]\n{"a": 1, "a": 2}\n{}'),
        ("p.jsonl", "oops\n{}"),
        ("p.jsonl", '{"n": ' + "[" * 9999),
        ("p.jsonl", '{"n": ' + "9" * 5000),
        ("p.jsonl", '["a", "b"]\n["c", "d"]'),
        ("p.jsonl", "a,b\n1,2\n"),
        ("p.jsonl", "\n<!DOCTYPE html>\n<html>"),
        ("p.json", "[{}, 3]"),
        ("p.json", "[{}, oops]"),
        ("p.json", "[{},\n{},\n]"),
        ("p.json", '{"data": [{},\n{},\n]}'),
        ("p.json", '{\n"a": 1\n}\n{\n"a" 1}'),
        ("p.json", json.dumps({"a": {"0": "x"}, "b": {"0": "y"}})),
        ("p.json", json.dumps({"a": ["x"], "b": ["y"]})),
        ("p.csv", b'a,b\nc\n\xe9,d\n"x"y,z\n1,2,3\ne,f\na,"b'),
        ("p.csv", 'a,b\n1,2\n"3,4\n5,6\n"7",8\n9,10'),
        ("p.csv", 'a,b\n"1,2\n' + "3,4\n" * 99),
        ("p.csv", b'a,b\n"1,2\n3,4\n\xe9,5\n6,7'),
        ("p.csv", 'a,b\n"x \\"y\\"",1\n'),
        ("p.csv", "premise,a,a\n"),
        ("p.csv", "a,b\r1,2\r"),
        *(("p.csv", content) for content in BINARY),
        ("p.csv", ZIPPED[:-20]),
        ("p.csv", ZIPPED[:5] + b"\xff" * 30),
        ("p.csv", None),
        ("pipe", None),
        ("p.tsv", "a\tb\na\tb\tc\n"),
        ("p.parquet", "version https://git-lfs.github.com/spec/v1\noid"),
        ("p.parquet", ""),
        ("p.parquet", b"PAR1" + bytes(40) + b"PAR1"),
    ],
    pairs: [
        ("p.jsonl", [ROW, ROW]),
        ("p.jsonl", [ROW | row for row in OTHERS]),
        ("p.jsonl", [ROW | {"label": 3}] * 2),
        ("p.jsonl", [ROW | {"label": -1}]),
        ("p.jsonl", [NESTED] * 2),
        ("p.jsonl", [{"hypothesis": "b", "label": 0, "id": "x"}] * 2),
        ("p.jsonl", TWELVE),
        ("p.jsonl", [ROW, tuple(columns(hypothesis=["hypothesis2", "premise"]).items())]),
        ("p.jsonl", table([["yes"], ["no"]])),
        ("p.csv", LATIN),
        ("p.csv", table(["none", "some", "all"])),
        ("p.csv", table(["predicted", "line"])),
        ("p.csv", table(["a" * 101, "b"])),
        ("p.csv", table(["${a}", "b"])),
        ("p.csv", table(["a", "b"])),
        ("p.csv", table(["0.000", "2.400", "5.000"])),
        ("p.csv", [*table(["0.000", "2.400", "5.000"]), (("invalid", "drop"),)]),
        (
            "p.csv",
            [*table(MEANINGS), (("where", {"dev": {"lang": "en"}, "train": {}, "test": {}}),)],
        ),
        (
            "p.csv",
            [*table(MEANINGS), (("where", {"dev": {"label": "x"}, "train": {}, "test": {}}),)],
        ),
        ("named.parquet", [*table([0, 1, 2]), (("classes", ["a", "b"]),)]),
    ],
    values: [
        *(("p", {"pairID": name}) for name in (" ", "a\nb", "a\u202eb", 7)),
        *(("p", {"gold_label": None}), ("p", {"sentence2": ...}), ("p", {"sentence1": "\ud83d"})),
        *(("p", {"sentence1": text}) for text in (" ", "\u200b\xad")),
        *(("p", {"reasoning_depth": depth}) for depth in (True, -1)),
        *(("p", {"sentence2_binary_parse": 3}), ("p", {"annotator_labels": "neutral"})),
    ],
    vectors: [
        ("v.zip", text)
        for text in (
            *("a 1 2 3\nthe 1 2\n", "a 1 2 3\nthe 1 2 3 4\n", "other 1 2 3 4 5\n"),
            *("9 4\nthe 1 2 3 4\n", "the 1 2 1e39\n", "the 1 nan 3\n", "the 1_0 2 3\n"),
            *("the 1 True 3\n", "the,1,2,3\n", "/c/en/dog 1 2 3\n", "9 3\n/c/de/a 1 2 3\n"),
            *("t\0h\0e\0 \x001\0 \0", "\udcff\udcfet\0h\0", "\udc89HDF\r\n", "\udc93NUMPY"),
            *("\udc80\4\udc95", "PAR1", 'A\0\0\0\0\0\0\0{"__metadata__"', '{"the": [1, 2, 3]}'),
            *("2 3\nthe \0\0\x80?\n", "\udcba\x16\x4f\x2f\x0c\0"),
        )
    ],
    archive: [
        ("a.zip", b"text"),
        *(
            (name, case)
            for name in ("a.zip", "a.tgz")
            for case in ((SNLI, "snli/dev.jsonl"), ({"f": b""}, "folder"), {}, (MANY, None))
        ),
        *(("renamed.csv", {n: b""}) for n in ("[Content_Types].xml", "v.npy", "model/data.pkl")),
    ],
}


@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)
def test_bad_files(
    kind: Callable[[Path, Any], Any], tmp_path: Path, golden: Callable[..., None]
) -> None:
    text = ""
    for number, (name, content) in enumerate(CASES[kind]):
        (folder := tmp_path / f"{number}").mkdir()
        shown = ascii(content)
        try:
            found = kind(folder / name, content) or ["no message"]
        except DataError as error:
            found = [str(error)]
        lines = "\n".join(found).replace(str(folder), "").splitlines()
        lines = [LIBRARY.sub("(…)", line) for line in lines]
        text += f"{name} {shown[:150]}\n" + "".join(f"  {line}\n" for line in lines)
    golden(f"bad_{kind.__name__}.txt", text)
