"""Hop Attention against a slow loop over examples, words and units, and a hop worked by hand."""

import torch

from actmodels.models.hop_attention import HopAttention, HopMemory, HopStep, Window
from actmodels.modules.inference import GateDropout
from tests import model_checks
from tests.samples import sample_batch, sample_trial


def test_a_window_sums_a_word_and_the_two_before_it() -> None:
    window, words = Window(3).double(), torch.randn(2, 4, 3, dtype=torch.float64)
    found = window(words)
    for example in range(2):
        for at in range(4):
            for unit in range(3):
                total = sum(
                    (window.weight[back, unit] * words[example, at - back, unit]).item()
                    for back in range(3)
                    if at - back >= 0
                )
                assert abs(float(found[example, at, unit]) - total) < 1e-12


def test_a_step_against_a_slow_loop() -> None:
    torch.manual_seed(1)
    step, width = HopStep(5, 4).double(), 5
    keys, values, hypothesis = (torch.randn(2, n, width).double() for n in (6, 6, 3))
    masks = (
        torch.tensor([[1] * 6, [1] * 4 + [0] * 2]).bool(),
        torch.tensor([[1, 1, 1], [1, 1, 0]]),
    )
    memory = HopMemory(keys, values, masks[0], hypothesis, masks[1].bool())
    carried = torch.randn(2, 2 * width).double()
    one = torch.ones((), dtype=torch.float64)
    found = step(carried, memory, GateDropout(one, one))
    ask = step.attend_hypothesis.transform
    for row in range(2):
        state = carried[row, :width]
        words = [hypothesis[row, i] for i in range(3) if masks[1][row, i]]
        query = ask.weight @ state + ask.bias
        over = torch.softmax(torch.stack([query @ word for word in words]), dim=0)
        h = sum(weight * word for weight, word in zip(over, words, strict=True))
        real = [i for i in range(6) if masks[0][row, i]]
        over = torch.softmax(torch.stack([state @ keys[row, i] for i in real]), dim=0)
        p = sum(weight * values[row, i] for weight, i in zip(over, real, strict=True))
        hidden = torch.relu(
            step.gate.hidden.weight @ torch.cat([state, h, p, p * h]) + step.gate.hidden.bias
        )
        gate = torch.sigmoid(step.gate.output.weight @ hidden + step.gate.output.bias)
        torch.testing.assert_close(found[row, :width], (1 - gate) * state + gate * p)
        torch.testing.assert_close(found[row, width:], h)


def test_a_step_follows_one_fact_by_hand() -> None:
    """Keys that are a fact's first word, values that are its last, and a gate that is open."""
    step = HopStep(3, 1)
    for parameter in step.parameters():
        parameter.data.zero_()
    step.gate.output.bias.data.fill_(50.0)
    jar, bag, attic = 50 * torch.eye(3)
    memory = HopMemory(
        torch.stack([bag, jar])[None],
        torch.stack([attic, bag])[None],
        torch.ones(1, 2).bool(),
        jar[None, None],
        torch.ones(1, 1).bool(),
    )
    carried, dropout = step.start(memory)
    torch.testing.assert_close(carried[0, :3], jar)
    for place in (bag, attic):
        carried = step(carried, memory, dropout)
        torch.testing.assert_close(carried[0, :3], place)


def test_halting_sees_the_state_and_not_what_is_carried_with_it() -> None:
    model = model_checks.make(sample_trial("hop_attention"))
    assert isinstance(model, HopAttention)
    batch = sample_batch()
    memory = model.memories(batch)
    carried, _ = model.step.start(memory)
    other = torch.cat([carried[:, :8], torch.randn_like(carried[:, 8:])], dim=1)
    assert torch.equal(model.halting.probability(carried), model.halting.probability(other))
