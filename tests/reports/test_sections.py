"""Sections of the stored artifacts, whose figures can be worked by hand (tests/fixtures)."""

import pandas as pd
import pytest

from reports.load import Artifacts
from reports.sections import steps
from reports.sections.halting import label
from tests.reports.conftest import Sections, points, rows, table


def test_claims_have_verdicts_that_are_corrected_for_their_number(sections: Sections) -> None:
    found = {row["claim"]: row for row in rows(table(sections["Claims"], "claims"))}
    assert len(found) == 22
    first = found["Adaptive Attention minus Decomposable Attention"]
    assert first["measured on test"] == "+1.00 (−2.00 to +4.00) points"
    assert (first["verdict"], first["p"], first["p, Holm"]) == ("not significant", "0.510", "1.000")
    assert first["published, SNLI"] == "−1.10 (82.7 vs 83.8)"
    # its own interval leaves out zero; 0.025 times the 16 tests that are left does not
    classifier = found["Lexicalised Classifier minus Decomposable Attention"]
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
        *("Decomposable Attention", "Adaptive Attention", "Lexicalised Classifier")
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


def test_a_power_law_stands_next_to_what_was_measured(sections: Sections) -> None:
    whole, part, unusable = rows(
        table(sections["Accuracy by number of training pairs"], "power_laws")
    )
    assert whole["extrapolated to"] == "549,367" and whole["measured or published, %"] == "–"
    assert whole["test accuracy, % (95 % interval)"] == "89.0 (85.0 to 92.0)"
    assert part["measured or published, %"] == "72.0 ± 1.20"
    assert (whole["usable"], part["usable"], unusable["usable"]) == ("yes", "yes", "no")


def test_halting_mechanisms_show_collapse_and_targets(sections: Sections) -> None:
    found = {
        (row["mechanism"], row["setting"]): row
        for row in rows(table(sections["Halting mechanisms"], "halting"))
    }
    assert found["ACT", "ponder_weight 0.01"]["runs collapsed"] == "3 of 3"
    assert found["ACT", "ponder_weight 0.00005"]["mean steps"] == "9.00 ± 2.50"
    assert found["fixed steps", "steps 3"]["runs collapsed"] == "–"
    assert found["target steps", "target_steps 3.0"]["off its target, %"] == "+2.0"
    missed = found["target steps", "target_steps 6.0"]
    assert missed["off its target, %"] == "−5.0"
    assert missed["ponder weight at the end"] == "−0.0004"


def test_multi_hop_runs_have_steps_and_their_correlation(sections: Sections) -> None:
    section = sections["Multi-hop inference"]
    act, fixed = rows(table(section, "multihop"))
    assert act["hops 4, %"] == "92.0 ± 2.83" and fixed["hops 3, %"] == "58.0 ± 2.83"
    assert "hops 5 (not trained), %" in act
    act, fixed = rows(table(section, "multihop_steps"))
    assert act["hops 4"] == "4.10 ± 0.14"
    assert act["r of steps and hops (min to max over seeds)"] == "+0.93 (+0.91 to +0.95)"
    assert fixed["r of steps and hops (min to max over seeds)"] == "–"


def test_graves_runs_are_compared_with_the_best_without_halting(sections: Sections) -> None:
    section = sections["Graves' tasks: ACT in recurrent networks"]
    without, act, _ = rows(table(section, "graves_parity"))
    assert without["minus without halting, points"] == without["verdict"] == "–"
    assert act["minus without halting, points"] == "−36.00 ± 1.00"
    assert (
        act["verdict"] == "significantly below"
        and act["steps per nonzero entries"] == "+0.50 ± 0.10"
    )
    addition = rows(table(section, "graves_addition"))
    assert addition[2]["diverged"] == "1 of 3"
    assert addition[1]["run"] == "ACT, ponder weight 0.00005"


