"""Evaluation against slow, plain computations."""

import pytest
import torch

from actmodels.data.pairs import collate
from actmodels.evaluation import evaluate
from actmodels.figures import mean_and_sd
from tests import model_checks
from tests.samples import MODELS, sample_pairs, sample_trial

PAIRS = sample_pairs(37)


@pytest.mark.parametrize("model", MODELS)
def test_results_stand_in_the_order_of_the_split(model: str) -> None:
    config = sample_trial(model)
    built = model_checks.make(config)
    result = evaluate(built, PAIRS, config.input, batch_size=5)
    assert result.rows.tolist() == list(range(len(PAIRS)))
    assert torch.equal(result.labels, PAIRS.labels)
    for row in range(len(PAIRS)):
        alone = built(collate(PAIRS, torch.tensor([row]), null_token=False))
        torch.testing.assert_close(result.logits[row], alone.logits[0])
    expected = (result.logits.argmax(1) == PAIRS.labels).sum().item() / len(PAIRS)
    assert result.accuracy == pytest.approx(expected)
    log_probabilities = result.logits.log_softmax(1)[range(len(PAIRS)), PAIRS.labels]
    assert result.loss == pytest.approx(-log_probabilities.mean().item())
    assert (result.steps is None) == (model == "decomposable_attention")


def test_mean_and_sd() -> None:
    assert mean_and_sd(torch.tensor([1.0, 3.0])) == (2.0, 1.0)
    assert mean_and_sd(None) == (None, None)
