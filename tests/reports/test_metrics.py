from pathlib import Path

from reports.artefacts import Artefacts, load
from reports.metrics import metrics


def test_flat_numbers(artefacts: Artefacts) -> None:
    flat = metrics(artefacts)
    assert flat["adaptive_attention.test_accuracy_mean"] == 0.82
    assert flat["decomposable_attention.test_accuracy_sd"] == 0.01
    assert flat["ablation.state_2.adaptive_gain_mean"] == 0.11
    assert flat["sweep.trials"] == 8
    assert all(type(value) in (int, float) for value in flat.values())
    assert "decomposable_attention.mean_steps_mean" not in flat


def test_one_seed_has_no_sd(one_seed: Path) -> None:
    assert not [name for name in metrics(load(one_seed)) if name.endswith("_sd")]
