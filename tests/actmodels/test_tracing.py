"""Evaluation, traces and the fixed-step ablation against slow computations."""

import pytest
import torch

from actmodels.data.pairs import collate
from actmodels.metrics import mean_and_sd
from actmodels.registry import HALTINGS, model_with
from actmodels.tracing import ablate_steps, trace
from actmodels.training import evaluate
from tests import model_checks
from tests.samples import sample_batch, sample_pairs, sample_trial

PAIRS = sample_pairs(37)
MECHANISMS = [model_with("adaptive_attention", halting) for halting in HALTINGS]


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_answer_is_the_models_own(name: str) -> None:
    model, batch = model_checks.make(sample_trial(name)), sample_batch()
    prediction, traced = model(batch), trace(model, batch)
    torch.testing.assert_close(traced.answer, torch.softmax(prediction.logits, dim=1))
    assert torch.equal(traced.steps, prediction.steps)
    ones = torch.ones_like(traced.weights[:, 0])
    torch.testing.assert_close(traced.weights.sum(dim=1), ones)


def test_attention_is_over_real_tokens_and_sums_to_one() -> None:
    model, batch = model_checks.make(sample_trial("adaptive_attention")), sample_batch()
    traced = trace(model, batch)
    for weights, mask in (
        (traced.premise, batch.premise_mask),
        (traced.hypothesis, batch.hypothesis_mask),
    ):
        ones = torch.ones(weights.shape[:2], dtype=weights.dtype)
        torch.testing.assert_close(weights.sum(dim=2), ones)
        assert not weights.masked_select(~mask[:, None, :].expand_as(weights)).any()


@pytest.mark.parametrize("name", ["conditional_attention", "word_by_word_attention"])
def test_a_model_that_attends_by_word_has_a_step_for_each(name: str) -> None:
    model, batch = model_checks.make(sample_trial(name)), sample_batch()
    prediction, traced = model(batch), trace(model, batch)
    torch.testing.assert_close(traced.answer, torch.softmax(prediction.logits, dim=1))
    lengths, all_words = batch.hypothesis_mask.sum(dim=1), name == "word_by_word_attention"
    assert traced.steps.tolist() == (lengths.tolist() if all_words else [1] * len(lengths))
    for row, steps in enumerate(traced.steps.tolist()):
        assert traced.weights[row].nonzero().tolist() == [[steps - 1]]
        words = traced.hypothesis[row, :steps].argmax(dim=1).tolist()
        assert words == (list(range(steps)) if all_words else [int(lengths[row]) - 1])
        alone = collate(sample_pairs(len(lengths)), torch.tensor([row]), null_token=False)
        torch.testing.assert_close(
            trace(model, alone).premise[0, :steps],
            traced.premise[row, :steps, : alone.premise.shape[1]],
        )
        assert not traced.premise[row, :steps, int(batch.premise_mask[row].sum()) :].any()


def test_ablation_against_one_pair_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """`state`: step k by hand. `capped`: the same model with max_steps = k."""
    monkeypatch.setattr("actmodels.tracing.BATCH_SIZE", 10)
    config = sample_trial("adaptive_attention", halting_bias=-1.5)
    adaptive = model_checks.make(config)
    with torch.no_grad():  # states that differ enough for the readings to differ
        for parameter in adaptive.step.parameters():
            parameter.mul_(3)
    results = ablate_steps(adaptive, PAIRS, config.input, [1, 3, 6])
    values = {(row.reading, row.steps): row for row in results}
    assert values["state", 1].accuracy == values["capped", 1].accuracy
    assert values["capped", 1].mean_steps == 1.0
    for k in (1, 3, 6):
        hits = []
        for row in range(len(PAIRS)):
            batch = collate(PAIRS, torch.tensor([row]), null_token=False)
            memory = adaptive.encode(batch)
            state, dropout = adaptive.step.start(memory)
            for _ in range(k):
                state = adaptive.step(state, memory, dropout)
            hits.append(bool(adaptive.classify(state).argmax() == PAIRS.labels[row]))
        assert values["state", k].hits.tolist() == hits
        assert values["state", k].accuracy == sum(hits) / len(PAIRS)
        capped = model_checks.make(sample_trial("adaptive_attention", max_steps=k))
        capped.load_state_dict(adaptive.state_dict())
        result = evaluate(capped, PAIRS, config.input)
        assert values["capped", k].accuracy == pytest.approx(result.accuracy)
        assert values["capped", k].mean_steps == pytest.approx(mean_and_sd(result.steps)[0])
    whole = evaluate(adaptive, PAIRS, config.input)
    assert values["adaptive", None].accuracy == pytest.approx(whole.accuracy)
    assert values["adaptive", None].mean_steps == pytest.approx(mean_and_sd(whole.steps)[0])


def test_mean_and_sd() -> None:
    assert mean_and_sd(torch.tensor([1.0, 3.0])) == (2.0, 1.0)
    assert mean_and_sd(None) == (None, None)
