from dataclasses import replace
from pathlib import Path

from reports.blocks import DASH
from reports.stored.artefacts import Artefacts, load
from reports.tables.length_and_depth import depth_models, depth_note, depth_sentence, depth_table
from tests.reports.conftest import Edit, Row

AA = "adaptive_attention"


def test_table(artefacts: Artefacts) -> None:
    header, _, *rows = str(depth_table(artefacts)).splitlines()
    assert header.startswith("| model | figure | depth 1 (50 pairs) | depth 2 (30 pairs) |")
    assert rows == [
        "| Decomposable Attention | accuracy, % | 84.0 ± 1.00 | 81.0 ± 1.00 | 78.0 ± 1.00 |",
        "| Adaptive Attention | accuracy, % | 85.0 ± 1.73 | 82.0 ± 1.73 | 79.0 ± 1.73 |",
        "| Adaptive Attention | mean steps | 4.00 ± 0.50 | 4.50 ± 0.50 | 5.00 ± 0.50 |",
    ]


def test_a_depth_that_one_model_lacks(folder: Path, edit: Edit) -> None:
    edit(
        "evaluate/depth.csv", lambda row: None if (row["model"], row["depth"]) == (AA, "2") else row
    )
    rows = str(depth_table(load(folder))).splitlines()
    assert rows[-1] == f"| Adaptive Attention | mean steps | 4.00 ± 0.50 | {DASH} | 5.00 ± 0.50 |"


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


def test_what_depth_counts(artefacts: Artefacts) -> None:
    def note(source: str) -> str:
        return depth_note(replace(artefacts, corpus={"source": source}))

    assert "side by side" in note("captions") and "steps need not grow" in note("captions")
    assert "one after another" in note("chains") and "takes more steps" in note("chains")
    assert note("snli") == ""


def test_one_seed_shows_nothing_clearly(one_seed: Path) -> None:
    sentence = depth_sentence(load(one_seed), AA)
    assert "does not clearly" in sentence and "n = 1, no spread" in sentence


def test_a_corpus_that_records_no_depth(folder: Path, edit: Edit) -> None:
    edit("evaluate/depth.csv", lambda row: None)
    assert depth_models(load(folder)) == ()
