"""Sections of the fixture artifacts; test_render compares all printed cells."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reports.load import Artifacts
from reports.marks import parallel
from reports.sections import steps
from reports.sections.ablation import best_fixed
from reports.sections.claims import claims
from reports.sections.pairs import findings
from reports.sections.sweep import importance, sweep_section
from reports.statistics import levels
from tests.reports.conftest import STUDIES, edit, load_all, rows, table


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
