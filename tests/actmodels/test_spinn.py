"""SPINN-PI against a stack machine for one sentence."""

import pytest
import torch
from torch import Tensor

from actmodels.data.pairs import collate
from actmodels.errors import DataError
from actmodels.models.spinn import Spinn, ThinStack
from actmodels.modules.recurrent import LSTMState
from tests.model_checks import make
from tests.samples import sample_batch, sample_pairs, sample_trial


def slow_stack(stack: ThinStack, words: Tensor, tree: list[int]) -> Tensor:
    """Encode words [tokens, 2 · size] as [size], with a list as the stack."""
    size = stack.size
    nothing = torch.zeros(2 * size, dtype=words.dtype)
    buffer, pile = list(words), [nothing, nothing]
    state = LSTMState(words.new_zeros(stack.tracker.state), words.new_zeros(stack.tracker.state))
    plan = [move for ended in tree for move in ("S", *"R" * ended)]
    weight, bias = stack.tracker.input_map()
    for move in plan:
        word = buffer[0] if buffer else nothing
        seen = torch.cat([word[:size], pile[-1][:size], pile[-2][:size]])
        state = stack.tracker.step(weight @ seen + bias, state)
        if move == "S":
            pile.append(buffer.pop(0))
            continue
        right, left = pile.pop(), pile.pop()
        read = torch.cat([left[:size], right[:size], state.hidden])
        write, left_kept, right_kept, out, new = stack.compose(read).split(size)
        cell = torch.sigmoid(write) * torch.tanh(new)
        cell = cell + torch.sigmoid(left_kept + 1) * left[size:]
        cell = cell + torch.sigmoid(right_kept + 1) * right[size:]
        pile.append(torch.cat([torch.sigmoid(out) * torch.tanh(cell), cell]))
    assert (len(pile), buffer) == (3, [])
    return pile[-1][:size]


@torch.no_grad()
def test_the_model_equals_a_slow_stack_machine() -> None:
    model, pairs = make(sample_trial("spinn_pi")), sample_pairs(8)
    assert isinstance(model, Spinn)
    for parameter in model.parameters():
        parameter.add_(0.1)  # no bias is 0
    batch = collate(pairs, torch.arange(8), null_token=True)
    logits = model(batch).logits
    for row in range(8):
        encoded = []
        sides = (
            (batch.premise, batch.premise_mask, batch.premise_tree),
            (batch.hypothesis, batch.hypothesis_mask, batch.hypothesis_tree),
        )
        for ids, mask, tree in sides:
            assert tree is not None
            words = model.words(ids[row][mask[row]])
            encoded.append(slow_stack(model.stack, words, tree[row][mask[row]].tolist()))
        premise, hypothesis = encoded
        pair = torch.cat([premise, hypothesis, premise - hypothesis, premise * hypothesis])
        hidden = torch.relu(model.second(torch.relu(model.first(pair))))
        torch.testing.assert_close(logits[row], model.classify(hidden))


def test_take_keeps_the_trees() -> None:
    pairs, rows = sample_pairs(9), torch.tensor([7, 0, 7])
    taken = collate(pairs.take(rows), torch.arange(3), null_token=False)
    for one, other in zip(taken[6:], collate(pairs, rows, null_token=False)[6:], strict=True):
        assert one is not None
        assert torch.equal(one, other)


def test_pairs_without_parses_are_an_error() -> None:
    batch = sample_batch()._replace(premise_tree=None)
    with pytest.raises(DataError, match="spinn_pi needs parses, but these pairs have none"):
        make(sample_trial("spinn_pi"))(batch)
