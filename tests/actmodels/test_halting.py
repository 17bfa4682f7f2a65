"""Halting against hand-worked numbers, slow loops, and the claims of each paper.

tests/studies/sequences/test_act_rnn.py compares ACT, PonderNet and DACT with the equations.
"""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from actmodels.halting.base import Halting, build_halting
from actmodels.halting.steps import AllSteps, truncate
from actmodels.prediction import Prediction
from actmodels.registry import HALTINGS, model_with
from tests.samples import sample_trial

STATE = 5


def test_sums_at_the_threshold() -> None:
    """N = 2 at a sum of exactly 1 - epsilon; rounding does not end the loop before it does."""
    halted = truncate(torch.tensor([[0.5, 0.25, 0.5]]), 0.25)
    assert (halted.steps.tolist(), halted.weights.tolist()) == ([2.0], [[0.5, 0.5, 0.0]])
    act = make("act", epsilon=0.01).float()
    sums = torch.tensor([0.98, 0.99 * (1 - 5e-7), 1.0])
    assert act.has_halted_by(sums).tolist() == [False, False, True]


def make(mechanism: str, **settings: Any) -> Halting:
    """A halting mechanism with the sample settings, overridden by `settings`."""
    if mechanism == "fixed_steps":
        settings["steps"] = settings.pop("max_steps")
    config = sample_trial(model_with("adaptive_attention", mechanism), **settings).halting
    return build_halting(config, STATE).double()


def random_steps(count: int = 30, steps: int = 6) -> tuple[Tensor, Tensor, torch.nn.Linear]:
    generator = torch.Generator().manual_seed(3)
    states = torch.randn(count, steps, STATE, generator=generator, dtype=torch.float64)
    probabilities = torch.rand(count, steps, generator=generator, dtype=torch.float64)
    torch.manual_seed(4)
    return states, probabilities, torch.nn.Linear(STATE, 3).double()


@pytest.mark.parametrize("mechanism", HALTINGS)
class TestEveryMechanism:
    def test_weights_are_a_distribution_over_the_steps_taken(self, mechanism: str) -> None:
        states, probabilities, classify = random_steps()
        answer = (
            make(mechanism, max_steps=6).eval().answer(AllSteps(states, probabilities), classify)
        )
        assert bool((answer.weights >= 0).all())
        ones = torch.ones(30, dtype=torch.float64)
        torch.testing.assert_close(answer.weights.sum(dim=1), ones)
        assert bool(((answer.steps >= 1) & (answer.steps <= 6)).all())

    def test_steps_after_all_have_halted_change_nothing(self, mechanism: str) -> None:
        """`has_halted` must not stop an example whose answer could still change."""
        states, probabilities, classify = random_steps()
        halting = make(mechanism, max_steps=6).eval()
        whole = halting.answer(AllSteps(states, probabilities), classify)
        for n in range(1, 7):
            over = halting.has_halted(probabilities[:, :n])
            cut = halting.answer(AllSteps(states, probabilities).up_to(n), classify)
            torch.testing.assert_close(cut.logits[over], whole.logits[over])
            assert torch.equal(cut.steps[over], whole.steps[over])  # type: ignore[index]


def test_fixed_steps_answer_from_the_last_state() -> None:
    states, probabilities, classify = random_steps()
    answer = make("fixed_steps", max_steps=6).answer(AllSteps(states, probabilities), classify)
    assert torch.equal(answer.logits, classify(states[:, 5]))
    assert answer.steps.tolist() == [6.0] * 30
    assert answer.ponder_cost is None


class TestPonderNet:
    def test_a_mass_of_exactly_one_half_is_the_median(self) -> None:
        net = make("ponder_net").eval()
        states, _, classify = random_steps(3, 4)
        halves = torch.full((3, 4), 0.5, dtype=torch.float64)
        assert net.answer(AllSteps(states, halves), classify).steps.tolist() == [1.0] * 3

    def test_divergence_by_hand(self) -> None:
        """KL((1, 0) || (1/4, 3/16, ...)) = log 4, and no nan from 0 · log 0."""
        net = make("ponder_net", prior_steps=4.0)
        weights = torch.tensor([[1.0, 0.0]], dtype=torch.float64, requires_grad=True)
        divergence = net.divergence(weights)
        assert divergence.item() == pytest.approx(math.log(4))
        divergence.sum().backward()
        assert bool(torch.isfinite(weights.grad).all())


