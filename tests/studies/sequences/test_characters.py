"""Windows of a text, and reading a text byte by byte."""

from pathlib import Path

import pytest
import torch

from actmodels.errors import DataError
from actmodels.models.act_rnn import ActRnn
from studies.sequences.config import CharactersConfig, SequenceHaltingConfig
from studies.sequences.drawn_tasks import Characters, read_bytes
from studies.sequences.pondering import read
from studies.sequences.training import SequenceTraining, evaluate
from tests.studies.sequences.samples import ACT, CHARACTERS, TEXT, sample_trial

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
    if halting is None:
        assert along[0]["steps"] is None
        assert along[0]["ponder_cost"] is None
    else:
        assert [row["steps"] for row in along] == pondered.steps[0].tolist()
        assert [row["ponder_cost"] for row in along] == pondered.ponder_cost[0].tolist()
    with torch.no_grad():
        model.output.weight.zero_()
    assert [row["entropy"] for row in read(model, TASK, text)] == pytest.approx(
        [torch.tensor(256.0).log().item()] * 11
    )
