"""The page of 5,000 trials: its size, and the time in which a browser opens it."""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Browser

from reports.render import render, report
from reports.sections.sweep import sampled
from tests.reports.conftest import STUDIES, load_all
from tests.reports.test_page import DESK, DRAW, FAILED, browser

pytestmark = [pytest.mark.slow(minutes=1), pytest.mark.alone]
__all__ = ["browser"]  # a fixture

TRIALS, EPOCHS = 5_000, 12
BYTES, SECONDS = 5_000_000, 2.0
AXES = {
    "learning_rate": [0.0003, 0.0005, 0.001, 0.002, 0.004],
    "dropout": [0.0, 0.1, 0.2, 0.3, 0.4],
    "ponder_weight": [0.0001, 0.0003, 0.001, 0.003, 0.01],
    "width": [50, 100, 150, 200, 250],
    "seed": [1, 2, 3, 4, 5, 6, 7, 8],
}


def write_large_sweep(folder: Path) -> None:
    """Replace the trials of Adaptive Attention by a grid of 5,000, with 12 epochs each."""
    for name in ("trials", "history"):
        path, draws = folder / f"sweep/{name}.csv", np.random.default_rng(1)
        frame = pd.read_csv(path)
        model = frame[frame["model"] == "adaptive_attention"]
        keys = [f"{number:08x}" * 2 for number in range(TRIALS)]
        grid = pd.MultiIndex.from_product(AXES.values(), names=[*AXES]).to_frame(index=False)
        rows = pd.DataFrame([model.iloc[0]] * TRIALS, index=range(TRIALS)).assign(key=keys)
        columns = [axis for axis in AXES if axis in frame] if name == "trials" else ["seed"]
        rows[columns] = grid[columns]
        if name == "history":
            rows = rows.loc[rows.index.repeat(EPOCHS)]
            rows["epoch"] = [*range(1, EPOCHS + 1)] * TRIALS
        else:
            rows["epochs"] = EPOCHS
        rows["dev_accuracy"] = draws.uniform(0.5, 0.9, len(rows))
        others = frame[frame["model"] != "adaptive_attention"]
        pd.concat([others, rows]).to_csv(path, index=False)


def test_a_page_of_5000_trials(folder: Path, browser: Browser, tmp_path: Path) -> None:
    write_large_sweep(folder)
    built, path = report(load_all(folder), STUDIES, examples=100), tmp_path / "index.html"
    path.write_text(render(built, "html", built.sections), "utf-8")
    assert path.stat().st_size < BYTES
    page = browser.new_page(**DESK)
    start = time.monotonic()
    page.goto(path.as_uri())
    page.wait_for_function("document.querySelector('.overview figure').dataset.drawn === 'true'")
    assert time.monotonic() - start < SECONDS
    page.evaluate(DRAW)
    assert page.evaluate(FAILED) == []
    page.context.close()


def test_a_sample_has_the_best_the_worst_and_those_between() -> None:
    trials = pd.DataFrame({"dev_accuracy": np.linspace(0.1, 0.9, 1001)[::-1]})
    shown, number = sampled(trials, 300)
    assert number == "10 of 1,001 trials, evenly by rank"
    assert shown.index.tolist() == [0, 111, 222, 333, 444, 555, 666, 777, 888, 1000]
    assert sampled(trials.head(10), 300)[1] == "all trials"
