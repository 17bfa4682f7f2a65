"""The progress bar of a sweep."""

import sys
from dataclasses import replace

import pytest

from actmodels.records import EpochRecord
from tests.tune.tracking_samples import epoch
from tune.progress import Progress


def best(accuracy: float) -> EpochRecord:
    return replace(epoch(1), dev_accuracy=accuracy)


def test_counts_and_best() -> None:
    progress = Progress("sweep", trials=4, epochs=40)
    for name in "abc":
        progress.started(name)
    progress.reached("a", 1, best(0.4))
    progress.reached("b", 10, best(0.7))
    for _ in range(2):  # resumed
        progress.reached("a", 4, best(0.6))
    progress.ended("b", 10)
    progress.ended("a", 10)  # stopped early: 6 epochs are taken out
    progress.ended("c", 10, "failed")
    progress.reached("d", 1, best(0.9))
    progress.ended("d", 10, "diverged")  # not the best
    assert progress.bar.n == 15
    assert progress.bar.total == 15
    assert progress.bar.postfix == "2/4 done, 0 running, 1 diverged, 1 failed, best dev 70.0 % (b)"
    progress.close()


def test_the_bar_of_a_short_sweep_ends_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    Progress("sweep", trials=1, epochs=1).close()
    print("error: the next message", file=sys.stderr)
    *_, bar, message = capsys.readouterr().err.splitlines()
    assert bar.startswith("\rsweep: ") or bar.startswith("sweep: ")
    assert message == "error: the next message"


def test_the_first_estimate_counts_neither_the_start_nor_resumed_epochs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Workers start within 60 s; an epoch then takes 1 s, and one trial has 50 epochs already."""
    now = [0.0]
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])
    progress = Progress("sweep", trials=2, epochs=200)
    for second in range(10):
        now[0] = 60.0 + second
        progress.reached("a", second + 1, best(0.4))
        progress.reached("b", second + 51, best(0.4))
    state = progress.bar.format_dict
    assert (state["n"], state["initial"]) == (70, 50)
    assert 1.5 < (state["rate"] or (state["n"] - state["initial"]) / state["elapsed"]) < 2.5
    progress.close()
