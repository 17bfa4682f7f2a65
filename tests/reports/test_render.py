import csv
from pathlib import Path

import pytest

from actmodels.errors import ArtefactError
from reports import render
from reports.render import write_report
from tests.reports.conftest import STORED

EXPECTED = STORED.parent / "report.md"
AA = "adaptive_attention"
DA = "decomposable_attention"
ADAPTIVE = ("steps", "steps_by_epoch", "ponder_weight", "ponder_steps")
EACH = ("learning_curves", "fidelity", "sweep_curves", "slices")
SEQUENCES = ("error", "difficulty", "ponder", "curves")
READING = ("accuracy", "curves", "weights", "alone")
FIGURES = (
    *("ablation", "halting", "sizes", "step_accuracy"),
    *("multihop_accuracy", "multihop_steps"),
    *(f"graves_{kind}_{task}" for kind in SEQUENCES for task in ("parity", "addition")),
    *(f"nse_{what}_{kind}" for what in READING for kind in ("NE", "CN")),
    *(
        "graves_halting_addition",
        "characters_passage_1",
        "characters_passage_2",
        "characters_curves",
    ),
    *(f"{kind}_{model}" for kind in EACH for model in (DA, AA)),
    *(f"{kind}_{AA}" for kind in ADAPTIVE),
)
FILES = {
    *(f"figures/{name}.png" for name in FIGURES),
    *(
        "index.html",
        "report.md",
        "timings.md",
        "metrics.json",
        "table1.csv",
        "ablation.csv",
        "claims.csv",
        "sweep.csv",
    ),
    *("fidelity.csv", "halting.csv", "graves.csv", "characters.csv", "nse.csv"),
    "steps_by_epoch.csv",
}


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(files)}


def test_everything_is_written(written: Path) -> None:
    assert set(content(written)) == FILES


def test_the_stored_report(written: Path) -> None:
    """After a change that is meant: python -m tests.reports.write_report, and read the diff."""
    assert (written / "report.md").read_text("utf-8") == EXPECTED.read_text("utf-8")


@pytest.mark.slow
def test_equal_artefacts_give_equal_bytes_and_are_left_untouched(
    written: Path, folder: Path, tmp_path: Path
) -> None:
    before = content(folder)
    write_report(folder, tmp_path / "report", published=True, examples=100)
    assert content(tmp_path / "report") == content(written)
    assert content(folder) == before == content(STORED)


def test_every_figure_is_shown_and_exists(written: Path) -> None:
    text = (written / "report.md").read_text("utf-8")
    for name in FIGURES:
        assert f"](figures/{name}.png)" in text
    assert text.count("](figures/") == len(FIGURES)


ROWS = {
    **{"ablation": 2 * 20 + 1 + 2 * 3 + 1, "characters": 3, "claims": 22, "fidelity": 12 + 5},
    **{"graves": 6, "halting": 12, "nse": 2 * (2 + 3 + 7), "steps_by_epoch": 2 * 3},
    **{"sweep": 2 * (1 + 4), "table1": 26 + 3},
}


