"""The example of docs/reports.md that reads results from Python runs as printed."""

import re
import shutil
from pathlib import Path
from typing import Any

from tests.tune.tracking_samples import record
from tune.tracking.tracker import LoggedTrial, Tracker

ROOT = Path(__file__).parents[2]


def test_the_example_reads_trials_epochs_and_runs(folder: Path) -> None:
    shutil.copytree(ROOT / "tests/fixtures/artifacts", folder / "artifacts")
    (folder / "state").mkdir()
    trial = LoggedTrial("k1", "k1-model", "one", {"learning_rate": 0.1}, "d")
    Tracker("sweep", "g", {}, folder / "state").finish("FINISHED", {}, [(trial, record("k1"))])
    page = (ROOT / "docs/reports.md").read_text("utf-8").partition("## Results in pandas")[2]
    example = re.search("```python\\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(example[1] if example else "", names)
    assert len(names["trials"]) == 8 and set(names["epochs"]["key"]) == set(names["trials"]["key"])
    assert names["seeds"]["count"].sum() == 8
    assert names["runs"]["tags.trial_key"].tolist() == ["k1"]
    assert names["runs"]["metrics.best_dev_accuracy"].tolist() == [0.6]
