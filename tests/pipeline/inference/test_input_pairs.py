"""Read pairs from files and standard input; errors name file, line and key."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import DataError
from pipeline.inference.input_pairs import InputPair, Layout, read_file, read_lines
from tests.pipeline.project import make_zip, params_tree

FILES = params_tree()["corpus"]["files"]
LAYOUT = Layout(FILES["columns"], FILES["labels"], None)


def pairs(path: Path, content: str, **columns: list[str]) -> list[InputPair]:
    path.write_text(content)
    layout = LAYOUT._replace(columns=LAYOUT.columns | columns)
    return list(read_file(str(path), layout))


def test_a_pair_has_its_id_or_its_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    (pair,) = pairs(path, "pairID,premise,hypothesis\n7,a,b\n")
    assert (pair.name, list(pair.fields)) == ("7", ["pairID", "premise", "hypothesis"])
    (pair,) = pairs(path, 'premise,hypothesis\n"a\n",b\n')
    assert (pair.name, list(pair.fields)) == ("line 2", ["line", "premise", "hypothesis"])


def test_columns_and_labels_of_the_training_files(tmp_path: Path) -> None:
    names = {"premise": ["sentence_A"], "hypothesis": ["sentence_B"], "label": ["judgment"]}
    rows = "sentence_A\tsentence_B\tjudgment\na\tb\tNEUTRAL\nc\td\t?\ne\tf\t-\n"
    archive = make_zip(tmp_path / "sick.zip", {"sick.txt": rows.encode(), "readme.txt": b"x"})
    layout = LAYOUT._replace(columns=LAYOUT.columns | names)
    sick = list(read_file(f"{archive}::sick*", layout))
    assert [pair[2:4] for pair in sick] == [("a", "b"), ("c", "d"), ("e", "f")]
    assert [pair.label for pair in sick] == ["neutral", None, None]
    with pytest.raises(
        DataError, match=r"^FILE: .* has the files sick\.txt, readme\.txt; name one"
    ):
        list(read_file(str(archive), layout))
    snli: dict[str, Any] = {"sentence2": "b", "gold_label": 0, "sentence1": "a"}
    lines = [json.dumps(snli), json.dumps({"premise": "c", "hypothesis": "d"})]
    first, second = pairs(tmp_path / "p.jsonl", "\n".join(lines), premise=["sentence_A"])
    assert first[:2] == (f"{tmp_path}/p.jsonl, line 1", {"line": 1} | snli)
    assert first[2:] == ("a", "b", "line 1", "entailment")
    assert second[2:] == ("c", "d", "line 2", None)


def test_tabs_and_json_objects_on_standard_input() -> None:
    content = b'A man sleeps.\tHe is awake.\r\n\n {"premise": "a\\tb", "hypothesis": "c"}\n'
    first, second = read_lines(io.BytesIO(content), LAYOUT)
    fields = {"line": 1, "premise": "A man sleeps.", "hypothesis": "He is awake."}
    assert first[:2] == ("standard input, line 1", fields)
    assert second.fields == {"line": 3, "premise": "a\tb", "hypothesis": "c"}
    assert second[2:] == ("a\tb", "c", "line 3", None)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"text": "b", "premise": "a"}', "expected the columns 'premise' or 'sentence1' and 'hyp"
         "othesis' or 'sentence2'; got 'text', 'premise'"),
        (b"[1]\n", "expected a JSON object, or premise, tab, hypothesis; got 1 fields"),
        (b"{", "not JSON (Expecting property name enclosed in double quotes at column 2)"),
    ],
)  # fmt: skip
def test_lines_that_are_no_pairs(content: bytes, problem: str) -> None:
    with pytest.raises(DataError) as error:
        list(read_lines(io.BytesIO(content), LAYOUT))
    assert str(error.value) == f"standard input, line 1: {problem}"
