"""The artifact, values of a pair, and files in the layouts of Hugging Face, SNLI and MultiNLI."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ruamel.yaml import YAML

from actmodels.errors import DataError
from pipeline.datasets.pairs import Pair, checked_pair, read_pair_file, read_pairs, write_splits
from pipeline.datasets.rows import Row
from pipeline.parameters.schema import PairFiles
from tests.pipeline.project import ROOT

GOOD: Pair = {"gold_label": "neutral", "sentence1": "a", "sentence2": "b", "pairID": "1"}
PAIRS = [
    GOOD | {"sentence1": "A man in a café.", "sentence2": "He said “no”.\u2028\tGood\n"},
    GOOD | {"gold_label": "-", "sentence1": "", "sentence2": "\\"},
    GOOD | {"gold_label": "contradiction", "sentence1": "日本語", "reasoning_depth": 4},
    GOOD | {"sentence1_binary_parse": "( a b )", "sentence2_binary_parse": ""},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_splits(tmp_path / "corpus", "snli", {"train": iter(PAIRS), "dev": PAIRS[2:]})
    return tmp_path / "corpus"


def test_round_trip_and_summary(folder: Path) -> None:
    assert list(read_pairs(folder / "train.jsonl")) == PAIRS
    assert list(read_pairs(folder / "dev.jsonl")) == PAIRS[2:]
    lines = (folder / "train.jsonl").read_bytes().split(b"\n")
    assert len(lines) == len(PAIRS) + 1
    assert "日本語".encode() in lines[2]
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["source"] == "snli"
    assert summary["splits"]["train"] == {
        **{"pairs": 4, "labeled": 3, "unlabeled": 1},
        **{"neutral": 2, "entailment": 0, "contradiction": 1},
    }


def test_files_of_an_earlier_run_are_removed_also_on_failure(folder: Path) -> None:
    write_splits(folder, "snli", {"train": PAIRS})
    assert sorted(path.name for path in folder.iterdir()) == ["summary.json", "train.jsonl"]

    def broken() -> Iterator[Pair]:
        yield PAIRS[0]
        raise DataError("the source broke")

    with pytest.raises(DataError, match="the source broke"):
        write_splits(folder, "snli", {"train": PAIRS, "dev": broken()})
    assert not folder.exists()


def check(fields: dict[str, Any]) -> Pair:
    return checked_pair(Row("some.jsonl, line 17", 17, fields))


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        *(
            ("pairID", name, "must be a name of print")
            for name in (" ", "a\tb", "a\nb", "a\u202eb")
        ),
        ("pairID", 7, "must be text"),
        ("gold_label", "maybe", "must be 'neutral', "),
        ("gold_label", None, "must be 'neutral'"),
        ("sentence1", "\ud83d", "must be text"),
        ("sentence2_binary_parse", 3, "must be text"),
        ("reasoning_depth", True, "must be a whole"),
        ("reasoning_depth", -1, "must be at least 0"),
        ("annotator_labels", "neutral", "must be a list"),
    ],
)
def test_invalid_values(key: str, value: object, problem: str) -> None:
    with pytest.raises(DataError) as error:
        check(GOOD | {key: value})
    assert str(error.value).startswith(f"some.jsonl, line 17: {key} is {value!r}; {problem}")


def test_missing_keys_and_other_keys() -> None:
    with pytest.raises(DataError, match=r"^some\.jsonl, line 17: sentence2 is missing$"):
        check({key: value for key, value in GOOD.items() if key != "sentence2"})
    others = {"sentence1_parse": "(ROOT a)", "captionID": "c"}
    assert list(check(others | GOOD).items()) == list(GOOD.items())


DEFAULTS = YAML(typ="safe", pure=True).load(ROOT / "conf" / "base.yaml")["corpus"]["files"]


def read(path: Path, content: Any, **changes: Any) -> list[Pair]:
    """Write rows in the format of the path, and read them as pairs of the split dev."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(content), path)
    else:
        path.write_text(content if type(content) is str else "\n".join(map(json.dumps, content)))
    return list(read_pair_file(path, "dev", PairFiles.model_validate(DEFAULTS | changes)))


