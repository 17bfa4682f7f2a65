"""The memory of a worker does not grow with its trials."""

from dataclasses import replace
from pathlib import Path

import pytest

from actmodels.data.stored import save_stored
from bench.work import PAPER, drawn_data, trial
from tests.tune.in_workers import read_notes, watch
from tune.execution import Execution
from tune.grid import with_keys
from tune.sweep import run_trials

KEPT = 40  # MB by which a worker may grow over trials 2 to 5; without malloc_trim it was 117 to 134


@pytest.mark.slow
@pytest.mark.alone
def test_a_worker_does_not_grow_with_its_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = drawn_data(replace(PAPER, pairs=400, words=15_000))
    for name, part in (("train", data.train), ("dev", data.dev), ("embedding", data.words)):
        save_stored(vars(part), tmp_path / f"{name}.pt")
    watch(monkeypatch, tmp_path / "notes.jsonl")
    state = tmp_path / "state"
    execution = Execution(tmp_path, state, state / "ray", workers=1)
    configs = [trial(PAPER.width, 32, seed=seed) for seed in range(1, 6)]
    run_trials("sweep", with_keys(configs, "data", execution), execution)
    notes = read_notes(tmp_path / "notes.jsonl")
    before, after = ([note[name] for note in notes] for name in ("before", "after"))
    assert len(before) == 5
    assert min(before[3:]) - before[1] < KEPT  # growth stays; a single measurement can be a peak
    assert all(small < large for small, large in zip(before, after, strict=True))
