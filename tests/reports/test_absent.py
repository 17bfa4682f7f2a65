"""Reports of incomplete runs: without studies, with one seed, without steps."""

import shutil
from pathlib import Path

from reports.blocks import Table
from reports.load import load
from reports.render import report
from reports.sections.overview import metrics
from tests.reports.conftest import STUDIES, edit, load_all, one_seed, rows, table


def test_without_studies_and_stages_that_were_off(folder: Path) -> None:
    for place in ("ablate/test", "ablate/gains", "ablate/dev"):
        edit(folder, place, lambda frame: frame.head(0))
    (folder / "trace/traces.jsonl").write_text("", encoding="utf-8")
    shutil.rmtree(folder / "studies")
    data = load(folder, {})
    built = report(data, {}, examples=10)
    titles = {section.title for section in built.sections}
    assert not titles & {"Multi-hop inference", "Fixed vs adaptive steps", "Pairs, step by step"}
    assert [tile.label for tile in built.overview.tiles] == [
        *("Test accuracy", "Mean steps per pair", "Sweep trials")
    ]
    assert len(built.overview.charts) == 1 and "Hop" not in built.overview.glossary
    assert list(metrics(data, [])) == ["trials", "dev_accuracy", "test_accuracy", "mean_steps"]


def test_one_seed_has_no_sd_and_no_test(folder: Path) -> None:
    one_seed(folder)
    built = report(load_all(folder), STUDIES, examples=10)
    sections = {section.title: section for section in built.sections}
    claims = rows(table(sections["Claims"], "claims"))
    assert {row["significance (Holm-corrected)"] for row in claims} == {
        "no test: one seed, or no variance"
    }
    assert {row["p"] for row in claims} == {"–"}
    assert not any("±" in cell for row in claims for cell in row.values())
    with_sd = {t.name for t in built.parts(Table) if any("±" in c for row in t.rows for c in row)}
    # these sds are over trials and over questions
    assert with_sd <= {"sweep_settings", "cloze_overwritten"}


def test_models_without_steps_have_no_section_on_them(folder: Path) -> None:
    model = "decomposable_attention"
    places = ["results", "predictions", "depth", "lengths", "correlations"]
    for place in (*(f"evaluate/{name}" for name in places), "retrain/trials", "retrain/history"):
        edit(folder, place, lambda frame: frame[frame["model"] == model])
    edit(folder, "evaluate/paired", lambda frame: frame[frame["model"] != "adaptive_attention"])
    for place in ("sweep/trials", "retrain/trials"):  # of no model with this setting
        edit(
            folder,
            place,
            lambda frame: frame[frame["model"] == model].drop(columns="ponder_weight"),
        )
    built = report(load_all(folder), STUDIES, examples=10)
    assert "Steps, labels and accuracy" not in {section.title for section in built.sections}
    assert "Mean steps per pair" not in {tile.label for tile in built.overview.tiles}


def test_on_all_of_snli_published_results_are_comparable(folder: Path) -> None:
    for place, change in (
        ("corpus/summary.json", ('"captions"', '"snli"')),
        ("tensors/manifest.json", ("800", "549367")),
    ):
        path = folder / place
        path.write_text(path.read_text("utf-8").replace(*change), encoding="utf-8")
    built = report(load_all(folder), STUDIES, examples=10)
    sections = {section.title: section for section in built.sections}
    assert "not comparable" not in built.overview.corpus
    assert "not comparable" not in table(sections["Table 1: test accuracy"], "published").caption
    crosses = [c for c in built.charts if c.name == "ablation"]
    assert "paper, SNLI test" in str(crosses[0].spec)
