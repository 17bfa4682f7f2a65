"""The encoder against the cell run by hand, and the thesis' parameter budget."""

import pytest
import torch
from torch import Tensor

from actmodels.config import build_trial
from actmodels.errors import ConfigError
from actmodels.models.pair_model import build, parameter_count
from actmodels.modules.recurrent import GRUCell, GRUEncoder
from tests import model_checks
from tests.samples import SETTINGS, sample_batch, sample_trial

INPUTS, SIZE = 5, 4
LENGTHS = (6, 1, 4)

# Projection, two encoders, attention to the hypothesis and to the premise, two gates, GRU.
ONE_WAY = (77_056, 295_680, 32_896, 49_280, 393_984, 393_984)
BOTH_WAYS = (77_056, 591_360, 65_792, 131_328, 656_384, 590_592)


def linear(inputs: int, outputs: int) -> int:
    return inputs * outputs + outputs


def gru(inputs: int, state: int) -> int:
    return 3 * linear(inputs + state, state)


def parts(directions: int) -> tuple[int, ...]:
    """Parameters at width 256, encoder 128, state 256, gate 256."""
    memory = 128 * directions
    return (
        linear(300, 256),
        2 * directions * gru(256, 128),
        linear(256, memory),
        linear(256 + memory, memory),
        2 * (linear(256 + 3 * memory, 256) + linear(256, memory)),
        gru(2 * memory, 256),
    )


def sentences() -> tuple[Tensor, Tensor]:
    """Words [3, 6, inputs] and their mask; what stands at padded tokens is not zero."""
    words = torch.randn(len(LENGTHS), max(LENGTHS), INPUTS, dtype=torch.float64)
    return words, torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]


def encoder(*, bidirectional: bool) -> GRUEncoder:
    torch.manual_seed(3)
    return GRUEncoder(INPUTS, SIZE, bidirectional=bidirectional).double()


def by_hand(cell: GRUCell, words: Tensor) -> Tensor:
    """States [tokens, size] of one unpadded sentence [tokens, inputs], one token at a time."""
    state, states = torch.zeros(1, SIZE, dtype=torch.float64), []
    for word in words:
        state = cell(word[None], state)
        states.append(state[0])
    return torch.stack(states)


@pytest.mark.parametrize("directions", [1, 2])
def test_parameters(directions: int) -> None:
    sizes = {"width": 256, "encoder_size": 128, "state_size": 256, "gate_size": 256}
    config = sample_trial("iterative_attention", bidirectional=directions == 2, **sizes)
    count = parameter_count(build(config, torch.zeros(4, 300)))
    assert parts(directions) == (ONE_WAY if directions == 1 else BOTH_WAYS)
    assert count == sum(parts(directions)) + linear(256, 1) + linear(256, 3)
    assert count == (1_243_908 if directions == 1 else 2_113_540)


def test_a_fixed_number_of_steps_needs_no_halting_unit() -> None:
    adaptive, fixed = (
        parameter_count(build(sample_trial(name), torch.zeros(4, 300)))
        for name in ("iterative_attention", "iterative_attention_fixed_steps")
    )
    assert adaptive - fixed == SETTINGS["state_size"] + 1


def test_encoder_equals_the_cell_run_by_hand() -> None:
    (words, mask), one = sentences(), encoder(bidirectional=False)
    encoded = one(words, mask)
    for row, length in enumerate(LENGTHS):
        expected = by_hand(one.forwards, words[row, :length])
        torch.testing.assert_close(encoded[row, :length], expected)


def test_both_directions_are_forward_and_backward_by_hand() -> None:
    (words, mask), both = sentences(), encoder(bidirectional=True)
    assert both.backwards is not None
    encoded = both(words, mask)
    assert encoded.shape == (3, 6, 2 * SIZE)
    for row, length in enumerate(LENGTHS):
        sentence = words[row, :length]
        expected = [by_hand(both.forwards, sentence), by_hand(both.backwards, sentence.flip(0))]
        expected[1] = expected[1].flip(0)
        torch.testing.assert_close(encoded[row, :length], torch.cat(expected, dim=1))


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_batch_encodes_as_its_sentences_alone(bidirectional: bool) -> None:
    (words, mask), both = sentences(), encoder(bidirectional=bidirectional)
    encoded = both(words, mask)
    for row, length in enumerate(LENGTHS):
        alone = both(words[row : row + 1, :length], mask[row : row + 1, :length])
        torch.testing.assert_close(encoded[row, :length], alone[0])


@pytest.mark.parametrize("bidirectional", [False, True])
def test_padding_takes_no_part_in_gradients(bidirectional: bool) -> None:
    words, mask = sentences()
    words.requires_grad_()
    encoded = encoder(bidirectional=bidirectional)(words, mask)
    (encoded * mask[:, :, None]).square().sum().backward()
    assert words.grad is not None
    assert torch.equal(words.grad.abs().sum(dim=2) > 0, mask)


def test_the_state_persists_at_first() -> None:
    """Biases of reset and update gate start at 1 in the encoders as in the inference."""
    model = build(sample_trial("iterative_attention", bidirectional=True), torch.zeros(4, 300))
    cells = [module for module in model.modules() if isinstance(module, GRUCell)]
    assert len(cells) == 5
    assert all(torch.equal(c.gates.bias, torch.ones_like(c.gates.bias)) for c in cells)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_encoders_of_premise_and_hypothesis(bidirectional: bool, shared: bool) -> None:
    config = sample_trial("iterative_attention", bidirectional=bidirectional, shared_encoder=shared)
    model = model_checks.make(config)
    batch = sample_batch()
    same = batch._replace(premise=batch.hypothesis, premise_mask=batch.hypothesis_mask)
    memories = model.memories(same)
    assert memories.premise.shape == memories.hypothesis.shape
    assert memories.premise.shape[2] == SETTINGS["encoder_size"] * (2 if bidirectional else 1)
    assert torch.equal(memories.premise, memories.hypothesis) == shared


def test_memories_are_dropped_once() -> None:
    """Inverted dropout: each unit of a memory is 0 or twice what the encoder gave."""
    model = model_checks.make(sample_trial("iterative_attention", dropout=0.5))
    batch = sample_batch()
    whole, dropped = model.memories(batch), model.train().memories(batch)
    for name in ("premise", "hypothesis"):
        kept = getattr(dropped, name) != 0
        assert 0.3 < kept.double().mean() < 0.7
        torch.testing.assert_close(getattr(dropped, name), 2 * getattr(whole, name) * kept)


def test_an_encoder_of_size_0_is_refused() -> None:
    own = {**sample_trial("iterative_attention").flat(), "encoder_size": 0}
    for name in ("model", "seed", "max_epochs", "patience"):
        del own[name]
    with pytest.raises(ConfigError, match="encoder_size is 0; must be at least 1"):
        build_trial("iterative_attention", own, max_epochs=1, patience=0, seed=1)
