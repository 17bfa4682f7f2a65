"""Figures by kind of byte, against a loop over bytes."""

import math

import pytest
import torch

from actmodels.sequences.act_rnn import ActRnn
from actmodels.sequences.characters import Characters
from actmodels.sequences.config import CharactersConfig, SequenceHaltingConfig
from actmodels.sequences.pondering import KINDS, KindFigures, by_kind, entropy, kind_of, read
from actmodels.settings import FixedStepsConfig
from tests.actmodels.sequences.samples import ACT, sample_trial

TEXT = torch.tensor(list("Zoë, 24 <b>; [[fox]]\nno. Yes! ".encode() * 9), dtype=torch.uint8)
TASK = Characters(CharactersConfig(window=7, held_out_bytes=120), TEXT, "text")


@pytest.mark.parametrize(
    ("kind", "bytes_"),
    [
        ("letter", "aZë"),
        ("digit", "09"),
        ("space", " \t"),
        ("line end", "\n"),
        ("sentence end", ".!?"),
        ("comma, colon or semicolon", ",;:"),
        ("markup or other mark", "<>[]{}|='\"&-/()#\x00"),
    ],
)
def test_the_kind_of_a_byte(kind: str, bytes_: str) -> None:
    assert {kind_of(byte) for byte in bytes_.encode()} == {kind}


def test_each_byte_has_one_of_the_kinds() -> None:
    assert {kind_of(byte) for byte in range(256)} == set(KINDS)


def figures(halting: SequenceHaltingConfig, at_a_time: int = 16) -> list[KindFigures]:
    model = network(halting)
    return by_kind(model, TASK, 40, torch.Generator().manual_seed(1), at_a_time)


def network(halting: SequenceHaltingConfig) -> ActRnn:
    torch.manual_seed(1)
    return ActRnn(256, 256, sample_trial().network, halting)


@pytest.mark.parametrize("halting", [ACT, FixedStepsConfig(steps=2), None])
def test_against_a_loop(halting: SequenceHaltingConfig) -> None:
    found = figures(halting, at_a_time=16)  # 16, 16 and 8
    model, generator = network(halting), torch.Generator().manual_seed(1)
    drawn = [TASK.sample_dev(count, generator) for count in (16, 16, 8)]
    by: dict[str, list[tuple[float | None, ...]]] = {}
    for batch in drawn:
        for row in range(len(batch.inputs)):
            codes = [*batch.inputs[row].argmax(dim=-1).tolist(), int(batch.targets[row, -1, 0])]
            for one in read(model, TASK, bytes(codes)):
                figures_of = (one.steps, one.ponder_cost, one.loss, one.entropy)
                by.setdefault(kind_of(one.byte), []).append(figures_of)
    assert [kind.kind for kind in found] == [kind for kind in KINDS if kind in by]
    assert sum(kind.count for kind in found) == 40 * 7
    for kind in found:
        assert kind.count == len(by[kind.kind])
        for place, mean in enumerate((kind.steps, kind.ponder_cost, kind.loss, kind.entropy)):
            values = [one[place] for one in by[kind.kind]]
            if values[0] is None:
                assert mean is None
            else:
                assert mean == pytest.approx(sum(values) / len(values), rel=1e-5)  # type: ignore[arg-type]


def test_same_windows_same_figures() -> None:
    assert figures(ACT) == figures(ACT)


def test_how_many_at_a_time_changes_no_draw() -> None:
    one, other = figures(ACT, at_a_time=40), figures(ACT, at_a_time=8)
    assert [kind.count for kind in one] == [kind.count for kind in other]


def test_entropy_by_hand() -> None:
    logits = torch.tensor([[0.0, 0.0, 0.0, 0.0], [math.log(3.0), 0.0, -1e9, -1e9]])
    half = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert entropy(logits).tolist() == pytest.approx([math.log(4), half])
