"""Every model: the seven checks, the number of parameters, and overfitting a few pairs."""

from collections.abc import Callable

import pytest
import torch

from actmodels.models.pair_model import build, parameter_count
from actmodels.registry import first_network, is_adaptive
from actmodels.training import Training
from actmodels.trial_config import TrialConfig
from tests import model_checks
from tests.samples import NETWORKS, VARIANTS, sample_data, sample_trial

CHECKED = {name: sample_trial(name) for name in VARIANTS}
CHECKED |= {f"{name}-trained_rows": sample_trial(name, oov_rule="trained") for name in NETWORKS}


@pytest.mark.parametrize("config", CHECKED.values(), ids=CHECKED)
@pytest.mark.parametrize("check", model_checks.CHECKS)
def test_the_seven_checks(config: TrialConfig, check: Callable[[TrialConfig], None]) -> None:
    check(config)


def test_networks_and_adaptive_models_by_name() -> None:
    names = ["decomposable_attention", "hop_attention_fixed_steps", "hop_attention_dact"]
    drawn = "adaptive_attention_random_steps"
    adaptive = [name for name in (*names, drawn, "lexical_baseline") if is_adaptive(name)]
    assert adaptive == ["hop_attention_dact"]
    assert first_network(names) is None
    assert first_network([*names, "hop_attention", "adaptive_attention"]) == "hop_attention"


THESIS = {"width": 256, "encoder_size": 128, "state_size": 256, "gate_size": 256}
PAPER = {"width": 128, "state_size": 200, "gate_size": 128}
PARAMETERS: list[tuple[str, dict[str, int], int]] = [  # in comments: published
    # projection, F, G, H, output
    ("decomposable_attention", {"width": 200}, 60_000 + 80_400 + 2 * 120_400 + 603),  # 382k
    # F of intra-attention, a wider F and G, and the distance biases
    ("decomposable_intra_attention", {"width": 200}, 381_803 + 200_400 + 22),  # 582k
    ("adaptive_attention", PAPER, 982_716),  # 990k
    ("compare_adaptive_attention", PAPER, 982_716 + 2 * 65_792),
    ("iterative_attention", THESIS, 1_243_908),  # 1.25M
    # projection, one shared LSTM, three tanh layers, output (220k)
    ("lstm_encoders", {"width": 100, "layer_size": 200}, 30_100 + 80_400 + 3 * 40_200 + 603),
    # projection with a bias, two LSTMs, output
    ("conditional_encoding", {"width": 116}, 34_916 + 2 * 108_112 + 351),  # 252k
    ("conditional_attention", {"width": 100}, 231_303),  # 242k
    ("word_by_word_attention", {"width": 100}, 231_303 + 2 * 10_000),  # 252k
    ("nti_tree_matching", {"width": 300, "layer_size": 1024}, 3_054_199),  # 3.2M
    ("spinn_pi", {"width": 300, "tracking_size": 61, "layer_size": 1024}, 3_690_827),  # 3.7M
]


@pytest.mark.parametrize(("model", "settings", "total"), PARAMETERS)
def test_parameters(model: str, settings: dict[str, int], total: int) -> None:
    assert parameter_count(build(sample_trial(model, **settings), torch.zeros(4, 300), 3)) == total


@pytest.mark.parametrize("model", [n for n in VARIANTS if not n.startswith("hop_attention_")])
def test_overfits_a_few_pairs(model: str) -> None:
    data = sample_data(train=32)
    config = sample_trial(model, max_epochs=60, width=16, dropout=0.0)
    assert any(epoch.train_accuracy == 1.0 for epoch in Training(config, data).epochs())


def test_dropout_does_not_compound_over_steps() -> None:
    """A unit is dropped at all steps or none, and a kept one is scaled once."""
    model = model_checks.make(sample_trial("adaptive_attention", dropout=0.5)).train()
    seen: list[tuple[object, ...]] = []
    model.step.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[1:]))
    model.all_steps(model_checks.sample_batch(), 4)
    assert len(seen) == 4
    for memory, dropout in seen[1:]:
        assert all(a is b for a, b in zip(memory, seen[0][0], strict=True))
        assert all(a is b for a, b in zip(dropout, seen[0][1], strict=True))
    assert set(seen[0][1].inputs.unique().tolist()) == {0.0, 2.0}
