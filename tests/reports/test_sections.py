"""Sections of the stored artifacts; all printed cells are in the stored report, see test_render."""

from pathlib import Path

import pandas as pd
import pytest

from reports.load import Artifacts, load
from reports.sections import steps
from reports.sections.halting import label
from reports.sections.table_1 import accuracy_chart
from tests.reports.conftest import Sections, edit, points, rows, table


def test_claims_have_verdicts_that_are_corrected_for_their_number(sections: Sections) -> None:
    found = {row["claim"]: row for row in rows(table(sections["Claims"], "claims"))}
    assert len(found) == 22
    first = found["Adaptive Attention minus Decomposable Attention"]
    assert first["measured on test"] == "+1.00 (−2.00 to +4.00) points"
    assert (first["verdict"], first["p"], first["p, Holm"]) == ("not significant", "0.510", "1.000")
    assert first["published, SNLI"] == "−1.10 (82.7 vs 83.8)"
    # its own interval leaves out zero; 0.025 times the 16 tests that are left does not
    classifier = found["Lexical Baseline minus Decomposable Attention"]
    assert (classifier["verdict"], classifier["p"]) == ("not significant", "0.025")
    converged = found["Decomposable Attention: converged minus corrected"]
    assert converged["verdict"] == "significantly above"
    published = found["Decomposable Attention: as published minus corrected"]
    assert (published["verdict"], published["pairs"]) == ("significantly below", "96")
    labels = found["Adaptive Attention: steps on contradictions minus on entailments"]
    assert labels["measured on test"] == "+3.33 ± 0.58 steps" and labels["pairs"] == "–"
    assert found["Adaptive Attention: adaptive halting minus state after 8 steps"]["p"] == "0.225"


def test_table_1_has_ours_first_and_the_published_folded(sections: Sections) -> None:
    section = sections["Table 1: test accuracy"]
    ours, published = section.parts[0], table(section, "published")
    assert [row["system"] for row in rows(ours)] == [
        *("Decomposable Attention", "Adaptive Attention", "Lexical Baseline")
    ]
    adaptive = rows(ours)[1]
    assert adaptive["test accuracy, %"] == "82.0 ± 1.73" and adaptive["mean steps"] == "4.50 ± 0.50"
    assert adaptive["sampling error, points"] == "3.84"  # √(0.82 · 0.18 / 100)
    assert rows(ours)[2]["test accuracy, %"] == "73.0"
    assert published.folded and len(published.rows) == 26
    assert "not comparable" in published.caption


def test_the_ablation_takes_differences_seed_by_seed(sections: Sections) -> None:
    found = {
        (row["reading"], row["k"]): row
        for row in rows(table(sections["Fixed vs adaptive steps"], "ablation"))
    }
    assert found["state after k steps", "2"]["adaptive minus this, points"] == "+11.00 ± 2.00"
    assert found["halting capped at k steps", "8"]["adaptive minus this, points"] == "−0.33 ± 0.58"
    assert found["state after k steps", "4"]["paper, SNLI test, %"] == "81.7"
    own = found["adaptive halting", "–"]
    assert own["test accuracy, %"] == "82.0 ± 1.73" and own["mean steps"] == "4.50 ± 0.50"
    assert len(found) == 7  # what was measured on dev alone is in the file
    assert len(table(sections["Fixed vs adaptive steps"], "ablation").frame) == 41


def test_a_share_of_the_gap_is_of_what_the_whole_loses(sections: Sections) -> None:
    found = rows(table(sections["Deviations of the 2016 code"], "fidelity"))
    shares = {row["variant"]: row["share of the gap, %"] for row in found[:12]}
    assert shares["scrambled"] == "62"  # -2.5 of -4.0
    assert shares["dropped batches"] == "−2" and shares["as published"] == "100"
    assert shares["corrected"] == shares["unit vectors"] == "–"
    # Adaptive Attention loses nothing significantly, so nothing is a share of it
    assert {row["share of the gap, %"] for row in found[12:]} == {"–"}
    assert found[1]["verdict (Holm)"] == "significantly below"


def test_equal_steps_count_in_part_on_both_sides_of_a_border(
    stored: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    # of ten pairs eight take 2 steps, of which six are right; two take 5, both right
    right = [1.0] * 6 + [0.0] * 2 + [1.0] * 2
    frame = pd.DataFrame(
        {"seed": 1, "steps": [2] * 8 + [5] * 2, "label": "neutral", "right": right}
    )
    monkeypatch.setattr(steps, "predictions", lambda data, model: frame)
    found = steps.quintiles(stored, "any").set_index("quintile")
    assert found["right"].round(9).tolist() == [0.75, 0.75, 0.75, 0.75, 1.0]
    assert found["steps"].tolist() == [2.0, 2.0, 2.0, 2.0, 5.0]
    assert found["neutral"].round(9).tolist() == [1.0] * 5


def test_a_learning_curve_marks_the_epoch_that_dev_selected(sections: Sections) -> None:
    (first, _) = sections["Learning curves"].parts
    kept = min(first.spec["datasets"].values(), key=len)  # type: ignore[union-attr]
    assert {row["x"] for row in kept} == {4} and len(kept) == 3


def test_charts_hold_the_numbers_of_the_tables(sections: Sections) -> None:
    hops = next(p for p in sections["Halting mechanisms"].parts if p.name == "halting")
    best = max(points(hops), key=lambda row: row["y"])  # type: ignore[arg-type]
    assert (best["series"], best["y"], best["x"]) == ("supervised ACT", 74.5, 3.6)


def test_an_interval_of_accuracy_ends_where_accuracies_end(folder: Path) -> None:
    accuracies = {"1": "0.99", "2": "0.93", "3": "1.0"}  # 97.3 ± 9.4 by Student's t
    change = lambda f: f.assign(test_accuracy=f["seed"].map(accuracies))  # noqa: E731
    edit(folder, "evaluate/results", change)
    first, *_ = points(accuracy_chart(load(folder)))
    assert (first["x"], first["high"]) == (97.333, 100) and first["low"] == 87.929


def test_times_of_a_run_are_apart_from_its_results(sections: Sections) -> None:
    apart = [title for title, section in sections.items() if section.of_run]
    assert apart == ["Timings and machine"]
    found = {row["property"]: row for row in rows(table(sections[apart[0]], "environments"))}
    assert found["wall time"]["sweep"] == "12 min 5 s" and found["of them reused"]["sweep"] == "2"


@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ("ponder_weight 5e-05", "ponder_weight 0.00005"),
        ("steps 3", "steps 3"),
        ("as set", "as set"),
    ],
)
def test_settings_of_a_point_are_printed_as_written(point: str, expected: str) -> None:
    assert label(point) == expected
