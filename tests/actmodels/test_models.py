"""Every model: the five checks, the parameter budget, and that it can learn."""

from collections.abc import Callable

import pytest
import torch

from actmodels.config import TrialConfig
from actmodels.models.pair_model import build, parameter_count
from actmodels.registry import HALTINGS, MODELS
from actmodels.training import Training
from tests import model_checks
from tests.samples import sample_data, sample_trial

CHECKED = {name: sample_trial(name) for name in MODELS}
CHECKED |= {f"{name}-trained_rows": sample_trial(name, oov_rule="trained") for name in MODELS}
CHECKED["both_ways"] = sample_trial("iterative_attention", bidirectional=True)


@pytest.mark.parametrize("config", CHECKED.values(), ids=CHECKED)
@pytest.mark.parametrize("check", model_checks.FIVE_CHECKS)
def test_the_five_checks(config: TrialConfig, check: Callable[[TrialConfig], None]) -> None:
    check(config)


def lstm(width: int) -> int:
    return 4 * width * (width + width + 1)


def gru(inputs: int, state: int) -> int:
    return 3 * state * (inputs + state + 1)


THESIS = {"width": 256, "encoder_size": 128, "state_size": 256, "gate_size": 256}
PARAMETERS: list[tuple[str, dict[str, int], tuple[int, ...], int]] = [
    # projection, F, G, H, output (Parikh et al.: 382k)
    ("decomposable_attention", {"width": 200}, (60_000, 80_400, 120_400, 120_400, 603), 381_803),
    ("averaged_decomposable_attention", {"width": 200}, (381_803,), 381_803),
    ("averaged_first_decomposable_attention", {"width": 200}, (381_803,), 381_803),
    # that with F of intra-attention, a wider F and G (582k), and the distance biases
    (
        "decomposable_intra_attention",
        {"width": 200},
        (381_803, 80_400, 40_000, 80_000, 22),
        582_225,
    ),
    (  # projection, F, two attentions, two gates, GRU, halting, output (paper: 990k)
        "adaptive_attention",
        {"width": 128, "state_size": 200, "gate_size": 128},
        (38_528, 33_024, 51_456, 116_992, 314_112, 427_800, 201, 603),
        982_716,
    ),
    (  # the same and G
        "comparing_adaptive_attention",
        {"width": 128, "state_size": 200, "gate_size": 128},
        (982_716, 2 * 65_792),
        1_114_300,
    ),
    (  # projection, two GRUs, two attentions, two gates, GRU, halting, output (thesis: 1.25 M)
        "iterative_attention",
        THESIS,
        (77_056, 2 * gru(256, 128), 32_896, 49_280, 393_984, gru(256, 256), 257, 771),
        1_243_908,
    ),
    (
        "iterative_attention",
        THESIS | {"bidirectional": True},
        (77_056, 4 * gru(256, 128), 65_792, 131_328, 656_384, gru(512, 256), 257, 771),
        2_113_540,
    ),
    (  # projection, one shared LSTM, three tanh layers, output (Bowman et al.: 220k)
        "lstm_encoders",
        {"width": 100, "layer_size": 200},
        (30_100, lstm(100), 3 * 40_200, 603),
        231_703,
    ),
    # projection with a bias, two LSTMs, output (Rocktäschel et al.: 252k at k = 116)
    ("conditional_encoding", {"width": 116}, (34_916, 2 * lstm(116), 351), 251_491),
    # both ways: a wider output
    (
        "conditional_encoding",
        {"width": 116, "two_way": True},
        (34_916, 2 * lstm(116), 351, 3 * 116),
        251_839,
    ),
    # the same at k = 100, with W_y, W_h, W_p, W_x and w (published: 242k)
    (
        "conditional_attention",
        {"width": 100},
        (30_100, 2 * lstm(100), 4 * 10_000, 100, 303),
        231_303,
    ),
    # the same with W_r and W_t (published: 252k)
    (
        "word_by_word_attention",
        {"width": 100},
        (30_100, 2 * lstm(100), 6 * 10_000, 100, 303),
        251_303,
    ),
    (  # two LSTMs, two maps of a node's children, attention, two layers (NTI, printed as 3.2M)
        "nti_tree_matching",
        {"width": 300, "layer_size": 1024},
        (2 * lstm(300), 2 * 361_200, 3 * 90_300, 615_424, 3_075),
        3_054_199,
    ),
    (  # projection, composition, tracking, three layers (SPINN-PI: 3.7M with batch normalisation)
        "spinn_pi",
        {"width": 300, "tracking_size": 61, "layer_size": 1024},
        (180_600, 1500 * 662, 4 * 61 * 962, 1_229_824, 1_049_600, 3_075),
        3_690_827,
    ),
]


@pytest.mark.parametrize(("model", "settings", "parts", "total"), PARAMETERS)
def test_parameters(
    model: str, settings: dict[str, int], parts: tuple[int, ...], total: int
) -> None:
    built = build(sample_trial(model, **settings), torch.zeros(4, 300))
    assert parameter_count(built) == sum(parts) == total


# Every network with ACT or without halting, and every way of halting with one network.
LEARNERS = [
    name
    for name, of in MODELS.items()
    if of.halting in (None, HALTINGS["act"]) or name.startswith("adaptive_attention_")
]


@pytest.mark.parametrize("model", LEARNERS)
def test_overfits_a_few_pairs(model: str) -> None:
    data = sample_data(train=32)
    config = sample_trial(model, max_epochs=60, width=16, dropout=0.0)
    assert any(epoch.train_accuracy == 1.0 for epoch in Training(config, data).epochs())


def test_dropout_does_not_compound_over_steps() -> None:
    """A unit dropped at one step is dropped at all, and a kept one is scaled only once."""
    model = model_checks.make(sample_trial("adaptive_attention", dropout=0.5)).train()
    batch = model_checks.sample_batch()
    seen = []
    step = model.step

    def watch(module: torch.nn.Module, inputs: tuple[object, ...], output: object) -> None:
        seen.append(inputs[1:])

    handle = step.register_forward_hook(watch)
    model.unroll(batch, 4, until_halted=False)
    handle.remove()
    assert len(seen) == 4
    for memories, dropout in seen[1:]:
        assert all(a is b for a, b in zip(memories, seen[0][0], strict=True))
        assert all(a is b for a, b in zip(dropout, seen[0][1], strict=True))
    assert set(seen[0][1].inputs.unique().tolist()) == {0.0, 2.0}