def pair(label: str, name: str) -> Pair:
    return {"gold_label": label, "sentence1": "A b.", "sentence2": "C.", "pairID": name}


@pytest.mark.parametrize("kind", [int, float, str])
def test_hugging_face(tmp_path: Path, kind: type) -> None:
    labels = [kind(number) for number in (0, 1, 2, -1)]
    rows = [{"premise": "A b.", "hypothesis": "C.", "label": label} for label in labels]
    if kind is float:  # pandas writes integers with a missing value like this
        labels = [float(label) for label in labels]
    expected = [
        pair(label, f"dev-{number}")
        for number, label in enumerate(["entailment", "neutral", "contradiction", "-"], start=1)
    ]
    if kind is not str:
        assert read(tmp_path / "p.parquet", rows) == expected
    else:
        text = "premise\thypothesis\tlabel\n" + "".join(f"A b.\tC.\t{x}\n" for x in labels)
        numbered = [row | {"pairID": f"dev-{line}"} for line, row in enumerate(expected, start=2)]
        assert read(tmp_path / "p.tsv", text) == numbered


def test_snli_and_multinli(tmp_path: Path) -> None:
    row = {"gold_label": "neutral", "sentence1": "A b.", "sentence2": "C.", "pairID": "1n"}
    more = {"promptID": 7, "genre": "fiction", "sentence1_binary_parse": "( A b. )"}
    assert read(tmp_path / "p.jsonl", [row | more]) == [
        pair("neutral", "1n") | {"sentence1_binary_parse": "( A b. )"}
    ]


def test_own_columns_labels_and_numbers_as_ids(tmp_path: Path) -> None:
    columns = {"premise": ["text"], "hypothesis": ["claim"], "label": ["true"], "id": ["number"]}
    rows = [{"number": 7, "text": "A b.", "claim": "C.", "true": True}]
    changes = {"columns": columns, "labels": {"True": "entailment", "False": "neutral"}}
    assert read(tmp_path / "p.jsonl", rows, **changes) == [pair("entailment", "7")]


ROW = {"premise": "a", "hypothesis": "b", "label": 0, "id": "x"}


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([{"premise": "a", "label": 0}], ", row 1: no column hypothesis or sentence2; got "
         "'premise', 'label'; name the column of the hypothesis in corpus.files.columns.hypo"),
        ([ROW, ROW], ", row 2: the id 'x' was used before, at 1; expected a unique id"),
        ([ROW | {"label": 3}], ", row 1: label is 3; expected one of entailment, neutral, contradic"
         "tion, -, 0, 1, 2, -1; name its meaning in corpus.files.labels"),
        ([ROW | {"premise": 5}], ", row 1: premise is 5; must be text"),
        ([ROW | {"hypothesis": " "}], ", row 1: hypothesis has no words; correct or remove"),
        ([{"a": 1}], ", row 1: no column premise or sentence1; got 'a'; name the column"),
        ([ROW | {"label": -1}], " has no labeled pair; expected at least one"),
    ],
)  # fmt: skip
def test_errors_name_place_and_column(tmp_path: Path, rows: list[Any], problem: str) -> None:
    with pytest.raises(DataError) as error:
        read(tmp_path / "p.parquet", rows)
    assert str(error.value).startswith(f"{tmp_path}/p.parquet{problem}")


def test_one_column_for_two_parts(tmp_path: Path) -> None:
    columns = DEFAULTS["columns"] | {"hypothesis": ["hypothesis2", "premise"]}
    problem = "premise, hypothesis and label are the columns premise, premise, label; name one for"
    with pytest.raises(DataError, match=rf"p\.jsonl, line 1: {problem}"):
        read(tmp_path / "p.jsonl", [ROW], columns=columns)