def test_characters_are_in_bits_and_by_class_of_byte(sections: Sections) -> None:
    section = sections["Graves' tasks: ACT in recurrent networks"]
    assert [row["bits per character"] for row in rows(table(section, "characters"))] == [
        *("3.10 ± 0.10", "3.00 ± 0.10", "3.30 ± 0.00")
    ]
    letter, digit, *_ = rows(table(section, "characters_by_class"))
    assert letter["minus letters"] == "0.00 ± 0.00" and digit["minus letters"] == "+0.20 ± 0.00"
    assert (letter["share, %"], digit["entropy, bits"]) == ("70.0", "3.10 ± 0.00")


def test_cloze_runs_are_compared_with_the_first(sections: Sections) -> None:
    section = sections["Cloze questions: adaptive computation for reading"]
    found = {row["run"]: row for row in rows(table(section, "cloze_NE"))}
    assert found["most frequent candidate"]["test accuracy, %"] == "35.0"
    assert found["one step"]["verdict"] == "–" and found["one step"]["mean steps"] == "1"
    gated = found["query gating, 6 steps"]
    assert gated["difference, points (95 % interval)"] == "+3.00 (+1.20 to +4.80)"
    assert gated["verdict"] == "significantly above"
    adaptive = found["adaptive computation, 6 steps"]
    assert adaptive["mean steps"] == "2.50 ± 0.10"
    assert adaptive["dev minus test, points"] == "+8.00 ± 2.00"
    published = rows(table(section, "cloze_published_NE"))
    assert published[0]["ours, test, %"] == "58.0 ± 1.00" and published[0]["test, %"] == "71.1"
    assert published[1]["ours, test, %"] == "–"


def test_a_traced_question_is_shown_step_by_step(sections: Sections) -> None:
    section = sections["Cloze questions: adaptive computation for reading"]
    overwritten = rows(table(section, "cloze_overwritten"))[0]
    assert overwritten["XXXXX overwritten, %"] == "2.4 ± 0.00"
    assert overwritten["difference, points"] == "−16.61 ± 0.22"
    found = table(section, "cloze_question")
    assert "Answer: Tessa; right is Tessa" in found.caption
    first, *_, last = rows(found)
    assert first["overwritten most, %"] == "Next 54.6, Mara 53.0"
    assert last["overwritten most, %"] == "–" and last["weight, %"] == "100.0"


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


def test_steps_are_by_label_and_depth(sections: Sections) -> None:
    section = sections["Steps, labels and accuracy"]
    found = {row["gold label"]: row for row in rows(table(section, "steps_by_label"))}
    assert list(found) == ["entailment", "neutral", "contradiction"]
    assert (found["entailment"]["pairs"], found["entailment"]["mean steps"]) == (
        "50",
        "3.33 ± 0.58",
    )
    plain, adaptive = rows(table(section, "steps_by_depth"))
    assert plain["depth 3: mean steps"] == plain["r of steps with recorded depth"] == "–"
    assert adaptive["r of steps with recorded depth"] == "+0.34 ± 0.02"


def test_the_chosen_configuration_leads_its_equals(sections: Sections) -> None:
    section = sections["Sweep"]
    found = rows(table(section, "configurations_adaptive_attention"))
    assert found[0]["rank"] == "1 (chosen)" and found[3]["ponder_weight"] == "0.00005"
    settings = rows(table(section, "sweep_settings"))
    weights = [row for row in settings if row["setting"] == "ponder_weight"]
    assert [row["dev accuracy, %"] for row in weights] == ["82.5 ± 0.71", "80.5 ± 0.71"]


def test_a_learning_curve_marks_the_epoch_that_dev_selected(sections: Sections) -> None:
    (first, _) = sections["Learning curves"].parts
    kept = min(first.spec["datasets"].values(), key=len)  # type: ignore[union-attr]
    assert {row["x"] for row in kept} == {4} and len(kept) == 3


def test_charts_hold_the_numbers_of_the_tables(sections: Sections) -> None:
    hops = next(p for p in sections["Halting mechanisms"].parts if p.name == "halting")
    best = max(points(hops), key=lambda row: row["y"])  # type: ignore[arg-type]
    assert (best["series"], best["y"], best["x"]) == ("supervised ACT", 74.5, 3.6)


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
