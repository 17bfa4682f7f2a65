"""Models over trees against loops over sentences, nodes and moves of a stack."""

import pytest
import torch
from torch import Tensor

from actmodels.data.pairs import collate
from actmodels.errors import DataError
from actmodels.models.spinn import Spinn, ThinStack
from actmodels.models.tree_matching import FullTree, TreeMatching
from actmodels.modules.recurrent import LSTM, LSTMState
from tests.model_checks import make
from tests.samples import sample_batch, sample_pairs, sample_sentences, sample_trial

LENGTHS, LEAVES = [5, 1, 2, 8, 3], [8, 2, 2, 8, 4]


def slow_node(tree: FullTree, left: LSTMState, right: LSTMState) -> LSTMState:
    of_left = (tree.node.left.weight @ left.hidden + tree.node.left.bias).chunk(4)
    of_right = (tree.node.right.weight @ right.hidden + tree.node.right.bias).chunk(4)
    write = torch.sigmoid(of_left[1] + of_right[1]) * torch.tanh(of_left[0] + of_right[0])
    kept = torch.sigmoid(of_left[2]) * left.cell + torch.sigmoid(of_right[2]) * right.cell
    read = torch.sigmoid(of_left[3] + of_right[3])
    return LSTMState(read * torch.tanh(write + kept), write + kept)


def read_slowly(lstm: LSTM, words: list[Tensor]) -> list[LSTMState]:
    """The state behind each word."""
    weight, bias = lstm.input_map()
    states = [LSTMState(words[0].new_zeros(lstm.state), words[0].new_zeros(lstm.state))]
    for word in words:
        states.append(lstm.step(weight @ word + bias, states[-1]))
    return states[1:]


def slow_levels(tree: FullTree, words: Tensor) -> list[list[Tensor]]:
    """The nodes of one sentence [tokens, inputs] by level, the leaves first."""
    leaves = next(size for size in (2, 4, 8, 16) if size >= len(words))
    zeros = [torch.zeros_like(words[0])] * (leaves - len(words))
    states = read_slowly(tree.leaf, [*words, *zeros])
    levels = [[state.hidden for state in states]]
    while len(states) > 1:
        pairs = zip(states[::2], states[1::2], strict=True)
        states = [slow_node(tree, left, right) for left, right in pairs]
        levels.append([state.hidden for state in states])
    return levels


@torch.no_grad()
def test_trees_equal_a_slow_loop() -> None:
    """Independent of the content of padding and of the depth of other trees."""
    torch.manual_seed(0)
    tree, (words, mask) = FullTree(4, 3, 0.0).double(), sample_sentences(LENGTHS, 4)
    nodes = tree(words, mask)
    for row, length in enumerate(LENGTHS):
        levels = slow_levels(tree, words[row, :length])
        assert len(levels[0]) == LEAVES[row]
        expected = [node for level in levels for node in level]
        torch.testing.assert_close(nodes.values[row][nodes.real[row]], torch.stack(expected))
        assert int(nodes.inner[row].sum()) == len(expected) - 1
        torch.testing.assert_close(nodes.values[row][nodes.inner[row]], torch.stack(expected[:-1]))


def slow_attention(model: TreeMatching, query: Tensor, nodes: list[Tensor]) -> Tensor:
    scores = torch.stack([node @ (model.query(query)) for node in nodes])
    shares = scores.exp() / scores.exp().sum()
    attended = sum((s * n for s, n in zip(shares, nodes, strict=True)), torch.zeros_like(query))
    return torch.relu(model.of_attended(attended) + model.of_query(query))


@torch.no_grad()
def test_matching_equals_a_slow_loop() -> None:
    model, pairs = make(sample_trial("nti_tree_matching")), sample_pairs(5)
    assert isinstance(model, TreeMatching)
    batch = collate(pairs, torch.arange(5), null_token=False)
    logits = model(batch).logits
    for row in range(5):
        trees = []
        for ids, mask in (batch[:2], batch[2:4]):
            words = model.words.look_up(ids[row][mask[row]])
            levels = slow_levels(model.tree, words)
            trees.append([node for level in levels for node in level])
        premise, hypothesis = trees
        matched = []
        for nodes, other in ((hypothesis, premise), (premise, hypothesis)):
            attended = [slow_attention(model, node, other) for node in nodes[:-1]]
            states = [state.hidden for state in read_slowly(model.reader, attended)]
            matched.append(slow_attention(model, states[-1], states[:-1]))
        hidden = torch.relu(model.hidden(torch.cat(matched)))
        torch.testing.assert_close(logits[row], model.classify(hidden))


@pytest.mark.parametrize("longest", [2, 7])
def test_dropout_does_not_depend_on_the_depth_of_other_trees(longest: int) -> None:
    """The first pair has the same masks in batches with short and with long sentences."""
    model = make(sample_trial("nti_tree_matching", dropout=0.5)).train()
    pairs = sample_pairs(40)
    lengths = pairs.premise_offsets.diff().maximum(pairs.hypothesis_offsets.diff())
    short = int((lengths <= 2).nonzero()[0])
    other = int((lengths == longest).nonzero()[-1])
    seen = []
    for rows in ([short], [short, other]):
        model.dropout_stream.restart(torch.tensor(7, dtype=torch.int32))
        seen.append(model(collate(pairs, torch.tensor(rows), null_token=False)).logits[0])
    torch.testing.assert_close(*seen)


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
