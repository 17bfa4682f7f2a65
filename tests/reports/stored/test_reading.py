from pathlib import Path

import pytest

from actmodels.errors import ArtefactError
from reports.stored.reading import (
    Source,
    coefficient,
    flag,
    name,
    number,
    optional_number,
    read_json,
    read_table,
    share,
    whole,
)

COLUMNS = {"model": name, "seed": whole, "accuracy": share, "loss": number}
GOOD = "model,seed,accuracy,loss,other\na,1,0.1,-1.5,x\nb,2,1,3e-05,\n"


def source(tmp_path: Path, content: str | bytes) -> Source:
    path = tmp_path / "artefacts" / "evaluate" / "results.csv"
    path.parent.mkdir(parents=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Source(tmp_path / "artefacts", "evaluate", "results.csv")


def test_cells_have_their_kinds_and_other_columns_stay_text(tmp_path: Path) -> None:
    table = read_table(source(tmp_path, GOOD), COLUMNS)
    assert table.to_dict("list") == {
        "model": ["a", "b"],
        "seed": [1, 2],
        "accuracy": [0.1, 1.0],
        "loss": [-1.5, 3e-05],
        "other": ["x", ""],
    }


def test_floats_come_back_to_the_last_bit(tmp_path: Path) -> None:
    values = [0.1 + 0.2, 1 / 3, 2 / 3 + 1e-16, 5e-324]
    text = "loss\n" + "".join(f"{value!r}\n" for value in values)
    assert list(read_table(source(tmp_path, text), {"loss": number})["loss"]) == values


def test_an_empty_cell_is_a_missing_number(tmp_path: Path) -> None:
    table = read_table(source(tmp_path, "a,steps\n1,\n2,3.5\n"), {"steps": optional_number})
    assert table["steps"].isna().tolist() == [True, False]


def test_a_correlation_may_be_undefined(tmp_path: Path) -> None:
    cells = source(tmp_path, "a,r\n1,\n2,-0.25\n3,1.0000000000000002\n")
    table = read_table(cells, {"r": coefficient})
    assert table["r"].isna().tolist() == [True, False, False]


@pytest.mark.parametrize("cell", ["1.01", "-1.01", "nan", "x"])
def test_a_correlation_beyond_its_range(tmp_path: Path, cell: str) -> None:
    with pytest.raises(ArtefactError, match=f"line 2: r is '{cell}'; must be a number between -1"):
        read_table(source(tmp_path, f"r\n{cell}\n"), {"r": coefficient})


def test_flags(tmp_path: Path) -> None:
    table = read_table(source(tmp_path, "a\nTrue\nFalse\n"), {"a": flag})
    assert table["a"].tolist() == [True, False]


def test_a_header_alone_is_an_empty_table(tmp_path: Path) -> None:
    table = read_table(source(tmp_path, "model,seed,accuracy,loss\n"), COLUMNS)
    assert table.empty and list(table.columns) == list(COLUMNS)


def test_a_missing_file_names_the_stage_that_makes_it(tmp_path: Path) -> None:
    missing = Source(tmp_path / "artefacts", "evaluate", "results.csv")
    wording = r"^artefacts/evaluate/results\.csv is missing; run: dvc repro evaluate$"
    with pytest.raises(ArtefactError, match=wording):
        read_table(missing, COLUMNS)
    with pytest.raises(ArtefactError, match=wording):
        read_json(missing)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "line 1: has no column model, seed, accuracy, loss"),
        (GOOD.replace("seed", "sed", 1), "line 1: has no column seed"),
        (GOOD.replace("b,2", "b,two"), "line 3: seed is 'two'; must be a whole number"),
        (GOOD.replace(",1,3e", ",83.8,3e"), "line 3: accuracy is '83.8'; must be a number between"),
        (GOOD.replace("0.1", ""), "line 2: accuracy is ''; must be a number between 0 and 1"),
        (GOOD.replace("0.1", "nan"), "line 2: accuracy is 'nan'; must be a number between"),
        (GOOD.replace("-1.5", "x"), "line 2: loss is 'x'; must be a number;"),
        (GOOD.replace("\na,", "\n,"), "line 2: model is ''; must be a name"),
        (GOOD + "c,3,0.5\n", "line 4: has 3 cells where the header has 5"),
    ],
)
def test_a_damaged_table_names_file_line_and_stage(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ArtefactError) as caught:
        read_table(source(tmp_path, text), COLUMNS)
    message = str(caught.value)
    assert message.startswith(f"artefacts/evaluate/results.csv, {problem}")
    assert message.endswith("; run: dvc repro -f -s evaluate")


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match=r"results\.csv: is not UTF-8 text; run: dvc repro"):
        read_table(source(tmp_path, b"\xff\xfe"), COLUMNS)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1,\n "b" 2}', r"results\.csv, line 2: is not JSON \(Expecting ':' delimiter\)"),
        ("[1]", r"results\.csv: must be a mapping"),
        ('{"a": 1}', r"results\.csv: has no key b, c; run: dvc repro -f -s evaluate"),
    ],
)
def test_a_damaged_document(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ArtefactError, match=problem):
        read_json(source(tmp_path, text), ("a", "b", "c"))
