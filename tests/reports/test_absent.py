"""Reports of incomplete runs: without studies, one seed, without steps, stopped and diverged."""

import json
import shutil
from pathlib import Path

import pandas as pd

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


def test_stopped_and_diverged_trials_are_named_where_their_means_are(folder: Path) -> None:
    """Trial aa08 was stopped after one epoch; means over trials are of one epoch then."""

    def ended(frame: pd.DataFrame, key: str, column: str, epochs: str) -> pd.DataFrame:
        chosen = frame["key"] == key
        return frame.assign(
            **{column: frame[column].mask(chosen, "True")},
            epochs=frame["epochs"].mask(chosen, epochs),
        )

    edit(folder, "sweep/trials", lambda frame: ended(frame, "aa08", "stopped", "1"))
    edit(folder, "sweep/trials", lambda frame: ended(frame, "aa05", "diverged", "2"))
    for key in ("da01", "da02", "da03", "da04"):
        edit(folder, "sweep/trials", lambda frame, key=key: ended(frame, key, "diverged", "1"))
    best = json.loads((folder / "select_best/best.json").read_text())
    del best["decomposable_attention"]
    (folder / "select_best/best.json").write_text(json.dumps(best))
    edit(folder, "retrain/trials", lambda frame: ended(frame, "aa-seed3", "diverged", "4"))
    edit(folder, "evaluate/results", lambda frame: frame[frame["key"] != "aa-seed3"])
    built = {section.title: section for section in report(load_all(folder), STUDIES, 10).sections}
    sweep = built["Sweep"]
    rates = "all its trials diverged (learning_rate 0.001, 0.0005)."
    assert table(sweep, "sweep").caption.endswith(
        "aa05-adaptive_attention in epoch 2. Decomposable Attention was not selected: " + rates
    )
    first, second = rows(table(sweep, "sweep"))
    assert (first["best dev, %"], first["diverged"], first["stopped"]) == ("–", "4", "0")
    assert (second["best dev, %"], second["diverged"], second["stopped"]) == ("82.0", "1", "1")
    configurations = rows(table(sweep, "configurations_adaptive_attention"))
    assert [(row["dev accuracy, %"], row["epochs"]) for row in configurations] == [
        ("82.0", "3"),
        ("81.0", "3"),
        ("80.0", "1, stopped"),
        ("83.0", "seed 1 diverged in epoch 2"),
    ]
    means = {
        row["value"]: (row["dev accuracy, %"], row["trials"], row["epochs"])
        for row in rows(table(sweep, "sweep_settings"))
        if row["setting"] == "dropout"
    }
    assert means == {"0.1": ("78.0", "1", "1"), "0.2": ("78.0 ± 1.41", "2", "1")}
    note = "Adaptive Attention: seed 3 (epoch 4) diverged, not in the means."
    for title, name in (("Table 1: test accuracy", "table_1"), ("Claims", "claims")):
        assert table(built[title], name).caption.endswith(note)
    assert "diverged" not in table(built["Table 1: test accuracy"], "published").caption
