from pathlib import Path

from reports.artefacts import Artefacts, load
from reports.depth import depth_models, depth_sentence, depth_table
from tests.reports.conftest import Edit, Row

AA = "adaptive_attention"


def test_table(artefacts: Artefacts) -> None:
    rows = depth_table(artefacts).splitlines()[2:]
    assert rows[0] == "| 1 | 50 | 84.0 ± 1.00 | 85.0 ± 1.73 | 4.00 ± 0.50 |"
    assert len(rows) == 3


def test_more_steps_on_deeper_pairs(artefacts: Artefacts) -> None:
    assert "takes more steps on the deepest" in depth_sentence(artefacts, AA)
    assert depth_sentence(artefacts, "decomposable_attention") == ""


def test_steps_that_do_not_follow_depth(folder: Path, edit: Edit) -> None:
    edit("evaluate/depth.csv", lambda row: row | {"mean_steps": row["mean_steps"] and "3.0"})
    assert "does not clearly take more steps" in depth_sentence(load(folder), AA)


def test_fewer_steps_are_said_to_be_fewer(folder: Path, edit: Edit) -> None:
    def reverse(row: Row) -> Row:
        return row | {"depth": str(4 - int(row["depth"]))}

    edit("evaluate/depth.csv", reverse)
    assert "takes fewer steps" in depth_sentence(load(folder), AA)


def test_one_seed_shows_nothing_clearly(one_seed: Path) -> None:
    sentence = depth_sentence(load(one_seed), AA)
    assert "does not clearly" in sentence and "n = 1, no spread" in sentence


def test_a_corpus_that_records_no_depth(folder: Path, edit: Edit) -> None:
    edit("evaluate/depth.csv", lambda row: None)
    assert depth_models(load(folder)) == ()
