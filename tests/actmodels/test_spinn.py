"""SPINN-PI against a stack machine that handles one sentence and one word at a time."""

import pytest
import torch
from torch import Tensor

from actmodels.data.pairs import collate
from actmodels.errors import DataError
from actmodels.models.spinn import Spinn
from actmodels.modules.recurrent import LSTMState
from actmodels.modules.thin_stack import ThinStack, transitions
from actmodels.packed.batches import joined_batch
from actmodels.packed.stack import stack
from tests.model_checks import make
from tests.samples import sample_batch, sample_pairs, sample_trial


def test_transitions_by_hand() -> None:
    """( ( a b ) ( c d ) ) beside ( a ( b c ) ) and a word alone."""
    mask = torch.tensor([[True] * 4, [True] * 3 + [False], [True] + [False] * 3])
    tree = torch.tensor([[0, 1, 0, 2], [0, 0, 2, 0], [0, 0, 0, 0]])
    moves = transitions(mask, tree)
    said = ["".join("SR"[not shift] for shift in row) for row in moves.shifts.tolist()]
    assert [row[:count] for row, count in zip(said, moves.last, strict=True)] == [
        *("SSRSSRR", "SSSRR", "S"),
    ]
    assert moves.words[0].tolist() == [0, 1, 2, 2, 3, 4, 4]
    # in front of each step: what lies below the top, counted in steps from 1; 0: nothing
    assert moves.seconds[0].tolist() == [0, 0, 1, 0, 3, 4, 3]
    assert moves.seconds[1].tolist()[:5] == [0, 0, 1, 2, 1]


def slow_stack(stack: ThinStack, words: Tensor, tree: list[int]) -> Tensor:
    """The sentence [size] of words [tokens, 2 · size] by lists that are pushed to and popped."""
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
def test_the_model_is_a_slow_stack_machine() -> None:
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


def test_another_parse_of_the_same_words_is_another_sentence() -> None:
    model, batch = make(sample_trial("spinn_pi")), sample_batch()
    assert batch.premise_tree is not None
    lengths = batch.premise_mask.sum(dim=1)
    right = torch.zeros_like(batch.premise_tree)
    right.scatter_(1, lengths[:, None] - 1, lengths[:, None] - 1)  # all nodes end at the end
    assert not torch.allclose(model(batch._replace(premise_tree=right)).logits, model(batch).logits)


def test_batches_of_a_pack_carry_their_trees() -> None:
    """Of different sizes, joined and filled up."""
    models = [make(sample_trial("spinn_pi", seed=seed)) for seed in (1, 2)]
    pairs = sample_pairs(9)
    own = [collate(pairs, rows, null_token=False) for rows in torch.arange(9).split(5)]
    packed = stack(models)(joined_batch(own)).logits
    for row, (model, batch) in enumerate(zip(models, own, strict=True)):
        torch.testing.assert_close(packed[row, : len(batch.rows)], model(batch).logits)


def test_trees_go_with_the_pairs_that_are_taken() -> None:
    pairs, rows = sample_pairs(9), torch.tensor([7, 0, 7])
    taken = collate(pairs.take(rows), torch.arange(3), null_token=False)
    for one, other in zip(taken[6:], collate(pairs, rows, null_token=False)[6:], strict=True):
        assert one is not None
        assert torch.equal(one, other)


def test_pairs_without_parses_are_told() -> None:
    batch = sample_batch()._replace(premise_tree=None)
    with pytest.raises(DataError, match="these pairs were made without"):
        make(sample_trial("spinn_pi"))(batch)
