from pathlib import Path

import pytest

from actmodels.errors import ArtefactError
from reports.stored.reading import read_json, read_lines, read_table

COLUMNS = {"model": "object", "seed": "int64", "accuracy": "float64", "right": "bool"}
GOOD = "model,seed,accuracy,right,other\na,1,0.1,True,1\nnan,2,,False,\n"
PLACE = "evaluate/results.csv"


def root(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "artefacts" / PLACE
    path.parent.mkdir(parents=True)
    path.write_text(content)
    return tmp_path / "artefacts"


def test_cells_have_their_types_and_other_columns_stay_text(tmp_path: Path) -> None:
    table = read_table(root(tmp_path, GOOD), PLACE, COLUMNS)
    assert table["accuracy"].isna().tolist() == [False, True]
    assert table.drop(columns="accuracy").to_dict("list") == {
        "model": ["a", "nan"],
        "seed": [1, 2],
        "right": [True, False],
        "other": ["1", ""],
    }


def test_floats_come_back_to_the_last_bit(tmp_path: Path) -> None:
    values = [0.1 + 0.2, 1 / 3, 2 / 3 + 1e-16, 5e-324]
    text = "loss\n" + "".join(f"{value!r}\n" for value in values)
    assert list(read_table(root(tmp_path, text), PLACE, {"loss": "float64"})["loss"]) == values


def test_a_header_alone_is_an_empty_table(tmp_path: Path) -> None:
    table = read_table(root(tmp_path, "model,seed,accuracy,right\n"), PLACE, COLUMNS)
    assert table.empty and dict(table.dtypes) == COLUMNS


def test_what_is_missing_names_the_stage_that_makes_it(tmp_path: Path) -> None:
    folder = tmp_path / "artefacts"
    wording = r"^artefacts/evaluate/results\.csv is missing; run: dvc repro evaluate$"
    with pytest.raises(ArtefactError, match=wording):
        read_table(folder, PLACE, COLUMNS)
    with pytest.raises(ArtefactError, match=wording):
        read_json(folder, PLACE)
    with pytest.raises(ArtefactError, match=wording):
        read_lines(folder, PLACE)
    wording = r"^artefacts/evaluate/results\.csv has no column accuracy; run: dvc repro -f -s eval"
    with pytest.raises(ArtefactError, match=wording):
        read_table(root(tmp_path, "model,seed,right\n"), PLACE, COLUMNS)
