import re
from pathlib import Path

from reports.load import load
from reports.render import metric_name, metrics
from tests.reports.conftest import STORED, one_seed


def test_metrics_are_flat_numbers() -> None:
    result = metrics(load(STORED))
    assert result["adaptive_attention.test_accuracy_mean"] == 0.82
    assert result["adaptive_attention.mean_steps_mean"] == 4.5
    assert result["adaptive_attention.minus_decomposable_attention"] == 0.01
    assert result["sweep.trials"] == 8
    assert round(result["multihop.hop_attention.ponder_weight_0.001.correlation"], 2) == 0.93
    assert all(re.fullmatch(r"[\w.-]+", name) for name in result)
    assert "decomposable_attention.mean_steps_mean" not in result


def test_one_seed_has_no_sd(folder: Path) -> None:
    one_seed(folder)
    assert not [name for name in metrics(load(folder)) if name.endswith("_sd")]


def test_a_name_has_signs_that_mlflow_takes() -> None:
    assert metric_name("ponder weight 0.01, it's") == "ponder_weight_0.01_it_s"
