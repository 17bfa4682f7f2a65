"""What the report says about traced pairs, against counts made by hand."""

from pathlib import Path

import pytest

from reports.stored.traces import Examples, read_examples
from reports.tables.step_habits import (
    examples_metrics,
    examples_note,
    examples_sentence,
    examples_table,
)
from tests.reports.write_traces import PAIRS, line, write_traces


@pytest.fixture
def examples(tmp_path: Path) -> Examples:
    """Eight pairs of seed 1, and the first two of them as seed 2 saw them."""
    lines = [*(line(pair) for pair in PAIRS), *(line(pair, seed=2) for pair in PAIRS[:2])]
    write_traces(tmp_path, lines)
    return read_examples(tmp_path)


def test_the_table_has_counts_and_shares(examples: Examples) -> None:
    head, _, first, second = str(examples_table(examples)).splitlines()
    assert head == (
        "| model | seed | pairs | right after step 1 | right answers | corrected | spoiled | "
        "right throughout | wrong throughout | changed in between |"
    )
    assert first == (
        "| Adaptive Attention | 1 | 8 | 4 (50.0 %) | 5 (62.5 %) | 2 (25.0 %) | 1 (12.5 %) | "
        "2 (25.0 %) | 2 (25.0 %) | 1 (12.5 %) |"
    )
    assert second == (
        "| Adaptive Attention | 2 | 2 | 1 (50.0 %) | 1 (50.0 %) | 1 (50.0 %) | 1 (50.0 %) | "
        "0 (0.0 %) | 0 (0.0 %) | 0 (0.0 %) |"
    )


def test_the_sentence_says_what_was_gained_and_where_it_came_from(examples: Examples) -> None:
    assert examples_sentence(examples) == (
        "Adaptive Attention, seed 1: of 8 traced pairs the state after step 1 by itself "
        "classifies 50.0 % rightly, all steps together 62.5 % (+12.50 points): more steps "
        "corrected 2 (25.0 %) and spoiled 1 (12.5 %). "
        "Adaptive Attention, seed 2: of 2 traced pairs the state after step 1 by itself "
        "classifies 50.0 % rightly, all steps together 50.0 % (0.00 points): more steps "
        "corrected 1 (50.0 %) and spoiled 1 (50.0 %)."
    )


def test_every_column_of_the_table_is_explained() -> None:
    note = examples_note().lower()
    for word in ("step 1", "corrected", "spoiled", "throughout", "changed in between"):
        assert word in note


def test_metrics_are_the_shares_of_the_table(examples: Examples) -> None:
    flat = examples_metrics(examples)
    place = "trace.adaptive_attention.seed_1"
    assert flat[f"{place}.pairs"] == 8
    assert flat[f"{place}.right_after_step_1"] == 0.5
    assert flat[f"{place}.right"] == 0.625
    assert flat[f"{place}.corrected"] == 0.25
    assert flat[f"{place}.spoiled"] == 0.125
    assert flat["trace.adaptive_attention.seed_2.changed_in_between"] == 0
    assert len(flat) == 16


def test_nothing_traced_is_nothing_said(tmp_path: Path) -> None:
    write_traces(tmp_path, [])
    nothing = read_examples(tmp_path)
    assert (examples_sentence(nothing), examples_metrics(nothing)) == ("", {})