@pytest.mark.parametrize(
    ("name", "at", "cells"),
    [
        ("ablation", 19, {"split": "dev", "reading": "state", "steps": "20"}),
        ("ablation", -1, {"reading": "adaptive", "adaptive_minus_this_mean": ""}),
        ("characters", 0, {"run": "without ACT", "minus_without_mean": "", "steps at space": ""}),
        ("characters", 1, {"bits_mean": 3.0, "minus_without_mean": -0.1, "steps at space": 2.1}),
        ("claims", 0, {"p": "0.51"}),
        ("claims", 2, {"verdict": "no clear difference", "n": "3 seeds, 100 pairs"}),
        ("fidelity", 0, {"share_of_gap": "", "test_mean_steps": ""}),
        ("fidelity", 1, {"variant": "scrambled", "difference": -0.025, "share_of_gap": "0.625"}),
        ("fidelity", 12, {"test_mean_steps": "4.5"}),
        ("graves", 0, {"dev_error_mean": "0.4", "mean_steps_mean": "", "ponder_weight": ""}),
        ("graves", 0, {"minus_without_mean": ""}),
        ("graves", 1, {"minus_without_mean": "-0.36", "steps_per_difficulty_mean": "0.5"}),
        ("graves", 1, {"halting": "act"}),
        ("graves", 5, {"diverged": "1", "steps_against_difficulty_pearson": ""}),
        ("halting", 0, {"point": "ponder_weight 0.01", "mean_steps_mean": "1.1"}),
        ("halting", 7, {"ponder_weight_end_mean": "", "off_target": ""}),
        ("nse", 1, {"run": "most frequent candidate", "test_accuracy_mean": "0.35"}),
        ("nse", 4, {"strategy": "adaptive_computation", "steps": "6", "seeds": "3"}),
        ("nse", 4, {"dev_accuracy_mean": "0.67", "difference": "0.01", "pairs": "200"}),
        ("nse", 4, {"mean_steps_mean": "2.5", "mean_steps_sd": "0.1"}),
        ("nse", 4, {"low": "-0.011", "high": "0.031"}),
        ("nse", 5, {"source": "Munkhdalai & Yu 2017, table 2, CBT-NE"}),
        ("nse", 5, {"run": "one step", "test_accuracy_mean": "0.711"}),
        ("nse", 11, {"run": "adaptive computation, 12 steps"}),
        ("steps_by_epoch", 0, {"model": AA, "ponder_weight": "5e-05", "epoch": "1", "trials": "2"}),
        ("steps_by_epoch", 0, {"train_mean_steps": "9.0", "train_sd_steps": "0.75"}),
        ("steps_by_epoch", 0, {"dev_mean_steps": "9.0", "dev_sd_steps": "0.75"}),
        ("sweep", 0, {"model": DA, "setting": "", "trials": "4", "dev_accuracy_mean": 0.805}),
        ("table1", 8, {"test_accuracy_mean": "0.827", "test_accuracy_sd": ""}),
        ("table1", -3, {"system": "Lexicalised Classifier", "parameters": "1203", "seeds": "1"}),
        ("table1", -3, {"test_accuracy_mean": "0.73", "dev_accuracy_mean": "0.74"}),
        ("table1", -3, {"test_accuracy_sd": ""}),
        ("table1", -2, {"mean_steps_mean": ""}),
        ("table1", -1, {"test_accuracy_mean": 0.82, "test_accuracy_sd": 0.0003**0.5}),
        ("table1", -1, {"mean_steps_mean": "4.5"}),
    ],
)
def test_rows_for_machines(
    written: Path, name: str, at: int, cells: dict[str, str | float]
) -> None:
    with (written / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == ROWS[name]
    for column, cell in cells.items():
        found = rows[at][column]
        assert (float(found) if isinstance(cell, float) else found) == pytest.approx(cell, abs=1e-6)


def test_no_timings_and_no_paths_of_this_machine(written: Path) -> None:
    text = (written / "report.md").read_text("utf-8")
    assert "examples/s" not in text and "-seconds" not in text
    assert str(written) not in text and str(STORED) not in text


def test_damage_stops_before_anything_is_written(folder: Path, tmp_path: Path) -> None:
    (folder / "ablate" / "test.csv").write_text("model,seed\n")
    with pytest.raises(ArtefactError, match=r"ablate/test\.csv has no column reading, steps"):
        write_report(folder, tmp_path / "report", published=True, examples=100)
    assert not (tmp_path / "report").exists()


def test_no_question_was_traced(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "write_pictures", lambda charts, folder: None)
    (folder / "nse" / "queries.jsonl").write_text("", encoding="utf-8")
    write_report(folder, tmp_path / "report", published=True, examples=100)
    page = (tmp_path / "report" / "index.html").read_text("utf-8")
    text = (tmp_path / "report" / "report.md").read_text("utf-8")
    assert "Reading comprehension" in text and "What readers write" not in text
    assert "questions-browser" not in page and "Questions, step by step" not in page
