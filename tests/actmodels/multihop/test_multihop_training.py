"""Training on streamed pairs: the curriculum, and a trial that is resumed."""

from typing import Any

import pytest
import torch

from actmodels.errors import ConfigError
from actmodels.multihop.training import MultihopTraining
from tests.actmodels.multihop.samples import multihop_trial, sample_multihop_data


@pytest.mark.parametrize("model", ["hop_attention", "decomposable_attention"])
@pytest.mark.parametrize("epochs", [1, 2, 3])
def test_a_resumed_trial_gives_the_same_bits(model: str, epochs: int) -> None:
    config, data = multihop_trial(model), sample_multihop_data()
    whole, first, resumed = (MultihopTraining(config, data) for _ in range(3))
    history = [one.result() for one in whole.epochs()]
    for _ in range(epochs):
        first.run_epoch()
    resumed.load_state_dict(first.state_dict())
    assert [one.result() for one in resumed.epochs()] == history[epochs:]
    assert (resumed.joined, resumed.settled) == (whole.joined, whole.settled) == (2, 3)
    for name, weights in whole.model.state_dict().items():
        assert torch.equal(resumed.model.state_dict()[name], weights), name


def test_steps_have_a_price_once_the_last_depth_has_settled() -> None:
    training, charged = MultihopTraining(multihop_trial(), sample_multihop_data()), []
    while not training.finished:
        training.run_epoch()
        charged.append(training.model.halting.charges)  # type: ignore[union-attr,attr-defined]
    assert charged == [False, False, True, True]


def test_a_depth_that_is_not_learned_lets_no_other_join() -> None:
    training = MultihopTraining(multihop_trial(join_accuracy=1.0), sample_multihop_data())
    list(training.epochs())
    assert (training.joined, training.settled) == (1, 0)


@pytest.mark.parametrize(
    ("model", "settings", "sentence"),
    [
        ("hop_attention", {"max_hops": 7}, "max_hops is 7; must be at most 6"),
        ("hop_attention", {"null_token": True}, "null_token is true; must be false, as multi-hop"),
        ("spinn_pi", {}, "spinn_pi reads parses; multi-hop pairs have none"),
    ],
)
def test_what_a_trial_may_be(model: str, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        multihop_trial(model, **settings)
