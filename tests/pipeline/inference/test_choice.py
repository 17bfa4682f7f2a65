"""A model with inference steps is best unless it is significantly below the highest."""

from typing import Any

import pytest

from pipeline.inference.choice import best_model

DA, AA, COMPARING = "decomposable_attention", "adaptive_attention", "compare_adaptive_attention"


def model(mean: float, p: float | None = None, high: float = 0.01) -> dict[str, Any]:
    gap = {"difference": mean - 0.9, "low": -0.5, "high": high, "p": p}
    return {"dev_accuracy_mean": mean, "dev_minus_highest": gap if mean < 0.9 else None}


@pytest.mark.parametrize(
    ("models", "best"),
    [
        ({DA: model(0.9)}, DA),
        ({DA: model(0.9), AA: model(0.89, p=0.3)}, AA),
        ({DA: model(0.9), AA: model(0.8, p=0.01)}, DA),
        ({DA: model(0.9), AA: model(0.88, p=0.2), COMPARING: model(0.89, p=0.3)}, COMPARING),
        ({DA: model(0.9), AA: model(0.8, p=0.001), COMPARING: model(0.89, p=0.3)}, COMPARING),
        # without steps the highest wins
        ({"lstm_encoders": model(0.89, p=0.9), DA: model(0.9)}, DA),
        # one seed has no p-value: the interval over pairs decides
        ({DA: model(0.9), AA: model(0.89, high=0.001)}, AA),
        ({DA: model(0.9), AA: model(0.89, high=-0.001)}, DA),
    ],
)
def test_best_model(models: dict[str, Any], best: str) -> None:
    assert best_model(models) == best
