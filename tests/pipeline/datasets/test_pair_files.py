"""Files in the layouts of public corpora: which pairs, labels and ids they have."""

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from actmodels.errors import DataError
from pipeline.datasets.pair_files import SplitReader, split_files
from pipeline.parameters.labels import NLI, ClassReader
from pipeline.parameters.schema import PairFiles
from tests.pipeline.project import make_zip, params_tree

DEFAULTS = params_tree()["corpus"]["files"]
SENTENCES = [("A man waves.", "He moves."), ("A man waves.", "He sings."), ("A cat.", "A dog.")]
ENTAILMENT, NEUTRAL, CONTRADICTION = MEANINGS = ["entailment", "neutral", "contradiction"]


def columns(**names: list[str]) -> dict[str, Any]:
    return {"columns": DEFAULTS["columns"] | names}


def table(labels: list[Any], names: str = "premise hypothesis label", **more: list[Any]) -> Any:
    """Return rows with these labels; the sentences repeat."""
    rows = [(*SENTENCES[index % 3], label) for index, label in enumerate(labels)]
    extra = [dict(zip(more, values, strict=True)) for values in zip(*more.values(), strict=True)]
    return [
        dict(zip(names.split(), row, strict=True)) | (extra[index] if extra else {})
        for index, row in enumerate(rows)
    ]


