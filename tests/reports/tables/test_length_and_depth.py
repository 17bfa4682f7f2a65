from dataclasses import replace
from pathlib import Path

from reports.blocks import DASH
from reports.spread import MINUS, Spread
from reports.stored.artefacts import Artefacts, load
from reports.tables.length_and_depth import (
    correlation_sentence,
    correlation_table,
    correlations,
    depth_note,
    depth_sentence,
    depth_table,
    joint_counts,
)
from tests.reports.conftest import Edit, Row

AA = "adaptive_attention"


def test_mean_and_sd_over_seeds_by_hand(artefacts: Artefacts) -> None:
    length, depth = correlations(artefacts, AA)
    # 0.32, 0.34, 0.36 and 0.05, 0.10, 0.15
    assert (depth.pearson, depth.seeds) == (Spread(0.34, 0.02, 3), 3)
    assert length.pearson == Spread(0.1, 0.05, 3)
    row = "| Adaptive Attention | recorded depth | 3 | +0.34 ± 0.02 | +0.32 ± 0.02 |"
    assert row in str(correlation_table(artefacts))


def depth_is(edit: Edit, *values: str) -> None:
    def change(row: Row) -> Row:
        found = values[int(row["seed"]) - 1]
        own = row["steps_against"] == "depth"
        return row | {"pearson": found, "spearman": found} if own else row

    edit("evaluate/correlations.csv", change)


def test_steps_that_shrink(folder: Path, edit: Edit) -> None:
    depth_is(edit, "-0.2", "-0.3", "-0.4")
    said = f"and shrink with recorded depth (Pearson's r {MINUS}0.30 ± 0.10"
    assert said in correlation_sentence(load(folder), AA)


def test_steps_that_follow_nothing(folder: Path, edit: Edit) -> None:
    depth_is(edit, "-0.1", "0.0", "0.1")
    said = "and do not clearly follow recorded depth (Pearson's r 0.00 ± 0.10"
    assert said in correlation_sentence(load(folder), AA)


def test_seeds_without_a_correlation_are_counted_out(folder: Path, edit: Edit) -> None:
    depth_is(edit, "", "0.3", "0.5")
    depth = correlations(load(folder), AA)[1]
    assert (depth.seeds, depth.defined) == (3, 2)
    assert depth.pearson is not None and depth.pearson.mean == 0.4
    assert "| 3 (2 defined) | +0.40 ± 0.14 |" in str(correlation_table(load(folder)))


def test_steps_that_never_change(folder: Path, edit: Edit) -> None:
    depth_is(edit, "", "", "")
    artefacts = load(folder)
    assert f"| 3 (0 defined) | {DASH} | {DASH} |" in str(correlation_table(artefacts))
    said = "and are the same for every pair, whatever its recorded depth."
    assert said in correlation_sentence(artefacts, AA)


def test_a_corpus_without_depths(folder: Path, edit: Edit) -> None:
    edit("evaluate/correlations.csv", lambda r: r if r["steps_against"] == "mean_length" else None)
    text = correlation_sentence(load(folder), AA)
    assert text.startswith("Adaptive Attention: steps do not clearly follow mean sentence length (")
    assert text.endswith(" The corpus records no depth.")


def test_fixed_steps_have_no_correlation(many: Artefacts) -> None:
    assert correlations(many, "adaptive_attention_fixed_steps") == []
    assert len(correlations(many, "adaptive_attention_ponder_net")) == 2


def test_counts_of_all_seeds(artefacts: Artefacts) -> None:
    counts = joint_counts(artefacts, AA)
    assert counts.to_numpy().sum() == 300
    # 4, 5 and 4.5 steps: 25 pairs take two with the first seed and 25 with the third
    assert counts.sum(axis=1).loc[2] == 50
    # of each 25: 12 at 8 tokens, 5 at 9.5 and 8 at 7
    assert counts.loc[2].to_dict() == {7: 16, 8: 24, 9: 10, 10: 0, 11: 0, 12: 0}


def test_lengths_that_do_not_occur_have_a_place(folder: Path, edit: Edit) -> None:
    def apart(row: Row) -> Row:
        return row | {"mean_length": "20.5" if row["mean_length"] == "12.0" else row["mean_length"]}

    edit("evaluate/lengths.csv", apart)
    counts = joint_counts(load(folder), AA)
    assert list(counts.columns) == list(range(7, 21))
    assert counts[15].sum() == 0


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
