from pathlib import Path

from reports.blocks import DASH
from reports.spread import Spread
from reports.stored.artefacts import Artefacts, load
from reports.tables.length_and_depth import correlations, depth_sentence, depth_table
from tests.reports.conftest import Edit, Row

AA = "adaptive_attention"


def test_mean_and_sd_over_seeds_by_hand(artefacts: Artefacts) -> None:
    length, depth = correlations(artefacts, AA)
    # 0.32, 0.34, 0.36 and 0.05, 0.10, 0.15
    assert (depth.pearson, depth.seeds) == (Spread(0.34, 0.02, 3), 3)
    assert length.pearson == Spread(0.1, 0.05, 3)


def test_one_table_of_accuracy_steps_and_correlations(artefacts: Artefacts) -> None:
    table = depth_table(artefacts)
    depths = ["depth 1 (50 pairs)", "depth 2 (30 pairs)", "depth 3 (20 pairs)"]
    ends = ["Pearson's r with recorded depth", "Pearson's r with mean sentence length"]
    assert table.header == ["model", "figure", *depths, *ends]
    # depth 2 of seeds 1 to 3: 0.83, 0.80, 0.83; mean 0.82, sd sqrt(0.0003)
    accuracy, steps = table.rows[-2:]
    assert accuracy[:2] == ["Adaptive Attention", "accuracy, %"]
    assert (accuracy[3], *accuracy[5:]) == ("82.0 ± 1.73", DASH, DASH)
    taken = ["4.00 ± 0.50", "4.50 ± 0.50", "5.00 ± 0.50"]
    assert steps[1:] == ["mean steps", *taken, "+0.34 ± 0.02", "+0.10 ± 0.05"]
    assert len(table.rows) == 3  # of Decomposable Attention accuracy alone


def depth_is(edit: Edit, *values: str) -> None:
    def change(row: Row) -> Row:
        found = values[int(row["seed"]) - 1]
        own = row["steps_against"] == "depth"
        return row | {"pearson": found, "spearman": found} if own else row

    edit("evaluate/correlations.csv", change)


def test_seeds_without_a_correlation_are_counted_out(folder: Path, edit: Edit) -> None:
    depth_is(edit, "", "0.3", "0.5")
    depth = correlations(load(folder), AA)[1]
    assert (depth.seeds, depth.defined) == (3, 2)
    assert depth.pearson is not None and depth.pearson.mean == 0.4
    assert "| +0.40 ± 0.14 (2 of 3 seeds) |" in str(depth_table(load(folder)))


def test_steps_that_never_change(folder: Path, edit: Edit) -> None:
    depth_is(edit, "", "", "")
    assert depth_table(load(folder)).rows[-1][-2:] == [DASH, "+0.10 ± 0.05"]


def test_a_corpus_without_depths(folder: Path, edit: Edit) -> None:
    edit("evaluate/correlations.csv", lambda r: r if r["steps_against"] == "mean_length" else None)
    edit("evaluate/depth.csv", lambda row: None)
    assert depth_table(load(folder)).rows == [
        ["Adaptive Attention", "mean steps", DASH, "+0.10 ± 0.05"]
    ]


def test_fixed_steps_have_no_correlation(many: Artefacts) -> None:
    assert correlations(many, "adaptive_attention_fixed_steps") == []
    assert len(correlations(many, "adaptive_attention_ponder_net")) == 2


def test_a_depth_that_one_model_lacks(folder: Path, edit: Edit) -> None:
    edit(
        "evaluate/depth.csv", lambda row: None if (row["model"], row["depth"]) == (AA, "2") else row
    )
    assert depth_table(load(folder)).rows[-1][2:5] == ["4.00 ± 0.50", DASH, "5.00 ± 0.50"]


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
