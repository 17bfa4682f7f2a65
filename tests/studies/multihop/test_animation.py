"""The moving picture of a network that follows hops."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

from actmodels.tracing import Trace
from studies.multihop.animation import draw_steps, main, sentences
from studies.multihop.config import CorpusConfig
from tests.reports.conftest import STORED

TEXT = "{http://www.w3.org/2000/svg}text"


def traced(order: list[int], facts: int) -> Trace:
    """Return a trace that attends to the first word of these facts, and halts after the last."""
    steps = len(order)
    premise = torch.zeros(1, steps + 1, 4 * facts)
    premise[0, range(steps), [4 * fact for fact in order]] = 1.0
    halting = torch.tensor([[*[0.0] * (steps - 1), 0.98, 0.5]])
    one, many = torch.tensor([[0.1, 0.8, 0.1]]), torch.zeros(1, steps + 1, 3)
    return Trace(halting, halting, many, premise, many, one, torch.tensor([steps]))


def test_each_step_marks_the_fact_that_it_attends_to() -> None:
    picture = draw_steps(["A in b.", "C in <d>.", "B in e."], "A in e.", traced([0, 2], 3))
    texts = [element.text for element in ElementTree.fromstring(picture).iter(TEXT)]
    assert texts == [
        "Does it follow? A in e.",
        *("1", "A in b.", "C in <d>.", "2", "B in e."),
        "Step 1: halting probability 0.00",
        "Step 2: halting probability 0.98. Halts: entailment.",
    ]
    assert picture.count("<rect") == 3  # the ground, and a box for each step


def test_the_end_shows_without_animations() -> None:
    elements = ElementTree.fromstring(draw_steps(["A in b."], "A in b.", traced([0], 1)))
    hidden = [element.text for element in elements.iter(TEXT) if element.get("opacity") == "0"]
    assert hidden == []
    times = [moving.get("keyTimes") for moving in elements.iter() if moving.get("keyTimes")]
    assert times == ["0.0000;0.1667;0.3333", "0.0000;0.1667", "0.0000;0.1667"]  # six frames


def test_words_of_a_premise() -> None:
    assert sentences(torch.tensor([3, 8, 4, 9]), CorpusConfig(1, 3, 0)) == ["Bag doubt attic."]


def test_a_study_that_has_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "params.yaml").write_bytes((STORED.parents[2] / "params.yaml").read_bytes())
    (tmp_path / "artifacts/studies/multihop").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="dvc repro study@multihop"):
        main(tmp_path / "steps.svg")
