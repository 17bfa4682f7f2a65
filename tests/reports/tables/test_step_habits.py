from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from reports.blocks import DASH
from reports.spread import MINUS, Spread
from reports.stored.artefacts import Artefacts
from reports.stored.traces import Examples, read_examples
from reports.tables.step_habits import (
    certainty_gap,
    examples_metrics,
    examples_sentence,
    examples_table,
    fifth_table,
    fifths,
    habit_sentences,
    label_gap,
    label_table,
    steps_by_label,
)
from tests.reports.write_traces import PAIRS, line, write_traces

AA = "adaptive_attention"
E, N, C = "entailment", "neutral", "contradiction"
Scored = tuple[int, str, bool, int]  # of one pair: seed, gold label, right, steps


def scored(artefacts: Artefacts, pairs: Iterable[Scored]) -> Artefacts:
    """The same artefacts, but for other answers on the test pairs."""
    rows = [
        (AA, seed, f"{at}", label, label if right else {E: N}.get(label, E), float(steps))
        for at, (seed, label, right, steps) in enumerate(pairs)
    ]
    return replace(
        artefacts, predictions=pd.DataFrame(rows, columns=list(artefacts.predictions.columns))
    )


def test_steps_by_label_by_hand(artefacts: Artefacts) -> None:
    found = steps_by_label(artefacts, AA)
    assert list(found) == [E, N, C]
    # entailments are the 25 pairs with the fewest steps and the next 25: 2 and 4, 3 and 5, 2 and 4
    assert found[E].to_dict() == {1: 3.0, 2: 4.0, 3: 3.0}
    assert found[C].to_dict() == {1: 6.0, 2: 7.0, 3: 7.0}
    assert label_gap(artefacts, AA) == Spread.of([3.0, 3.0, 4.0])
    header, _, row = str(label_table(artefacts)).splitlines()
    assert header == (
        "| model | steps on entailments (50 pairs) | steps on neutral pairs (25 pairs) | steps on "
        "contradictions (25 pairs) |"
    )
    assert row == "| Adaptive Attention | 3.33 ± 0.58 | 4.67 ± 0.58 | 6.67 ± 0.58 |"


def test_fifths_by_hand(artefacts: Artefacts) -> None:
    found = fifths(artefacts, AA)
    # 20 of the 25 pairs with the fewest steps, of which 10, 11 and 12 are wrong
    assert list(found["fewest"]["right"]) == pytest.approx([0.6, 0.56, 0.52])
    # 5 of these, and 15 of those with the next steps: 50, 50 and 25, of which 6, 7 and 3 are wrong
    assert list(found["second"]["right"]) == pytest.approx([0.81, 0.785, 0.79])
    assert list(found["second"]["steps"]) == pytest.approx([3.5, 4.5, 3.5])
    # of the 50 half are entailments, of the 25 all
    assert list(found["second"][E]) == pytest.approx([0.625, 0.625, 1.0])
    assert certainty_gap(artefacts, AA).mean == pytest.approx(0.4)
    rows = str(fifth_table(artefacts)).splitlines()
    assert rows[3] == ("| Adaptive Attention | second | 3.83 ± 0.58 | 79.5 ± 1.32 | 75 | 25 | 0 |")


def test_the_fifths_together_are_all_pairs(artefacts: Artefacts) -> None:
    # 7 pairs: a border runs through every pair but the first and the last
    steps = [1, 1, 2, 3, 5, 5, 9]
    found = fifths(scored(artefacts, [(1, E, at % 2 == 0, n) for at, n in enumerate(steps)]), AA)
    assert sum(part["steps"][1] for part in found.values()) / 5 == pytest.approx(26 / 7)
    assert sum(part["right"][1] for part in found.values()) / 5 == pytest.approx(4 / 7)
    # the last fifth is the pair of 9 steps and two fifths of one of 5
    assert found["most"]["steps"][1] == pytest.approx((9 + 0.4 * 5) / 1.4)


def test_steps_that_go_with_wrong_answers(artefacts: Artefacts) -> None:
    # of five pairs in each of two seeds those with most steps are wrong
    pairs = [(seed, label, n < 4, n) for seed in (1, 2) for label in (N, E) for n in (1, 2, 3, 4)]
    said = habit_sentences(scored(artefacts, pairs), AA)
    assert "right in 0.0 ± 0.00 % of the fifth" in said
    assert f"clearly go with fewer right answers ({MINUS}100.00 ± 0.00 points)." in said


def test_seeds_that_differ_show_nothing_clearly(artefacts: Artefacts) -> None:
    # seed 1: more steps on neutral pairs, and right there; seed 2: less so, and wrong there
    pairs = [(1, N, True, 4), (1, E, False, 1), (2, N, False, 3), (2, E, True, 2)]
    said = habit_sentences(scored(artefacts, pairs), AA)
    assert "most steps on neutral pairs (3.50 ± 0.71) and fewest on entailments (1.50" in said
    assert "): not a clear difference. It" in said
    assert "do not clearly go with more or fewer right answers (0.00 ± 141.42 points)" in said


def test_steps_that_never_change(artefacts: Artefacts) -> None:
    pairs = [(seed, label, True, seed) for seed in (1, 2) for label in (E, N, C)]
    said = habit_sentences(scored(artefacts, pairs), AA)
    assert said == "Adaptive Attention takes the same number of steps for every pair."


def test_a_label_that_does_not_occur(artefacts: Artefacts) -> None:
    found = scored(artefacts, [(1, E, True, 1), (1, N, True, 2)])
    assert label_gap(found, AA) is None
    assert "contradictions" not in str(label_table(found))


def test_only_models_that_choose_their_steps(many: Artefacts) -> None:
    for table, each in ((str(label_table(many)), 1), (str(fifth_table(many)), 5)):
        models = [line.split(" | ")[0].strip("| ") for line in table.splitlines()[2:]]
        named = ["Adaptive Attention", "Adaptive Attention, PonderNet"]
        assert models == [name for name in named for _ in range(each)]


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


def test_a_label_that_one_model_did_not_score(artefacts: Artefacts) -> None:
    table = artefacts.predictions
    some = table[(table["model"] != AA) | (table["label"] != N)]
    row = str(label_table(replace(artefacts, predictions=some))).splitlines()[-1]
    assert row == f"| Adaptive Attention | 3.33 ± 0.58 | {DASH} | 6.67 ± 0.58 |"
