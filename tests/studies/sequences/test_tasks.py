"""The generated tasks: reference loops, padding, difficulty."""

import pytest
import torch

from studies.sequences.config import (
    AdditionConfig,
    LogicConfig,
    ParityConfig,
    SortConfig,
    TaskConfig,
)
from studies.sequences.drawn_tasks import END, NAMES, Addition, Logic, Parity, Sort
from studies.sequences.training import build_task
from tests.studies.sequences.samples import GENERATED


def seeded(seed: int = 1) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("config", GENERATED)
def test_padding_is_zero_and_every_difficulty_is_as_likely(config: TaskConfig) -> None:
    batch = build_task(config).sample(4000, seeded())
    lengths, (_, longest) = batch.mask.sum(dim=1), batch.mask.shape
    assert (int(lengths.min()) >= 1, int(lengths.max())) == (True, longest)
    assert torch.equal(batch.mask, torch.arange(longest) < lengths[:, None])
    assert not batch.inputs[~batch.mask].any() and not batch.difficulty[~batch.mask].any()
    assert not batch.targets[~batch.target_mask].any()
    assert not (batch.target_mask & ~batch.mask).any()
    levels = batch.difficulty[:, 0]
    counts = torch.bincount(levels)[int(levels.min()) :].double()
    share = 1 / len(counts)
    error = (share * (1 - share) / 4000) ** 0.5
    assert bool(((counts / 4000 - share).abs() < 4 * error).all())


def test_parity_against_a_slow_loop() -> None:
    batch = Parity(ParityConfig(bits=9)).sample(300, seeded())
    assert batch.difficulty.unique().tolist() == list(range(1, 10))
    for row, vector in enumerate(batch.inputs[:, 0].tolist()):
        assert set(vector) <= {-1.0, 0.0, 1.0}
        assert batch.difficulty[row, 0] == sum(value != 0 for value in vector)
        assert batch.targets[row, 0, 0] == vector.count(1.0) % 2


# The meaning of each gate, independent of the truth table.
MEANING = {
    "NOR": lambda p, q: not (p or q),
    "Xq": lambda p, q: not p and q,
    "ABJ": lambda p, q: p and not q,
    "XOR": lambda p, q: p != q,
    "NAND": lambda p, q: not (p and q),
    "AND": lambda p, q: p and q,
    "XNOR": lambda p, q: p == q,
    "if/then": lambda p, q: not p or q,
    "then/if": lambda p, q: p or not q,
    "OR": lambda p, q: p or q,
}


def test_logic_against_a_slow_loop() -> None:
    task = Logic(LogicConfig(vectors=4, gates=5))
    batch = task.sample(200, seeded())
    for row in range(200):
        before = 0
        for t in range(int(batch.mask[row].sum())):
            vector = batch.inputs[row, t].tolist()
            assert t == 0 or vector[0] == 0
            older, newest = bool(vector[0]) if t == 0 else before, bool(vector[1])
            chunks = [vector[2 + 10 * i : 12 + 10 * i] for i in range(5)]
            used = [chunk.index(1.0) for chunk in chunks if any(chunk)]
            assert all(sum(chunk) == 1 for chunk in chunks[: len(used)])
            assert len(used) == batch.difficulty[row, t]
            for gate in used:
                older, newest = newest, MEANING[NAMES[gate]](newest, older)
            before = newest
            assert batch.targets[row, t, 0] == newest


def test_addition_against_a_slow_loop() -> None:
    task = Addition(AdditionConfig(4, 3))
    batch = task.sample(200, seeded())
    for row in range(200):
        total = 0
        for t in range(int(batch.mask[row].sum())):
            width = int(batch.difficulty[row, t])
            vector = batch.inputs[row, t].tolist()
            digits = [vector[10 * i : 10 * i + 10].index(1.0) for i in range(width)]
            assert sum(vector) == width
            total += int("".join(map(str, digits)))
            written = [int(digit) for digit in str(total)]
            written += [END] * (task.outputs.heads - len(written))
            assert bool(batch.target_mask[row, t]) == (t > 0)
            if t:
                assert batch.targets[row, t].tolist() == written


def test_sort_against_a_slow_loop() -> None:
    batch = Sort(SortConfig(numbers=6)).sample(200, seeded())
    for row in range(200):
        count = int(batch.difficulty[row, 0])
        numbers = batch.inputs[row, :count, 0].tolist()
        order = sorted(range(count), key=lambda place: numbers[place])
        assert batch.targets[row, count : 2 * count, 0].tolist() == order
        assert batch.target_mask[row].nonzero()[:, 0].tolist() == [*range(count, 2 * count)]
        assert batch.inputs[row, :, 1].nonzero()[:, 0].tolist() == [count - 1]
        assert not batch.inputs[row, count:, 0].any()
