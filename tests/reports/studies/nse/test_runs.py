from dataclasses import replace
from pathlib import Path

import pytest

from reports.blocks import DASH
from reports.spread import MINUS
from reports.stored.artefacts import Artefacts, load
from reports.studies.nse.published import ADAPTIVE, GATING, KINDS, READERS
from reports.studies.nse.runs import (
    Run,
    baselines,
    nse_curve,
    nse_kinds,
    nse_runs,
    nse_steps,
    nse_table,
    published_table,
)
from tests.reports.conftest import GATED, HALTING, ONE, Edit

PAPER = "Munkhdalai & Yu 2017, table 2, CBT-NE"


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]


def test_rows_by_hand(artefacts: Artefacts) -> None:
    assert nse_kinds(artefacts) == ("NE", "CN")
    header, _, *found = rows(str(nse_table(artefacts, "NE")))
    assert header == [
        *("run", "n", "dev accuracy, %", "test accuracy, %", "mean steps", "parameters"),
        *("difference to one step, points (95 % interval)", "p"),
    ]
    assert found == [
        ["random candidate", DASH, "33.0", "34.0", DASH, DASH, DASH, DASH],
        ["most frequent candidate", DASH, "37.0", "35.0", DASH, DASH, DASH, DASH],
        [ONE, "3", "61.0 ± 1.00", "58.0 ± 1.00", "1", "2,002", DASH, DASH],
        [
            *(GATED, "3", "65.0 ± 1.00", "61.0 ± 1.00", "6", "3,003"),
            *("+3.00 (+1.20 to +4.80)", "0.001"),
        ],
        [
            *(HALTING, "3", "67.0 ± 1.00", "59.0 ± 2.65", "2.50 ± 0.10", "3,011"),
            *(f"+1.00 ({MINUS}1.10 to +3.10)", "0.350"),
        ],
    ]


def test_runs_that_diverged_are_counted(folder: Path, edit: Edit) -> None:
    edit("nse/results.csv", lambda r: r | {"diverged": str(r["run"] == HALTING)})
    header, _, *found = rows(str(nse_table(load(folder), "NE")))
    assert header[-1] == "runs diverged"
    assert [row[-1] for row in found] == [DASH, DASH, "0 of 3", "0 of 3", "3 of 3"]


def test_published_rows_beside_ours(artefacts: Artefacts) -> None:
    header, _, *found = rows(str(published_table(artefacts, "NE")))
    assert header == [
        *("published reader", "steps", "CBT-NE dev, %", "CBT-NE test, %"),
        *("ours, dev, %", "ours, test, %"),
    ]
    assert found[0] == ["one step", "1", "76.2", "71.1", "61.0 ± 1.00", "58.0 ± 1.00"]
    assert found[2] == ["query gating", "6", "77.0", "71.4", "65.0 ± 1.00", "61.0 ± 1.00"]
    assert found[3] == ["query gating", "9", "78.0", "72.6", DASH, DASH]
    assert found[6] == ["adaptive computation", "12", "78.2", "73.2", DASH, DASH]
    assert len(found) == 7  # our six steps of adaptive computation have nothing beside them


def test_published_figures_are_complete_and_spot_checked() -> None:
    for kind in KINDS.values():
        for setting in kind.settings:
            assert len(setting.dev) == len(setting.test) == len(READERS)
            assert all(60 < a < 80 for a in (*setting.dev, *setting.test))
    nouns, (strict, relaxed) = KINDS["CN"].settings[0], KINDS["WDW"].settings
    assert nouns.accuracies[GATING, 6] == (73.0, 72.0)
    assert nouns.accuracies[ADAPTIVE, 12] == (74.2, 71.4)
    assert strict.accuracies[ADAPTIVE, 12] == (66.5, 66.2)
    assert relaxed.accuracies[ADAPTIVE, 12] == (67.0, 66.7)
    assert relaxed.accuracies[GATING, 1] == (66.4, 65.3)


def test_who_did_what_has_two_settings(artefacts: Artefacts) -> None:
    nse = artefacts.nse
    runs = nse.runs[nse.runs["questions"] == "NE"].assign(questions="WDW")
    results = nse.results[nse.results["questions"] == "NE"].assign(questions="WDW")
    changed = replace(artefacts, nse=replace(nse, runs=runs, results=results))
    header, _, first, *_ = rows(str(published_table(changed, "WDW")))
    assert header[2:6] == ["strict dev, %", "strict test, %", "relaxed dev, %", "relaxed test, %"]
    assert first[2:] == ["65.1", "65.5", "66.4", "65.3", "61.0 ± 1.00", "58.0 ± 1.00"]


def test_gap_fit_and_error_by_hand(artefacts: Artefacts) -> None:
    _, gated, halting = nse_runs(artefacts, "NE")
    # dev minus test: 66 - 56, 68 - 60, 67 - 61
    assert (halting.gap.mean, halting.gap.sd) == (0.08, 0.02)
    # third of four epochs: dev is the best, training is 0.01 · 2 · √6 above it
    assert gated.fit is not None and gated.fit.mean == pytest.approx(0.049, abs=1e-4)
    assert halting.tests == (0.56, 0.60, 0.61) and halting.sd_steps is not None


def test_steps_curves_and_baselines(artefacts: Artefacts) -> None:
    _, gated, halting = nse_runs(artefacts, "NE")

    def means(run: Run, figure: str) -> list[float]:
        return [step.mean for step in nse_steps(artefacts, "NE", run, figure).values()]

    # 2.5 steps: six tenths evenly over six steps, the rest on the first
    assert means(halting, "weight") == pytest.approx([0.5, *[0.1] * 5])
    assert means(gated, "weight") == [0.0] * 5 + [1.0]
    assert means(gated, "accuracy")[::5] == [0.45, 0.65]
    curve = nse_curve(artefacts, "NE", gated, "dev")
    assert [s.mean for s in curve.values()] == [0.61, 0.63, 0.65, 0.63]
    found = baselines(artefacts, "NE")["test"]
    assert (found.count, found.candidates, found.random) == (200, 3.0, 0.34)
    assert found.most_frequent == 0.35