class TestDact:
    def test_halting_early_never_changes_the_class(self) -> None:
        """After the step at which an example halts, no state can change its class."""
        states, probabilities, classify = random_steps(200, 6)
        dact = make("dact", epsilon=1e-9, max_steps=6).eval()
        sure = probabilities.sqrt()  # more often settled before the last step
        answer = dact.answer(AllSteps(states, sure), classify)
        assert 1 < answer.steps.mean() < 6
        adverse = states.clone()
        for row, steps in enumerate(answer.steps.int().tolist()):
            adverse[row, steps:] = torch.randn(6 - steps, STATE, dtype=torch.float64) * 50
        changed = dact.answer(AllSteps(adverse, sure), classify)
        assert torch.equal(changed.logits.argmax(dim=1), answer.logits.argmax(dim=1))

    def test_with_lookahead_max_steps_changes_neither_answer_nor_steps(self) -> None:
        """The paper's rule counts all steps up to the cap, so a larger one halts later."""
        states, probabilities, classify = random_steps(200, 6)
        long = torch.cat([states, states.flip(1)], dim=1), torch.cat([probabilities] * 2, dim=1)
        steps = {}
        for lookahead in (0, 1, 2):
            short, longer = (
                make("dact", epsilon=1e-9, max_steps=n, lookahead=lookahead).eval() for n in (6, 12)
            )
            one = short.answer(AllSteps(states, probabilities), classify)
            two = longer.answer(AllSteps(*long), classify)
            early = one.steps < 6
            same = torch.equal(one.steps[early], two.steps[early])
            assert same is (lookahead > 0)
            if lookahead:
                assert torch.equal(one.logits[early], two.logits[early])
            torch.testing.assert_close(one.weights.sum(dim=1), torch.ones(200).double())
            steps[lookahead] = two.steps
        assert bool((steps[1] <= steps[2]).all())

    def test_steps_beyond_the_own_maximum_that_a_caller_allows_count(self) -> None:
        """As if they were the maximum; the exit is not at the own one."""
        states, probabilities, classify = random_steps(200, 12)
        low = probabilities / 50
        six, twelve = (make("dact", epsilon=1e-9, max_steps=n).eval() for n in (6, 12))
        allowed, own = (one.answer(AllSteps(states, low), classify) for one in (six, twelve))
        assert torch.equal(allowed.steps, own.steps)
        assert float(own.steps.max()) > 6


class TestSupervisedAct:
    @pytest.mark.parametrize(
        ("epochs", "weights"), [(4, [0.0, 0.2, 0.4, 0.6, 0.8, 0.8, 0.8]), (0, [0.8, 0.8])]
    )
    def test_the_ponder_weight_warms_up(self, epochs: int, weights: list[float]) -> None:
        halting = make("supervised_act", warm_up_epochs=epochs, ponder_weight=0.8)
        ponder_weights = []
        for epoch in range(1, len(weights) + 1):
            halting.start_epoch(epoch)
            ponder_weights.append(halting.current_ponder_weight)
        assert ponder_weights == pytest.approx(weights)

    def test_states_up_to_n_are_supervised_and_no_others(self) -> None:
        halting = make("supervised_act", ponder_weight=0.0, step_loss_weight=2.0, max_steps=3)
        probabilities = torch.tensor([[0.6, 0.6, 0.6]], dtype=torch.float64)  # N = 2
        states = torch.randn(1, 3, STATE, dtype=torch.float64, requires_grad=True)
        classify, labels = random_steps()[2], torch.tensor([1])
        answer = halting.answer(AllSteps(states, probabilities), classify)
        halting.objective(answer, labels).backward()
        assert states.grad[0, 2].abs().sum() == 0
        assert states.grad[0, 1].abs().sum() > 0
        plain = -torch.log_softmax(answer.logits, dim=1)[0, 1]
        alone = -torch.log_softmax(classify(states), dim=2)[0, :2, 1].mean()
        expected = (plain + 2 * alone).item()
        assert halting.objective(answer, labels).item() == pytest.approx(expected)


def test_the_multiplier_follows_the_target_and_recent_deviation_damps() -> None:
    """Deviations 2, -1 and -3, half of each new one: recent 1, 0, -1.5; multiplier .2, .1, -.2."""
    settings = {"target_steps": 3.0, "adaptation_rate": 0.1, "recent_share": 0.5}
    halting = make("target_steps", damping=0.3, **settings)
    for steps, expected in ((5.0, 0.2 + 0.3 * 1.0), (2.0, 0.1), (0.0, -0.2 - 0.3 * 1.5)):
        took = Prediction(torch.zeros(1, 3), torch.tensor([steps]), torch.tensor([steps + 0.5]))
        halting.on_update_end(took, torch.tensor([0]))
        assert float(halting.current_ponder_weight) == pytest.approx(expected)
