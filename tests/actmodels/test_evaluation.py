"""Evaluation and the fixed-step ablation against slow, plain computations."""

import pytest
import torch

from actmodels.data.pairs import collate
from actmodels.evaluation import evaluate
from actmodels.figures import mean_and_sd
from actmodels.models.adaptive_attention import AdaptiveAttention
from actmodels.steps import ablate_steps
from tests import model_checks
from tests.samples import MODELS, sample_pairs, sample_trial

PAIRS = sample_pairs(37)


@pytest.mark.parametrize("model", MODELS)
def test_results_stand_in_the_order_of_the_split(model: str) -> None:
    config = sample_trial(model)
    built = model_checks.make(config)
    result = evaluate(built, PAIRS, config.input, batch_size=5)
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


@pytest.fixture(scope="module")
def adaptive() -> AdaptiveAttention:
    model = model_checks.make(sample_trial("adaptive_attention", halting_bias=-1.5))
    assert isinstance(model, AdaptiveAttention)
    with torch.no_grad():  # states that differ enough for the readings to differ
        for parameter in model.step.parameters():
            parameter.mul_(3)
    return model


def test_ablation_against_one_pair_at_a_time(adaptive: AdaptiveAttention) -> None:
    """`state`: step k by hand. `capped`: the same model with max_steps = k."""
    config = sample_trial("adaptive_attention")
    found = ablate_steps(adaptive, PAIRS, config.input, [1, 3, 6], batch_size=10)
    values = {(row.reading, row.steps): row for row in found}
    for k in (1, 3, 6):
        hits = 0
        for row in range(len(PAIRS)):
            batch = collate(PAIRS, torch.tensor([row]), null_token=False)
            memories = adaptive.memories(batch)
            state, dropout = adaptive.step.start(memories)
            for _ in range(k):
                state = adaptive.step(state, memories, dropout)
            hits += int(adaptive.classify(state).argmax() == PAIRS.labels[row])
        assert values["state", k].accuracy == pytest.approx(hits / len(PAIRS))
        capped = model_checks.make(sample_trial("adaptive_attention", max_steps=k))
        capped.load_state_dict(adaptive.state_dict())
        result = evaluate(capped, PAIRS, config.input)
        assert values["capped", k].accuracy == pytest.approx(result.accuracy)
        assert values["capped", k].mean_steps == pytest.approx(mean_and_sd(result.steps)[0])
    whole = evaluate(adaptive, PAIRS, config.input)
    assert values["adaptive", None].accuracy == pytest.approx(whole.accuracy)
    assert values["adaptive", None].mean_steps == pytest.approx(mean_and_sd(whole.steps)[0])


def test_one_capped_step_is_the_first_state(adaptive: AdaptiveAttention) -> None:
    config = sample_trial("adaptive_attention")
    found = {row.reading: row for row in ablate_steps(adaptive, PAIRS, config.input, [1])}
    assert found["state"].accuracy == found["capped"].accuracy
    assert found["capped"].mean_steps == 1.0
