from pathlib import Path

from reports.load import load
from reports.sections.overview import metrics
from tests.reports.conftest import STORED, edit


def test_metrics_are_those_of_the_tiles() -> None:
    assert metrics(load(STORED)) == {
        "trials": 8,
        "dev_accuracy": 0.84,
        "test_accuracy": 0.82,
        "mean_steps": 4.5,
        "hops_solved": 3,
    }


def test_a_metric_of_a_study_that_was_not_run_is_absent(folder: Path) -> None:
    for place in ("multihop/hops", "multihop/results"):
        edit(folder, place, lambda frame: frame.head(0))
    assert list(metrics(load(folder))) == ["trials", "dev_accuracy", "test_accuracy", "mean_steps"]
