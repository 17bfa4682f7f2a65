"""Read pairs from files and standard input; errors name file, line and key."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import ConfigError, DataError
from pipeline.inference.input_pairs import InputPair, Layout, read_file, read_lines
from pipeline.parameters.labels import NLI, ClassReader
from pipeline.predict import with_options
from tests.pipeline.project import make_zip, params_tree

FILES = params_tree()["corpus"]["files"]
LAYOUT = Layout(FILES["columns"], FILES["labels"], [*NLI], None)


def classes() -> ClassReader:
    return ClassReader(NLI, FILES["labels"])


def pairs(path: Path, content: str, **columns: list[str]) -> list[InputPair]:
    path.write_text(content)
    layout = LAYOUT._replace(columns=LAYOUT.columns | columns)
    return list(read_file(str(path), layout, classes()))


def test_a_pair_has_its_id_or_its_line(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    (pair,) = pairs(path, "pairID,premise,hypothesis\n7,a,b\n")
    assert (pair.name, list(pair.fields)) == ("7", ["pairID", "premise", "hypothesis"])
    (pair,) = pairs(path, "id,premise,hypothesis\n,a,b\n")
    assert (pair.name, pair.fields["line"], pair.fields["id"]) == ("line 2", 2, "")
    (pair,) = pairs(path, 'premise,hypothesis\n"a\n",b\n')
    assert (pair.name, list(pair.fields)) == ("line 2", ["line", "premise", "hypothesis"])


def test_columns_and_labels_of_the_training_files(tmp_path: Path) -> None:
    names = {"premise": ["sentence_A"], "hypothesis": ["sentence_B"], "label": ["judgment"]}
    rows = "sentence_A\tsentence_B\tjudgment\na\tb\tNEUTRAL\nc\td\t?\ne\tf\t-\n"
    archive = make_zip(tmp_path / "sick.zip", {"sick.txt": rows.encode(), "readme.txt": b"x"})
    layout = LAYOUT._replace(columns=LAYOUT.columns | names)
    sick = list(read_file(f"{archive}::sick*", layout, classes()))
    assert [pair[2:4] for pair in sick] == [("a", "b"), ("c", "d"), ("e", "f")]
    assert [pair.label for pair in sick] == ["neutral", "?", None]
    with pytest.raises(
        DataError, match=r"^FILE: .* has the files sick\.txt, readme\.txt; name one"
    ):
        list(read_file(str(archive), layout, classes()))
    snli: dict[str, Any] = {"sentence2": "b", "gold_label": 0, "sentence1": "a"}
    lines = [json.dumps(snli), json.dumps({"premise": "c", "hypothesis": "d"})]
    first, second = pairs(tmp_path / "p.jsonl", "\n".join(lines), premise=["sentence_A"])
    assert first[:2] == (f"{tmp_path}/p.jsonl, line 1", {"line": 1} | snli)
    assert first[2:] == ("a", "b", "line 1", "entailment", None)
    assert second[2:] == ("c", "d", "line 2", None, None)


def test_tabs_and_json_objects_on_standard_input() -> None:
    content = b"premise\thypothesis\n"
    content += b'A man sleeps.\tHe is awake.\r\n\n {"premise": "a\\tb", "hypothesis": "c"}\n'
    first, second = read_lines(io.BytesIO(content), LAYOUT, classes())
    fields = {"line": 2, "premise": "A man sleeps.", "hypothesis": "He is awake."}
    assert first[:2] == ("standard input, line 2", fields)
    assert second.fields == {"line": 4, "premise": "a\tb", "hypothesis": "c"}
    assert second[2:] == ("a\tb", "c", "line 4", None, None)


@pytest.mark.parametrize(
    ("header", "row", "label"),
    [
        ("Premise\tHypothesis", "a\tb", None),
        ("hypothesis\tpremise\tlabel", "b\ta\t0", "entailment"),
        ("sentence1\tsentence2", "a\tb", None),
    ],
)
def test_a_header_on_standard_input(header: str, row: str, label: str | None) -> None:
    (pair,) = read_lines(io.BytesIO(f"{header}\n{row}\n".encode()), LAYOUT, classes())
    assert (pair.premise, pair.hypothesis, pair.label) == ("a", "b", label)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (b"[1]", "expected a JSON object, or premise, tab, hypothesis; got 1 fields"),
        (b"{", "not JSON (Expecting property name enclosed in double quotes at column 1)"),
        (b"a\xff\tb", "standard input, line 1: not UTF-8"),
        (b'{"premise": "a"}', "expected the columns 'premise' or 'sentence1'"),
    ],
)
def test_a_bad_first_line_is_refused(bad: bytes, problem: str) -> None:
    first, good = read_lines(io.BytesIO(bad + b"\na\tb\n"), LAYOUT, classes())
    assert (first.where, first.name) == ("standard input, line 1", "line 1")
    assert first.refusal and (first.refusal.startswith(problem) or "not UTF-8" in first.refusal)
    assert (good.premise, good.hypothesis, good.refusal) == ("a", "b", None)


def test_an_unknown_label_is_kept(tmp_path: Path) -> None:
    (pair,) = pairs(tmp_path / "p.jsonl", '{"premise": "a", "hypothesis": "b", "label": "4.5"}')
    assert (pair.premise, pair.refusal, pair.label) == ("a", None, "4.5")


def test_other_columns_are_named_by_option() -> None:
    content = b'{"text": "b", "premise": "a"}'
    with pytest.raises(DataError) as error:
        list(read_lines(io.BytesIO(content), LAYOUT, classes()))
    assert str(error.value) == (
        "standard input, line 1: expected the columns 'premise' or 'sentence1' and 'hypothesis' or "
        "'sentence2'; got 'text', 'premise'; name yours: --column premise=NAME --column "
        "hypothesis=NAME"
    )
    layout = with_options(LAYOUT, ["hypothesis=text", "label=a=b"], ["yes=entailment", "no=-"])
    assert (layout.columns["label"], layout.labels["yes"]) == (["a=b"], "entailment")
    odd = with_options(LAYOUT._replace(classes=["x", "x = 1"]), [], ["foo=x = 1"])
    assert odd.labels["foo"] == "x = 1"
    assert next(read_lines(io.BytesIO(content), layout, classes()))[2:4] == ("a", "b")
    for options in ((["word=x"], []), (["premise="], []), ([], ["x=maybe"]), ([], ["=neutral"])):
        with pytest.raises(ConfigError, match=r"' is not (PART=NAME|LABEL=CLASS), with a "):
            with_options(LAYOUT, *options)
