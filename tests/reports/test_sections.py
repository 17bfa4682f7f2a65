"""Sections of the fixture artifacts; test_render compares all printed cells."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reports.blocks import Report
from reports.load import Artifacts
from reports.marks import parallel
from reports.sections import steps
from reports.sections.ablation import best_fixed
from reports.sections.claims import claims
from reports.sections.overview import highlighted, metrics
from reports.sections.pairs import findings
from reports.sections.sweep import importance, sweep_section
from reports.sections.table_1 import accuracy_chart
from reports.statistics import levels
from tests.reports.conftest import STUDIES, Sections, edit, load_all, points, rows, table

VERDICT = "significance (Holm-corrected)"


AA, DA = "Adaptive Attention", "Decomposable Attention"
TABLES = {
    "claims": "Claims",
    "table_1": "Table 1: test accuracy",
    "recall": "Table 1: test accuracy",
    "ablation": "Fixed vs adaptive steps",
    "fidelity": "Deviations of the 2016 code",
}
# Derived by hand from the fixture artifacts: table, first cells of the row, column, cell.
CELLS = f"""
claims | {AA} minus {DA} | test result | +1.00 [−2.00, +4.00] points
claims | {AA} minus {DA} | p | 0.510
claims | {AA} minus {DA} | p (Holm) | 1.000
claims | {AA} minus {DA} | {VERDICT} | not significant
claims | {AA} minus {DA} | published, SNLI | −1.10 (82.7 vs 83.8)
claims | Lexical Baseline minus {DA} | p | 0.025
claims | Lexical Baseline minus {DA} | {VERDICT} | not significant
claims | {DA}: converged minus corrected | {VERDICT} | significantly above
claims | {DA}: as published minus corrected | {VERDICT} | significantly below
claims | {DA}: as published minus corrected | pairs | 96
claims | {AA}: steps on contradiction minus entailment pairs | test result | +3.33 ± 0.58 steps
claims | {AA}: steps on contradiction minus entailment pairs | pairs | –
claims | {AA}: adaptive halting minus state after 8 steps | p | 0.225
claims | {AA}: correlation of steps with recorded depth | test result | r = +0.34 [+0.10, +0.58]
claims | {AA}: correlation of steps with recorded depth | {VERDICT} | not significant
claims | {AA}: correlation of steps with the loss of a model without steps | {VERDICT} | significantly above
claims | {AA}: steps where annotators agree least minus where all agree | {VERDICT} | not significant
claims | {DA}: loss where annotators agree least minus where all agree | {VERDICT} | significantly above
table_1 | {AA} | test accuracy, % | 82.0 ± 1.73
table_1 | {AA} | mean steps | 4.50 ± 0.50
table_1 | {AA} | binomial SE, points | 3.84
table_1 | Lexical Baseline | test accuracy, % | 73.0
recall | {AA} | neutral | 90.7 ± 2.31
ablation | state after k steps, 2 | adaptive minus fixed, points | +11.00 ± 2.00
ablation | halting capped at k steps, 8 | adaptive minus fixed, points | −0.33 ± 0.58
ablation | state after k steps, 4 | paper, SNLI test, % | 81.7
ablation | adaptive halting, – | test accuracy, % | 82.0 ± 1.73
ablation | adaptive halting, – | mean steps | 4.50 ± 0.50
fidelity | {DA}, corrected | share of the total difference, % | –
fidelity | {DA}, unit vectors | share of the total difference, % | –
fidelity | {DA}, scrambled | share of the total difference, % | 62
fidelity | {DA}, dropped batches | share of the total difference, % | −2
fidelity | {DA}, as published | share of the total difference, % | 100
fidelity | {DA}, as published | {VERDICT} | significantly below
"""  # noqa: E501


@pytest.mark.parametrize("case", CELLS.strip().splitlines())
def test_a_cell(sections: Sections, case: str) -> None:
    """Lexical p = 0.025 is above 0.05 after Holm; binomial SE = √(0.82 · 0.18 / 100)."""
    name, first, column, cell = case.split(" | ")
    found = rows(table(sections[TABLES[name]], name))
    (row,) = (one for one in found if f"{', '.join(one.values())}, ".startswith(f"{first}, "))
    assert row[column] == cell


def test_rows_and_captions(sections: Sections) -> None:
    section = sections["Table 1: test accuracy"]
    published = table(section, "published")
    assert [row[0] for row in section.parts[0].rows] == [DA, AA, "Lexical Baseline"]
    assert section.caption.endswith("majority class of test: entailment, 50.0 %.")
    assert published.folded and len(published.rows) == 26
    assert "not comparable" in published.caption
    assert len(table(sections["Claims"], "claims").rows) == 29
    ablation = table(sections["Fixed vs adaptive steps"], "ablation")
    assert len(ablation.rows) == 7  # rows with dev accuracy only are in the file
    assert len(ablation.frame) == 41
    # no significant total difference of Adaptive Attention, so no shares
    of_aa = rows(table(sections["Deviations of the 2016 code"], "fidelity"))[12:]
    assert {row["share of the total difference, %"] for row in of_aa} == {"–"}


@pytest.mark.parametrize("untested", [0, 1])
def test_claims_without_a_test_are_not_counted_by_holm(folder: Path, untested: int) -> None:
    edit(folder, "evaluate/paired", lambda f: f.assign(p=f["p"].where(f.index != untested, "")))
    result = claims(load_all(folder), STUDIES)
    tested = result[result["p"].astype(float).notna()].astype({"p": float}).sort_values("p")
    assert len(tested) == len(result) - 1
    steps = [p * (len(tested) - rank) for rank, p in enumerate(tested["p"])]
    expected = [min(1.0, max(steps[: rank + 1])) for rank in range(len(steps))]
    assert tested["p_adjusted"].tolist() == pytest.approx(expected)


def test_the_best_number_of_steps_is_the_smallest_in_a_tie_on_dev(folder: Path) -> None:
    edit(folder, "ablate/dev", lambda f: f.assign(accuracy="0.5"))
    data = load_all(folder)
    for reading, gains in data["ablate/gains"].groupby("reading"):
        best = best_fixed(data, str(reading))
        assert best is not None and best["steps"] == gains["steps"].min() < gains["steps"].max()


def test_equal_steps_count_proportionally_on_both_sides_of_a_boundary(
    stored: Artifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    # eight of ten pairs take 2 steps, six are correct; two take 5, both correct
    right = [1.0] * 6 + [0.0] * 2 + [1.0] * 2
    frame = pd.DataFrame(
        {"seed": 1, "steps": [2] * 8 + [5] * 2, "label": "neutral", "right": right}
    )
    monkeypatch.setattr(steps, "predictions", lambda data, model: frame)
    result = steps.quintiles(stored, "any").set_index("quintile")
    assert result["right"].round(9).tolist() == [0.75, 0.75, 0.75, 0.75, 1.0]
    assert result["steps"].tolist() == [2.0, 2.0, 2.0, 2.0, 5.0]
    assert result["share_neutral"].round(9).tolist() == [1.0] * 5


def test_a_learning_curve_marks_the_best_epoch_on_dev(sections: Sections) -> None:
    (first, _) = sections["Learning curves"].parts
    points = min(first.spec["datasets"].values(), key=len)  # type: ignore[union-attr]
    assert {row["x"] for row in points} == {4} and len(points) == 3


def test_charts_have_the_numbers_of_the_tables(sections: Sections) -> None:
    hops = next(p for p in sections["Halting mechanisms"].parts if p.name == "halting")
    best = max(points(hops), key=lambda row: row["y"])  # type: ignore[arg-type]
    assert (best["series"], best["y"], best["x"]) == ("supervised ACT", 74.5, 3.6)


def test_the_histogram_of_steps_has_all_pairs(stored: Artifacts, built: Report) -> None:
    chart = next(one for one in built.charts if one.name == "steps_adaptive_attention")
    bars = {row["x"]: row["y"] for row in points(chart)}
    taken = stored.select("evaluate/lengths", model="adaptive_attention")["steps"]
    assert list(bars) == list(range(int(taken.min()), int(taken.max()) + 1))
    assert sum(bars.values()) == pytest.approx(100, abs=0.1)


def test_accuracy_intervals_are_clipped(folder: Path) -> None:
    accuracies = {"1": "0.99", "2": "0.93", "3": "1.0"}  # 97.3 ± 9.4 by Student's t
    change = lambda f: f.assign(test_accuracy=f["seed"].map(accuracies))  # noqa: E731
    edit(folder, "evaluate/results", change)
    first, *_ = points(accuracy_chart(load_all(folder)))
    assert (first["x"], first["high"]) == (97.333, 100) and first["low"] == 87.929


def test_metrics_are_those_of_the_tiles(stored: Artifacts) -> None:
    tiles = {"trials": 8, "dev_accuracy": 0.84, "test_accuracy": 0.82, "mean_steps": 4.5}
    assert metrics(stored, highlighted(stored, STUDIES)) == tiles | {"hops_solved": 3}


def test_timings_are_separate_from_results(sections: Sections) -> None:
    volatile = [title for title, section in sections.items() if section.volatile]
    assert volatile == ["Timings and machine"]
    result = {row["property"]: row for row in rows(table(sections[volatile[0]], "environments"))}
    assert result["wall time"]["sweep"] == "12 min 5 s" and result["reused trials"]["sweep"] == "2"


def test_importance_is_the_variance_that_a_setting_explains() -> None:
    grid = {"width": [1, 1, 2, 2], "dropout": [0.0, 0.1, 0.0, 0.1]}
    trials = pd.DataFrame(grid | {"dev_accuracy": [0.5, 0.6, 0.7, 0.8]})  # 0.2 and 0.1: 4 to 1
    shares = [importance(trials, name) for name in grid]
    assert shares == pytest.approx([0.8, 0.2])
    assert importance(trials.assign(dev_accuracy=0.5), "width") == 0


def test_values_of_a_range_are_grouped_in_quarters(folder: Path) -> None:
    assert list(levels(pd.Series([2.0, 0.5, 2.0]))) == ["2", "0.5", "2"]
    quarters = ["0.001 to 0.003", "0.004 to 0.006", "0.007 to 0.009", "0.01 to 0.012"]
    copies = [f"{key}-{number}" for number in range(3) for key in ("aa05", "aa06", "aa07", "aa08")]

    def drawn(frame: pd.DataFrame) -> pd.DataFrame:
        rows = [frame[frame["key"] == key.split("-")[0]].assign(key=key) for key in copies]
        return pd.concat(rows)

    for place in ("sweep/trials", "sweep/history"):
        edit(folder, place, drawn)
    rates = {key: f"{0.001 * (number + 1):.3f}" for number, key in enumerate(copies)}
    edit(folder, "sweep/trials", lambda f: f.assign(ponder_weight=f["key"].map(rates)))
    result = rows(table(sweep_section(load_all(folder)), "sweep_settings"))
    weights = [row for row in result if row["setting"] == "ponder_weight"]
    assert [row["value"] for row in weights] == quarters
    assert {row["trials"] for row in weights} == {"3"}


def test_a_sweep_that_was_ended_says_so(folder: Path) -> None:
    data = load_all(folder)
    assert "ended" not in table(sweep_section(data), "sweep").caption
    data.documents["sweep/summary"]["ended"] = "the user ended the sweep: 5 of 8 trials"
    caption = table(sweep_section(data), "sweep").caption
    assert caption.startswith("The user ended the sweep: 5 of 8 trials.")


def test_name_notes_and_tags_of_a_sweep_are_in_the_report(folder: Path) -> None:
    data = load_all(folder)
    assert sweep_section(data).caption.startswith("Dev accuracy is")
    data.documents["sweep/environment"]["about"] = "wide; notes; owner me"
    assert sweep_section(data).caption.startswith("wide; notes; owner me. Dev accuracy is")


def test_parallel_coordinates_have_a_line_per_trial_and_a_place_per_value() -> None:
    frame = pd.DataFrame({"trial": ["a", "b", "c"], "width": [8, 64, 16], "score": [10.0, 30, 20]})
    line, text = (layer.to_dict(validate=False) for layer in parallel(frame, ["width"], "score"))
    (points,), (labels,) = (layer["datasets"].values() for layer in (line, text))
    places = {(point["trial"], point["axis"]): point["y"] for point in points}
    assert [places[trial, "width"] for trial in "abc"] == [0, 1, 0.5]
    assert [places[trial, "score"] for trial in "abc"] == [0, 1, 0.5]
    assert {label["text"]: label["y"] for label in labels if label["axis"] == "width"} == (
        {"8": 0, "16": 0.5, "64": 1}
    )


def test_the_papers_findings_are_of_adaptive_models() -> None:
    """A model that attends by word has a step per word, so that its attention always changes."""

    def line(model: str, *weights: float) -> dict[str, Any]:
        names = ("premise_attention", "hypothesis_attention")
        trace = [{"weight": w, **{name: [w, 0.5] for name in names}} for w in weights]
        return {"model": model, "seed": 1, "trace": trace}

    lines = [line("adaptive_attention", *w) for w in ([0.4, 0.6], [0.7, 0.3], [1.0], [0.3, 0.2])]
    data = Artifacts({}, {}, {"trace/traces": [*lines, line("word_by_word_attention", 0.0, 1.0)]})
    frame = findings(data)
    assert frame["model"].unique().tolist() == ["adaptive_attention"]
    assert frame["pairs_mean"].tolist() == [0.5, 0.25, 0.25]
    only = Artifacts({}, {}, {"trace/traces": [line("word_by_word_attention", 0.0, 1.0)]})
    assert findings(only).empty