def write(path: Path, rows: Any, classes: list[str] | None = None) -> Path:
    """Write rows in the format of the path."""
    if path.suffix == ".parquet":
        features = {"label": {"names": classes}} if classes else {}
        metadata = {"huggingface": json.dumps({"info": {"features": features}})}
        pq.write_table(pa.Table.from_pylist(rows).replace_schema_metadata(metadata), path)
    elif path.suffix in (".csv", ".tsv"):
        out = io.StringIO()
        writer = csv.DictWriter(out, rows[0], delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(out.getvalue())
    else:
        path.write_text("\n".join(map(json.dumps, rows)))
    return path


def read(*paths: Path, **changes: Any) -> tuple[SplitReader, list[dict[str, Any]]]:
    classes = changes.pop("classes", NLI)
    labels = ClassReader(classes, changes.get("labels", DEFAULTS["labels"]))
    reader = SplitReader("dev", PairFiles.model_validate(DEFAULTS | changes), labels)
    return reader, list(reader.read([(path, None) for path in paths]))


CB, RTE = ["entailment", "contradiction", "neutral"], ["entailment", "not_entailment"]
SICK = "sentence_A sentence_B entailment_judgment"
SICK_COLUMNS = columns(
    premise=["sentence_A"], hypothesis=["sentence_B"], label=["entailment_judgment"], id=["pair_ID"]
)
ESNLI = columns(premise=["Sentence1"], hypothesis=["Sentence2"])
FEVER = {"SUPPORTS": ENTAILMENT, "NOT ENOUGH INFO": NEUTRAL, "REFUTES": CONTRADICTION}
ALL = [*MEANINGS, "-"]


@pytest.mark.parametrize(
    ("name", "rows", "changes", "labels"),
    [
        ("hub.parquet", table([0, 1, 2, -1]), {}, ALL),
        ("pandas.csv", table(["0.0", "1.0", "2.0", "-1.0"]), {}, ALL),
        ("pandas.parquet", table([0.0, 1.0, 2.0, math.nan]), {}, ALL),
        ("pandas.jsonl", table([0.0, 1, "2", math.nan]), {}, ALL),
        ("pandas.tsv", table(["0", "1", "2", "NaN"]), {}, ALL),
        ("null.jsonl", table([*MEANINGS, None]), {}, ALL),
        ("null.parquet", table([*MEANINGS, None]), {}, ALL),
        ("empty.csv", table([*MEANINGS, ""]), {}, ALL),
        ("multinli.jsonl", table(ALL, "sentence1 sentence2 gold_label"), {}, ALL),
        ("anli.jsonl", table(["e", "n", "c"]), {"labels": {x[0]: x for x in MEANINGS}}, MEANINGS),
        ("sick.tsv", table([x.upper() for x in MEANINGS], SICK), SICK_COLUMNS, MEANINGS),
        ("case.csv", table(MEANINGS, "PREMISE Sentence2 Gold_Label"), {}, MEANINGS),
        ("both.csv", table(MEANINGS, "Premise hypothesis Label", label=MEANINGS[::-1]), {},
         MEANINGS[::-1]),
        ("blanks.jsonl", [{f" {k}\xa0": v for k, v in row.items()} for row in table(MEANINGS)], {},
         MEANINGS),
        ("case.parquet", table(MEANINGS, "Premise hypothesis LABEL"), {}, MEANINGS),
        ("esnli.csv", table(MEANINGS, "Sentence1 Sentence2 gold_label"), ESNLI, MEANINGS),
        ("fever.csv", table([*FEVER]), {"labels": FEVER}, MEANINGS),
        ("keras.csv", table(MEANINGS, "sentence1 sentence2 similarity"),
         columns(label=["similarity"]), MEANINGS),
        ("yes.csv", table(["yes", "no", "3", "True"]),
         {"labels": {"yes": ENTAILMENT, "no": CONTRADICTION, "3": NEUTRAL, "true": NEUTRAL}},
         [ENTAILMENT, CONTRADICTION, NEUTRAL, NEUTRAL]),
        ("true.jsonl", table([True, False, None, 1.5]),
         {"labels": {"True": ENTAILMENT, "false": CONTRADICTION, "": NEUTRAL, "1.5": NEUTRAL}},
         [ENTAILMENT, CONTRADICTION, NEUTRAL, NEUTRAL]),
        ("cases.csv", table(["yes", "YES", "Yes"]), {"labels": {"yes": NEUTRAL, "YES": ENTAILMENT}},
         [NEUTRAL, ENTAILMENT, NEUTRAL]),
        ("missing.csv", table([*MEANINGS, "None", "NA", "N/A", "<NA>", "NULL"]), {},
         [*MEANINGS, *"-----"]),
        ("own.csv", table(["a b", "C.d", "it's", "0", "-", ""]),
         {"classes": ["0", "a b", "c.d", "it's"]}, ["a b", "c.d", "it's", "0", "-", "-"]),
        ("stars.parquet", table([1, 2, 3, 4, 5, -1]), {"classes": list("12345")},
         [*"12345", "-"]),
        ("merged.csv", table(MEANINGS), {"classes": [ENTAILMENT, "other"],
         "labels": {NEUTRAL: "other", CONTRADICTION: "other", "-1": "-"}},
         [ENTAILMENT, "other", "other"]),
    ],
)  # fmt: skip
def test_labels(
    tmp_path: Path, name: str, rows: Any, changes: dict[str, Any], labels: list[str]
) -> None:
    _, pairs = read(write(tmp_path / name, rows), **changes)
    assert [pair["gold_label"] for pair in pairs] == labels
    found = [(pair["sentence1"], pair["sentence2"]) for pair in pairs]
    assert found == (SENTENCES * 3)[: len(labels)]


def test_names_of_classes_in_parquet(tmp_path: Path) -> None:
    reader, pairs = read(write(tmp_path / "cb.parquet", table([0, 2, 1]), CB))
    assert ([pair["gold_label"] for pair in pairs], reader.classes.notes) == (MEANINGS, [])
    floats = write(tmp_path / "floats.parquet", table([0.0, 2.0, 1.0, None]), CB)
    assert [pair["gold_label"] for pair in read(floats)[1]] == [*MEANINGS, "-"]
    rte = write(tmp_path / "rte.parquet", table([0, 1, 0, 1]), RTE)
    with pytest.raises(
        DataError, match=r"t_entailment'; expected one of .* \(2 such rows: row 2, r"
    ):
        read(rte)
    reader, _ = read(write(tmp_path / "cb.csv", table([0, 2, 1])))  # no names: shown
    note = "label 2 is contradiction, as in dev: 'A man waves.' / 'He sings.'"
    assert note in reader.classes.notes


@pytest.mark.parametrize(
    ("name", "more", "changes", "ids"),
    [
        ("p.csv", {}, {}, ["dev-2", "dev-3", "dev-4"]),
        ("p.parquet", {}, {}, ["dev-1", "dev-2", "dev-3"]),
        ("p.jsonl", {"id": [7, "b", None]}, {}, ["7", "b", "dev-3"]),
        ("p.parquet", {"id": [7.0, 8.0, math.nan]}, {}, ["7", "8", "dev-3"]),
        ("p.csv", {"id": ["7", "7", ""]}, columns(id=[]), ["dev-2", "dev-3", "dev-4"]),
        ("p.jsonl", {"pairID": ["x", "y", "z"], "c": [math.nan] * 3}, {}, ["x", "y", "z"]),
    ],
)
def test_ids_of_files_and_parses(
    tmp_path: Path, name: str, more: Any, changes: Any, ids: list[str]
) -> None:
    parse = {"sentence2_binary_parse": ["( A b. )"] * 3, "genre": ["fiction"] * 3}
    paths = write(tmp_path / name, table(MEANINGS, **more)), tmp_path / "second.jsonl"
    _, pairs = read(paths[0], write(paths[1], table(MEANINGS[:1], **parse)), **changes)
    assert [pair["pairID"] for pair in pairs] == [*ids, "dev-2-1"]
    assert list(pairs[3]) == ["gold_label", "sentence1", "sentence2", "pairID", *[*parse][:1]]


NONE = "; or leave such rows out: act-nli use corpus.files.invalid=drop"
FEW = (
    "expected 2 to 20 names for corpus.classes, or corpus.files.labels for others; a name has at "
    "most 100 characters, and - and null are no labels"
)
ROW = {"premise": "a", "hypothesis": "b", "label": 0, "id": "x"}


def test_bad_rows_are_dropped_and_counted_or_ten_are_shown(tmp_path: Path) -> None:
    bad = [{"hypothesis": "…!\u200b"}, {"label": "maybe"}, {"premise": 5}, {"id": "y"}] * 11
    path = write(tmp_path / "p.jsonl", [ROW | {"id": "y"}, *(ROW | row for row in bad)])
    with path.open("a") as file:
        file.write("\n{oops\n[1]")
    reader, pairs = read(path, invalid="drop")
    assert [pair["pairID"] for pair in pairs] == ["y"]
    assert reader.dropped == {
        **{"hypothesis has no words": 11, "label is 'maybe'": 11, "invalid premise": 11},
        **{"an id that was used before": 11, "not JSON": 1, "no JSON object": 1},
    }
    many = [ROW | {"label": f"x{number}"} for number in range(12)]
    with pytest.raises(DataError, match=r"\(11 such rows: line 2, line 6, .*, line 38, …\)\n"):
        read(path)
    with pytest.raises(DataError) as error:
        read(write(path, many))
    faults, advice = str(error.value).splitlines()[10:]
    assert faults == "12 bad rows with 12 faults"
    assert advice.startswith("if 'x0', 'x1', ")


LISTED = r"m\.zip has the files m/m_train\.jsonl, m/m_dev\.jsonl; name one, or a glob: .*m\.zip::ME"


@pytest.mark.parametrize(
    ("places", "found"),
    [
        ("a-?.csv", ["a-1.csv", "a-2.csv"]),
        ("~/b [1].csv", ["b [1].csv"]),
        (["m.zip::*train*", "a-1.csv"], ["m.zip::m/m_train.jsonl", "a-1.csv"]),
        ("m.zip::m/m_dev.jsonl", ["m.zip::m/m_dev.jsonl"]),
        ("m.zip", LISTED),
        ("m.zip::x", LISTED),
        ("a-1.csv::x", r"a-1\.csv has the files of no archive; name one"),
        ("a-?.csv", " has 2 files, and its sha256 is of one; set it to null"),
        (".", r": \. is a folder; name its files with a glob, such as \./\*\.csv"),
        ("c-*.csv", r": no file matches c-\*\.csv$"),
    ],
)  # fmt: skip
def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, places: Any, found: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("a-1.csv", "a-2.csv", "b [1].csv"):
        (tmp_path / name).write_text("x")
    names = ["m/m_train.jsonl", "m/m_dev.jsonl", "__MACOSX/m/._m_train.jsonl"]
    make_zip(tmp_path / "m.zip", dict.fromkeys(names, b"x"))
    if isinstance(found, list):
        files = [
            f"{path}::{member}" if member else str(path)
            for path, member in split_files(places, None, "k")
        ]
        assert files == [f"{tmp_path}/{name}" for name in found]
    else:
        with pytest.raises(DataError, match=rf"^k.*{found}"):
            split_files(places, "0" * 64 if "sha256" in found else None, "k")
