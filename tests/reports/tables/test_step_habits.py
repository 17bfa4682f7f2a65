from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from reports.blocks import DASH
from reports.spread import MINUS, Spread
from reports.stored.artefacts import Artefacts, load
from reports.tables.step_habits import (
    certainty_gap,
    fifth_table,
    fifths,
    habit_sentences,
    habits_note,
    label_gap,
    label_table,
    steps_by_label,
)

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


def test_what_it_says(artefacts: Artefacts) -> None:
    assert habit_sentences(artefacts, AA) == (
        "Adaptive Attention takes most steps on contradictions (6.67 ± 0.58) and fewest on "
        "entailments (3.33 ± 0.58): a clear difference. It is right in 96.0 ± 4.00 % of the fifth "
        "of the pairs with the most steps and in 56.0 ± 4.00 % of that with the fewest: more steps "
        "clearly go with more right answers (+40.00 ± 6.93 points)."
    )


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


def test_a_label_that_one_model_did_not_score(artefacts: Artefacts) -> None:
    table = artefacts.predictions
    some = table[(table["model"] != AA) | (table["label"] != N)]
    row = str(label_table(replace(artefacts, predictions=some))).splitlines()[-1]
    assert row == f"| Adaptive Attention | 3.33 ± 0.58 | {DASH} | 6.67 ± 0.58 |"


def test_one_seed_shows_nothing_clearly(one_seed: Path) -> None:
    said = habit_sentences(load(one_seed), AA)
    assert "(6.00) and fewest on entailments (3.00): not a clear difference" in said
    assert "do not clearly go with more or fewer right answers (+36.00 points)" in said


def test_only_models_that_choose_their_steps(many: Artefacts) -> None:
    for table, each in ((str(label_table(many)), 1), (str(fifth_table(many)), 5)):
        models = [line.split(" | ")[0].strip("| ") for line in table.splitlines()[2:]]
        named = ["Adaptive Attention", "Adaptive Attention, PonderNet"]
        assert models == [name for name in named for _ in range(each)]


def test_the_note_gives_the_pairs(artefacts: Artefacts) -> None:
    assert habits_note(artefacts).startswith("Steps on the 100 test pairs, within each seed")
