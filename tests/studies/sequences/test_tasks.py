"""The tasks: reference loops, padding, difficulty, and windows of a text read byte by byte."""

from pathlib import Path

import pytest
import torch

from actmodels.errors import DataError
from actmodels.models.act_rnn import ActRnn
from studies.sequences.config import (
    AdditionConfig,
    CharactersConfig,
    LogicConfig,
    ParityConfig,
    SequenceHaltingConfig,
    SortConfig,
    TaskConfig,
)
from studies.sequences.drawn_tasks import (
    END,
    NAMES,
    Addition,
    Characters,
    Logic,
    Parity,
    Sort,
    read_bytes,
)
from studies.sequences.pondering import read
from studies.sequences.training import SequenceTraining, build_task, evaluate
from tests.studies.sequences.samples import ACT, CHARACTERS, GENERATED, TEXT, sample_trial


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


TASK = Characters(CHARACTERS, TEXT, "text")


def test_windows_come_from_their_part_and_targets_are_the_next_bytes() -> None:
    text = torch.arange(100, dtype=torch.uint8)  # each byte is its own position
    task = Characters(CharactersConfig(window=7, held_out_bytes=30), text, "text")
    generator = torch.Generator().manual_seed(1)
    for batch, first, end in (
        (task.sample(2000, generator), 0, 70),
        (task.sample_dev(2000, generator), 70, 100),
    ):
        codes = batch.inputs.argmax(dim=-1)
        assert batch.inputs.shape == (2000, 7, 256) and batch.inputs.sum() == 2000 * 7
        assert torch.equal(codes - codes[:, :1], torch.arange(7).expand(2000, 7))
        assert torch.equal(codes + 1, batch.targets[..., 0])
        assert (int(codes.min()), int(batch.targets.max())) == (first, end - 1)


@pytest.mark.skipif(not Path("/proc/self/maps").is_file(), reason="needs Linux")
def test_a_text_is_mapped_and_not_copied(tmp_path: Path) -> None:
    """Windows are views of the file, which all workers of a machine share."""
    path = tmp_path / "text"
    path.write_bytes(bytes([0, 200, 255, *TEXT.tolist()]))
    text = read_bytes(path)
    assert text[:3].tolist() == [0, 200, 255]
    assert str(path) in Path("/proc/self/maps").read_text()
    task = Characters(CHARACTERS, text, "text")
    assert task.trained.data_ptr() == text.data_ptr()
    assert task.held_out.data_ptr() == text.data_ptr() + len(text) - 40


def test_accuracy_is_of_single_bytes() -> None:
    """Hardly any window is correct as a whole, so epochs could not be compared."""
    training = SequenceTraining(sample_trial(task=CHARACTERS, halting=None), TEXT)
    with torch.no_grad():
        training.model.output.weight.zero_()
        training.model.output.bias.zero_()
        training.model.output.bias[ord("o")] = 9.0  # always "o"
    evaluation = evaluate(training.model, TASK.outputs, training.dev, 16)
    share = (training.dev.targets == ord("o")).double().mean().item()
    assert 0 < share < 1
    assert evaluation.metrics(TASK.accuracy_unit).accuracy == pytest.approx(share)
    assert evaluation.metrics("sequence").accuracy == 0
    means = training.train_epoch()
    assert means.examples() == 5 * 16


def test_a_missing_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for name in ("enwik8", "empty"):
        with pytest.raises(DataError, match=rf"{name}: no such file, or empty; characters need"):
            read_bytes(tmp_path / name)


@pytest.mark.parametrize(
    ("held_out", "length", "part"), [(20, 26, "6 bytes are left to"), (5, 180, "5 bytes are held")]
)
def test_a_part_too_short(held_out: int, length: int, part: str) -> None:
    with pytest.raises(DataError, match=f"enwik8: {part} .* the byte after it are 8; "):
        Characters(CharactersConfig(7, held_out), TEXT[:length], "enwik8")


@pytest.mark.parametrize("halting", [ACT, None])
def test_reading_along_a_text(halting: SequenceHaltingConfig) -> None:
    """The same as one window of the text; a uniform prediction has the entropy ln 256."""
    model = ActRnn(256, 256, sample_trial().network, halting).double()
    text = b"a fox, a dog"
    along = read(model, TASK, text)
    assert bytes(row["byte"] for row in along) == text[:-1]
    batch = TASK.batch(torch.tensor([list(text)]))
    pondered = model(batch.inputs.double(), batch.mask)
    expected = torch.nn.functional.cross_entropy(
        pondered.logits[0], batch.targets[0, :, 0], reduction="none"
    )
    assert [row["loss"] for row in along] == pytest.approx(expected.tolist())
    for name in ("steps", "ponder_cost"):
        expected = [None] * 11 if halting is None else getattr(pondered, name)[0].tolist()
        assert [row[name] for row in along] == expected
    with torch.no_grad():
        model.output.weight.zero_()
    assert [row["entropy"] for row in read(model, TASK, text)] == pytest.approx(
        [torch.tensor(256.0).log().item()] * 11
    )
