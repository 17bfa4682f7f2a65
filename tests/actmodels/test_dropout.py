"""Dropout masks: share of units, independence, and dependence on the position alone."""

from itertools import islice

import pytest
import torch

from actmodels.modules.dropout import Dropout, mask_sequence, share_stream, update_keys


def dropped(rate: float | torch.Tensor, shape: tuple[int, ...], key: object = 5) -> torch.Tensor:
    """The mask of the first call after a key: 1 where a unit is dropped."""
    layer = Dropout(0.5)
    layer.rate = rate
    layer.stream.restart(torch.as_tensor(key, dtype=torch.int32))
    return (layer(torch.ones(shape)) == 0).double()


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_share_and_scale(rate: float) -> None:
    layer = Dropout(rate)
    values = layer(torch.ones(200, 300))
    kept = values != 0
    assert (~kept).double().mean().item() == pytest.approx(rate, abs=0.01)
    torch.testing.assert_close(values[kept], torch.full_like(values[kept], 1 / (1 - rate)))


def test_units_rows_calls_and_updates_are_independent() -> None:
    """Two independent masks both drop a unit with probability 0.3 · 0.3."""
    layer = Dropout(0.3)
    keys = update_keys(1, 1, "cpu")
    layer.stream.restart(next(keys))
    one, other = ((layer(torch.ones(1000, 400)) == 0).double() for _ in range(2))
    layer.stream.restart(next(keys))
    later = (layer(torch.ones(1000, 400)) == 0).double()
    for both in (
        one * other,
        one * later,
        one[1:] * one[:-1],
        one[:, 1:] * one[:, :-1],
        one[:, 16:] * one[:, :-16],
    ):
        assert both.mean().item() == pytest.approx(0.09, abs=0.004)


def test_every_unit_is_dropped_as_often_over_updates() -> None:
    keys = [*islice(update_keys(3, 2, "cpu"), 1500)]
    shares = torch.stack([dropped(0.25, (3, 4, 20), key) for key in keys]).mean(dim=0)
    spread = (0.25 * 0.75 / len(keys)) ** 0.5
    assert shares.mean().item() == pytest.approx(0.25, abs=0.005)
    assert (shares - 0.25).abs().max() < 5 * spread


def test_numbered_examples_have_the_masks_of_their_numbers() -> None:
    layer = Dropout(0.5)
    layer.stream.restart(torch.tensor(5, dtype=torch.int32))
    numbered = layer(torch.ones(3, 20), torch.tensor([4, 0, 9])) == 0
    assert torch.equal(numbered.double(), dropped(0.5, (10, 20))[[4, 0, 9]])


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.73])
def test_the_share_of_the_sequence_is_exact(rate: float) -> None:
    mask = mask_sequence(rate, torch.float64, torch.device("cpu"))
    assert (mask == 0).double().mean().item() == pytest.approx(rate, abs=1 / len(mask))


def test_padding_and_more_rows_do_not_change_a_mask() -> None:
    small, large = dropped(0.5, (3, 4, 20)), dropped(0.5, (5, 9, 20))
    assert torch.equal(small, large[:3, :4])


def test_a_trial_draws_the_same_mask_in_a_fusion_as_alone() -> None:
    keys, rates = [7, -12, 99], torch.tensor([0.1, 0.5, 0.3], dtype=torch.float64)
    fusion = dropped(rates, (3, 6, 5, 40), keys)
    for trial, key in enumerate(keys):
        assert torch.equal(fusion[trial], dropped(float(rates[trial]), (6, 5, 40), key))
    assert torch.equal(dropped(0.3, (3, 6, 40), keys)[2], dropped(0.3, (6, 40), 99))


def test_nothing_is_drawn_in_evaluation_or_at_rate_0() -> None:
    layer, values = Dropout(0.5), torch.randn(4, 5)
    assert layer.eval()(values) is values
    assert Dropout(0.0)(values) is values
    assert layer.stream.calls == 0


def test_layers_that_share_a_stream_have_different_masks() -> None:
    model = torch.nn.Sequential(Dropout(0.5), Dropout(0.5))
    share_stream(model).restart(torch.tensor(1, dtype=torch.int32))
    values = torch.ones(50, 50)
    assert not torch.equal(model[0](values), model[1](values))
