"""Study `multihop`: its pairs, runs and tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from actmodels.data.pairs import PairTensors
from actmodels.data.trial_data import TrialData, WordVectors
from actmodels.records import EpochRecord, TrialRecord
from actmodels.training import Evaluation
from pipeline.parameters.load import load_params
from pipeline.parameters.studies import study_section
from studies.multihop import stage as multihop
from studies.multihop.section import Study
from studies.multihop.tables import COLUMNS
from studies.multihop.training import MultihopTraining
from tests.pipeline.project import write_params, written

STUDY: dict[str, Any] = {
    "seeds": [1],
    "corpus": {"dev": 4, "test": 5, "dimensions": 8, "things": 18},
    "evaluation": {"hops": [1, 2, 3, 4], "max_steps": 5},
    "max_epochs": 2,
    "settings": {
        **{"width": 8, "gate_size": 8, "max_steps": 3, "batch_size": 8},
        **{"updates_per_epoch": 2, "max_hops": 2},
    },
}


def section(folder: Path, **changes: Any) -> Study:
    """Write and return the section of a small study."""
    cluster = {"dashboard": False, "system_metrics": False}
    write_params(folder, multihop=STUDY | changes, cluster=cluster)
    return study_section(load_params(), Study)


def test_pairs_are_balanced_over_depths_and_the_same_each_time(folder: Path) -> None:
    study = section(folder)
    digest = multihop.write_pairs(study)
    first = written(folder, "studies/multihop")
    assert multihop.write_pairs(study) == digest
    assert written(folder, "studies/multihop") == first
    assert sorted(first) == ["dev.pt", "embedding.pt", "test.pt"]
    place = folder / "artifacts" / "studies" / "multihop"
    dev, test = (PairTensors.load(place / f"{split}.pt") for split in ("dev", "test"))
    assert dev.depths.bincount().tolist() == [0, 4, 4]
    assert test.depths.bincount().tolist() == [0, 5, 5, 5, 5]
    assert WordVectors.load(place / "embedding.pt").vectors.shape == (25, 8)
    other = study.model_copy(update={"corpus": study.corpus.model_copy(update={"seed": 1})})
    assert multihop.write_pairs(other) != digest
    # splits of one size have random numbers of their own
    sizes = STUDY["corpus"] | {"dev": 4, "test": 4}
    multihop.write_pairs(section(folder, corpus=sizes, evaluation={"hops": [1, 2], "max_steps": 5}))
    dev, test = (PairTensors.load(place / f"{split}.pt") for split in ("dev", "test"))
    assert len(dev) == len(test) and not torch.equal(dev.premise_ids, test.premise_ids)


def test_a_run_for_each_model_grid_point_and_seed(folder: Path) -> None:
    models = {
        "decomposable_attention": {},
        "hop_attention_fixed_steps": {"steps": [1, 2], "dropout": [0.1]},
        "hop_attention_dact": {"ponder_weight": [0.015, 0.0]},
    }
    runs = multihop.plan(section(folder, seeds=[3, 4], models=models))
    found = [(*run.labels.values(), run.config.seed) for run in runs if run.config.seed == 3]
    assert found[0] == ("hop_attention", "as set", 3)  # the demo's
    assert found[1:] == [
        ("hop_attention_dact", "as set", 3),  # also the demo's
        ("hop_attention_dact", "ponder weight 0.0", 3),
        ("decomposable_attention", "as set", 3),
        ("hop_attention_fixed_steps", "steps 1, dropout 0.1", 3),
        ("hop_attention_fixed_steps", "steps 2, dropout 0.1", 3),
    ]
    assert len(runs) == 2 * len(found)
    assert {run.config.stream.max_hops for run in runs} == {2}


def evaluation(test: PairTensors, right: list[bool], steps: list[int] | None) -> Evaluation:
    """Return an evaluation with these hits and steps."""
    labels = torch.where(torch.tensor(right), test.labels, (test.labels + 1) % 3)
    logits = torch.nn.functional.one_hot(labels, 3).float()
    taken = None if steps is None else torch.tensor(steps)
    return Evaluation(torch.arange(len(test)), logits, test.labels, taken, None)


def test_rows_of_each_depth_and_pearsons_r(folder: Path) -> None:
    study = section(folder)
    multihop.write_pairs(study)
    test = PairTensors.load(folder / "artifacts" / "studies" / "multihop" / "test.pt")
    run = multihop.plan(study)[0]
    right = [True] * 5 + [True] * 4 + [False] + [True, True, False, False, False] + [False] * 5
    steps = [1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 9, 9, 9, 9, 9]
    result = evaluation(test, right, steps)
    rows = [
        {name: row[name] for name in COLUMNS["hops.csv"].split()}
        for row in multihop.hop_rows(run, run.seeded, result, test)
    ]
    start = {"model": "hop_attention", "run": "as set", "seed": 1}
    assert rows == [
        start | {"hops": 1, "trained": True, "pairs": 5, "accuracy": 1.0, "mean_steps": 1.0},
        start | {"hops": 2, "trained": True, "pairs": 5, "accuracy": 0.8, "mean_steps": 2.2},
        start | {"hops": 3, "trained": False, "pairs": 5, "accuracy": 0.4, "mean_steps": 3.4},
        start | {"hops": 4, "trained": False, "pairs": 5, "accuracy": 0.0, "mean_steps": 9.0},
    ]
    expected = np.corrcoef(steps, np.repeat([1, 2, 3, 4], 5))[0, 1]
    assert multihop.step_correlation(result, test) == pytest.approx(expected, abs=1e-12)
    correlations = [{**start, "correlation": 0.5}, {**start, "seed": 2, "correlation": None}]
    summary = multihop.summarize(correlations, [*rows, *rows])
    assert summary["hop_attention"]["as set"] == {
        **{"accuracy": pytest.approx(0.9), "accuracy_beyond": 0.4},
        **{"mean_steps": pytest.approx(1.6), "correlation": 0.5},
    }
    assert multihop.summary_lines([*rows, rows[0] | {"accuracy": 0.5}]) == [
        "hop_attention: 2:80.0 3:40.0 4:0.0 % by number of hops"
    ]
    without = evaluation(test, right, None)
    assert multihop.step_correlation(without, test) is None
    assert {row["mean_steps"] for row in multihop.hop_rows(run, run.seeded, without, test)} == {
        None
    }


def test_all_depths_in_premises_of_the_deepest_pairs_length(folder: Path) -> None:
    study = section(folder, evaluation={"hops": [1, 3], "max_steps": 5, "longest": True})
    multihop.write_pairs(study)
    place = folder / "artifacts" / "studies" / "multihop"
    test, longest = (PairTensors.load(place / f"{name}.pt") for name in ("test", "longest"))
    lengths = [{*split.premise_offsets.diff().tolist()} for split in (test, longest)]
    assert len(lengths[0]) == 2 and lengths[1] == {max(lengths[0])}
    assert longest.depths.bincount().tolist() == [0, 5, 0, 5]
    (run, *_) = multihop.plan(study)
    words = WordVectors.load(place / "embedding.pt")
    model = MultihopTraining(run.config, TrialData(test, test, words)).model
    epoch = EpochRecord(1, 1.0, 0.5, None, None, None, 1.0, 0.5, None, None, None)
    record = TrialRecord("a", run.config.as_dict(), 1, (epoch,), {})
    tables = multihop.test_rows(run, record, model, test, longest, study.evaluation)
    assert [(row["hops"], row["pairs"]) for row in tables["longest"]] == [(1, 5), (3, 5)]
    without = multihop.test_rows(run, record, model, test, None, study.evaluation)
    assert "longest" not in without and without["hops"] == tables["hops"]
