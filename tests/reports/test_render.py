from pathlib import Path

import pytest

from actmodels.errors import ArtefactError
from reports import render
from reports.render import write_report
from tests.reports.conftest import STORED

EXPECTED = STORED.parent / "report.md"
AA = "adaptive_attention"
DA = "decomposable_attention"
ADAPTIVE = ("lengths", "steps", "steps_by_epoch", "ponder_weight", "ponder_steps")
EACH = ("learning_curves", "fidelity", "sweep_curves", "slices")
SEQUENCES = ("error", "difficulty", "ponder", "curves")
READING = ("accuracy", "curves", "weights", "alone")
FIGURES = (
    *("ablation", "depth", "depth_steps", "halting", "step_accuracy"),
    *(f"graves_{kind}_{task}" for kind in SEQUENCES for task in ("parity", "addition")),
    *(f"nse_{what}_{kind}" for what in READING for kind in ("NE", "CN")),
    *("characters_passage_1", "characters_passage_2", "characters_curves"),
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
    """After a change that is meant: python -m tests.reports.write_fixture, and read the diff."""
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
