"""Stages `evaluate` and `ablate` on tiny models, and their tables."""

import csv
import json
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch

from actmodels.files import write_text
from actmodels.training import Evaluation
from pipeline import ablate, evaluate
from pipeline.evaluate import prediction_rows
from pipeline.runtime.results import write_table
from pipeline.statistics.step_correlation import depth_rows
from tests.pipeline.project import read_output, write_params
from tests.pipeline.tiny_export import tiny_trials, trained
from tests.samples import CLASSES, sample_pairs, sample_trial

NAME = {"model": "m", "seed": 1}
PAIRS = replace(
    sample_pairs(5), labels=torch.tensor([0, 1, 2, 0, 1]), depths=torch.tensor([1, 2, 2, 0, 3])
)
ROWS = torch.tensor([0, 2, 3])


@pytest.mark.parametrize("steps", [None, torch.tensor([4.0, 2.0, 3.0])])
def test_a_pair_that_was_not_scored_has_no_row(steps: torch.Tensor | None) -> None:
    result = Evaluation(ROWS, torch.eye(3)[[1, 2, 0]], PAIRS.labels[ROWS], steps, None)
    rows = prediction_rows(NAME, result, [*"abcde"], CLASSES)
    assert [row["pair_id"] for row in rows] == ["a", "c", "d"]
    assert [row["label"] for row in rows] == ["neutral", "contradiction", "neutral"]
    assert [row["predicted"] for row in rows] == ["entailment", "contradiction", "neutral"]
    assert [row["steps"] for row in rows] == ([None] * 3 if steps is None else [4, 2, 3])
    of_depths = [(1, 0.0, 4.0), (2, 1.0, 2.0)]
    assert depth_rows(NAME, result, PAIRS) == [
        NAME | {"depth": d, "pairs": 1, "accuracy": a, "mean_steps": None if steps is None else n}
        for d, a, n in of_depths
    ]


def test_a_missing_value_is_an_empty_cell(tmp_path: Path) -> None:
    rows = [{"a": None, "b": float("nan"), "c": 0}, {"c": 'x,"y"', "d": 0.1}]
    write_table(tmp_path / "a.csv", rows)
    write_table(tmp_path / "b.csv", rows, "d a")
    assert [*csv.reader((tmp_path / "a.csv").open(newline=""))] == [
        *([*"abcd"], ["", "", "0", ""], ["", "", 'x,"y"', "0.1"])
    ]
    assert (tmp_path / "b.csv").read_bytes() == b"d,a\n,\n0.1,\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seeds of one model, a third that diverged, and one seed of another."""
    folder = tmp_path_factory.mktemp("project")
    artifacts, pairs = folder / "artifacts", sample_pairs(12, seed=3)
    diverged = sample_trial("adaptive_attention", max_epochs=1, seed=3)
    _, records = trained(folder, *tiny_trials(), diverged)
    records[3] = replace(records[3], diverged=True)
    lines = "".join(f"{record.result_json()}\n" for record in records)
    write_text(artifacts / "retrain" / "records.jsonl", lines)
    replace(pairs, depths=torch.arange(12) % 3).save(artifacts / "tensors" / "test.pt")
    ids = [f"p{number}" for number in range(12)]
    write_text(artifacts / "tensors" / "test_ids.txt", "\n".join(ids) + "\n")
    labels = [CLASSES[label] for label in pairs.labels.tolist()]
    row = {"gold_label": "neutral", "sentence1": "a", "sentence2": "b"}
    corpus = [row | {"pairID": i, "annotator_labels": ["neutral"] * 5} for i in ids[::-1]]
    write_text(artifacts / "corpus" / "test.jsonl", "\n".join(map(json.dumps, corpus)) + "\n")
    baseline = [
        {"model": "lexical_baseline", "seed": 0, "pair_id": i, "label": y, "predicted": y}
        for i, y in zip(ids, labels, strict=True)
    ]
    write_table(artifacts / "lexical_baseline" / "predictions.csv", baseline)
    reference = {"evaluate": {"reference": "decomposable_attention"}}
    write_params(folder, **reference, ablate={"dev_steps": 3, "test_steps": [1, 3]})
    with chdir(folder):
        evaluate.main()
        ablate.main()
    return folder


def read(project: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(project / "artifacts" / name)


def test_results_are_those_of_the_predictions(project: Path) -> None:
    results = read(project, "evaluate/results.csv").set_index(["model", "seed"])
    predictions = read(project, "evaluate/predictions.csv")
    assert [*results.index] == [(c.model, c.seed) for c in tiny_trials()]
    right = predictions.assign(right=predictions.predicted == predictions.label)
    for run, rows in right.groupby(["model", "seed"]):
        assert [*rows.pair_id] == [f"p{number}" for number in range(12)]
        assert results.test_accuracy[run] == pytest.approx(rows.right.mean(), abs=1e-6)
        assert results.test_pairs[run] == 12
        for name, steps in (("mean", rows.steps.mean()), ("sd", rows.steps.std(ddof=0))):
            found = results[f"test_{name}_steps"][run]
            assert found == pytest.approx(steps, abs=0.5, nan_ok=True), name
    summary = read_output(project, "evaluate")
    of = results.loc["adaptive_attention"]
    assert summary["adaptive_attention"] == {
        **{"seeds": 2, "diverged": {"seed_3": 1}, "parameters": of.parameters[1]},
        **{
            f"{split}_accuracy_{kind}": pytest.approx(of[f"{split}_accuracy"].agg(aggregate))
            for split in ("test", "dev")
            for kind, aggregate in (("mean", "mean"), ("sd", "std"))
        },
        "mean_steps": pytest.approx(of.test_mean_steps.mean()),
    }
    paired = read(project, "evaluate/paired.csv").set_index("model")
    assert [*paired.index] == ["adaptive_attention", "lexical_baseline"]
    assert {*paired.reference} == {"decomposable_attention"}
    other = results.test_accuracy["decomposable_attention", 1]
    assert paired.difference["lexical_baseline"] == pytest.approx(1 - other, abs=1e-5)
    first = results.test_accuracy["adaptive_attention", 1]  # the other seed has no partner
    assert paired.difference["adaptive_attention"] == pytest.approx(first - other, abs=1e-5)
    assert {*read(project, "evaluate/agreement.csv").agreement} == {5}
    assert {*read(project, "evaluate/depth.csv").depth} == {1, 2}


def test_fixed_steps_are_compared_with_the_adaptive_ones(project: Path) -> None:
    results = read(project, "evaluate/results.csv").set_index(["model", "seed"])
    dev, test = (read(project, f"ablate/{split}.csv") for split in ("dev", "test"))
    assert {*dev.steps.dropna()} == {1, 2, 3} and {*test.steps.dropna()} == {1, 3}
    adaptive = test[test.steps.isna()].set_index(["model", "seed"])
    for run in [("adaptive_attention", seed) for seed in (1, 2)]:
        assert adaptive.accuracy[run] == pytest.approx(results.test_accuracy[run], abs=1e-6)
    gains = read(project, "ablate/gains.csv").set_index(["reading", "steps"])
    means = test.groupby(["reading", "steps"]).accuracy.mean()
    for key, row in gains.iterrows():
        gain = adaptive.accuracy.mean() - means[key]
        assert (row.difference, row.seeds) == (pytest.approx(gain, abs=1e-5), 2)
        summary = read_output(project, "ablate")["test"][f"{key[0]}_{key[1]:.0f}"]
        assert summary == pytest.approx(means[key], abs=1e-5)
