from collections.abc import Callable
from pathlib import Path

import pytest

from actmodels.errors import ArtefactError
from reports import render
from reports.blocks import as_markdown
from reports.render import write_report
from reports.report import report
from reports.stored.artefacts import Artefacts, load
from tests.reports.charts.reading import figures
from tests.reports.conftest import GRAVES, STORED, Edit
from tests.reports.write_traces import write_traces

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


def test_a_figure_stands_with_its_words(written: Path, artefacts: Artefacts) -> None:
    text = (written / "report.md").read_text("utf-8")
    for name, figure in figures(artefacts).items():
        assert f"\n\n![{figure.alternative}](figures/{name}.png)\n\n" in text


def test_every_figure_of_many_models_is_shown(many: Artefacts) -> None:
    text = as_markdown(report(many, published=True))
    assert [name for name in figures(many) if text.count(f"(figures/{name}.png)") != 1] == []


def test_no_timings_and_no_paths_of_this_machine(written: Path) -> None:
    text = (written / "report.md").read_text("utf-8")
    assert "examples/s" not in text and "-seconds" not in text
    assert str(written) not in text and str(STORED) not in text


def test_damage_stops_before_anything_is_written(folder: Path, tmp_path: Path) -> None:
    (folder / "ablate" / "test.csv").write_text("model,seed\n")
    with pytest.raises(ArtefactError, match=r"ablate/test\.csv has no column reading, steps"):
        write_report(folder, tmp_path / "report", published=True, examples=100)
    assert not (tmp_path / "report").exists()


def test_sections_without_data_are_left_out(
    folder: Path, edit: Edit, no_nse: Callable[[], None]
) -> None:
    no_nse()
    for file in ("evaluate/depth.csv", "ablate/dev.csv", "ablate/test.csv"):
        edit(file, lambda row: None)
    studies = ("fidelity/variants", "fidelity/timings", "halting/points", "halting/timings")
    for file in (*studies, *GRAVES):
        edit(f"{file}.csv", lambda row: None)
    edit("sweep/trials.csv", lambda row: row | {"ponder_weight": row["ponder_weight"] and "0.1"})
    artefacts = load(folder)
    text = as_markdown(report(artefacts, published=True))
    assert "By recorded depth" not in text and "Fixed against adaptive" not in text
    assert "With the same weights" not in text
    assert "What explains" not in text and "Ways of halting" not in text
    assert "Graves' tasks" not in text and "figures/graves" not in text
    assert "Reading comprehension" not in text and "index.html#questions" not in text
    assert "figures/nse" not in text and "figures/characters" not in text
    assert "Steps during training" not in text


def test_characters_alone(folder: Path, edit: Edit) -> None:
    for file in GRAVES:
        edit(f"{file}.csv", lambda row: row if row["task"] == "characters" else None)
    artefacts = load(folder)
    text = as_markdown(report(artefacts, published=False))
    assert "## Graves' tasks: adaptive computation in recurrent networks\n\n### Characters" in text
    assert "*Sequence error*" not in text and "figures/characters_passage_1.png" in text


def test_no_section_on_steps_where_no_model_takes_any(folder: Path, edit: Edit) -> None:
    for file in ("results", "depth", "lengths", "correlations", "paired", "predictions"):
        edit(f"evaluate/{file}.csv", lambda row: None if row["model"] == AA else row)
    for file in ("retrain/trials", "retrain/history", "ablate/dev", "ablate/test"):
        edit(f"{file}.csv", lambda row: None if row["model"] == AA else row)
    write_traces(folder, [])
    artefacts = load(folder)
    text = as_markdown(report(artefacts, published=True))
    assert f"figures/lengths_{AA}" not in text and "## Steps, sentence length" not in text


def test_ties_are_told(folder: Path) -> None:
    path = folder / "select_best" / "best.json"
    path.write_text(path.read_text().replace('"tied": 1', '"tied": 3'))
    artefacts = load(folder)
    text = as_markdown(report(artefacts, published=True))
    assert "of 3 with its dev accuracy, by the rule: highest dev accuracy; then lower" in text


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
