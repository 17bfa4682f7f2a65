"""Hop Attention against a slow loop over examples, words and units."""

import math

import pytest
import torch

from actmodels.models.hop_attention import HopAttention, HopStep
from actmodels.modules.attention import HopMemory, HopTables
from actmodels.modules.inference import GateDropout
from tests import model_checks
from tests.samples import sample_batch, sample_trial


def memory_of(
    keys: torch.Tensor,
    values: torch.Tensor,
    hypothesis: torch.Tensor,
    masks: list[torch.Tensor],
    scale: torch.Tensor,
) -> HopMemory:
    """Tables with one row per token, and windows of one token."""
    batch, tokens, width = keys.shape
    empty = torch.zeros(1, width, dtype=keys.dtype)
    slots = torch.zeros(batch, 3 * tokens, dtype=torch.int64)
    slots[:, :tokens] = 1 + torch.arange(batch * tokens).view(batch, tokens)
    tables = [torch.cat([empty, part.flatten(0, 1)]) for part in (keys, values)]
    return HopMemory(HopTables(*tables), slots, masks[0], hypothesis, masks[1], scale)


@pytest.mark.parametrize("log_scale", [0.0, 0.3])
def test_keys_and_values_are_windows_of_words(log_scale: float) -> None:
    """Against a loop over examples, tokens and units, with sentences of several lengths."""
    model = model_checks.make(sample_trial("hop_attention", log_scale=log_scale))
    assert isinstance(model, HopAttention)
    batch = sample_batch()
    memory, words = model.encode(batch), model.words(batch.premise)
    query, weights = torch.randn(len(words), 8).double(), torch.rand(batch.premise.shape).double()
    weights = weights * batch.premise_mask
    scores, mean = memory.scores(query), memory.mean(weights)
    for row in range(len(words)):
        total = torch.zeros(8, dtype=torch.float64)
        count = int(batch.premise_mask[row].sum())
        scale = log_scale * math.log(count) if log_scale else 1.0
        for at in range(count):
            key, value = torch.zeros(8).double(), torch.zeros(8).double()
            for back in range(min(at, 2) + 1):
                key += model.keys.weight[back] * words[row, at - back]
                value += model.values.weight[back] * words[row, at - back]
            torch.testing.assert_close(scores[row, at], scale * (key @ query[row]))
            total += weights[row, at] * value
        torch.testing.assert_close(mean[row], total)
    torch.testing.assert_close(
        memory.hypothesis * batch.hypothesis_mask[..., None],
        model.words(batch.hypothesis) * batch.hypothesis_mask[..., None],
    )


def test_a_step_against_a_slow_loop() -> None:
    torch.manual_seed(1)
    step, width = HopStep(5, 4).double(), 5
    keys, values, hypothesis = (torch.randn(2, n, width).double() for n in (6, 6, 3))
    masks = [torch.tensor([[1] * 6, [1] * 4 + [0] * 2]), torch.tensor([[1, 1, 1], [1, 1, 0]])]
    scale = torch.tensor([[1.5], [0.7]]).double()
    memory = memory_of(keys, values, hypothesis, [mask.bool() for mask in masks], scale)
    recurrent, one = torch.randn(2, 2 * width).double(), torch.ones((), dtype=torch.float64)
    output = step(recurrent, memory, GateDropout(one, one))
    ask = step.attend_hypothesis.transform
    for row in range(2):
        state = recurrent[row, :width]
        words = [hypothesis[row, i] for i in range(3) if masks[1][row, i]]
        query = ask.weight @ state + ask.bias
        over = torch.softmax(torch.stack([query @ word for word in words]), dim=0)
        h = sum(weight * word for weight, word in zip(over, words, strict=True))
        real = [i for i in range(6) if masks[0][row, i]]
        scores = torch.stack([scale[row] * (state @ keys[row, i]) for i in real])
        over = torch.softmax(scores.flatten(), dim=0)
        p = sum(weight * values[row, i] for weight, i in zip(over, real, strict=True))
        hidden = torch.relu(
            step.gate.hidden.weight @ torch.cat([state, h, p, p * h]) + step.gate.hidden.bias
        )
        gate = torch.sigmoid(step.gate.output.weight @ hidden + step.gate.output.bias)
        torch.testing.assert_close(output[row, :width], (1 - gate) * state + gate * p)
        torch.testing.assert_close(output[row, width:], h)


def test_each_change_can_be_taken_back() -> None:
    """Compare each reverted model, with the parameters it shares, with the whole one."""
    batch, answers = sample_batch(), {}
    whole = model_checks.make(sample_trial("hop_attention", dropout=0.0))
    for name in ("none", "start", "query", "identity", "windows", "update", "classifier"):
        config = sample_trial("hop_attention", dropout=0.0, reverted=name)
        model_checks.check_batch_equals_singles(config)
        model = model_checks.make(config)
        assert isinstance(model, HopAttention)
        own = {k: v for k, v in whole.state_dict().items() if not k.startswith("classify")}
        model.load_state_dict(own if name == "classifier" else whole.state_dict(), strict=False)
        start, dropout = model.step.start(model.encode(batch))
        assert bool((start[:, :8] == 0).all()) is (name == "start")
        answers[name] = model.step(start, model.encode(batch), dropout)
        changed = torch.cat([start[:, :8], torch.randn_like(start[:, 8:])], dim=1)
        same = torch.equal(model.classify(start), model.classify(changed))
        assert same is (name == "classifier")
        assert torch.equal(model.halting.probability(start), model.halting.probability(changed))
    for name, answer in answers.items():
        same = torch.allclose(answer, answers["none"])
        assert same is (name in ("none", "identity", "classifier")), name
