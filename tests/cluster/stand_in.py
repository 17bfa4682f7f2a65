"""The driver of the rehearsal: a sweep over the paper's grid whose trials only sleep and save.

python -m tests.cluster.stand_in FOLDER STORE EPOCHS SECONDS SIZE writes FOLDER/costs.json.
"""

import functools
import json
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

import tune.on_ray
from actmodels.config import TrialConfig
from actmodels.data.stored import save_stored
from actmodels.records import EpochRecord
from bench.work import TINY, drawn_data
from pipeline.parameters.trials import sweep_trials
from tests.pipeline.test_presets import compose
from tune.callback import DriverCallback
from tune.execution import Execution
from tune.grid import Trial, with_keys
from tune.sweep import run_trials
from tune.tracking import Tracker

# Numbers in a checkpoint: parameters, the best ones, and the optimiser's one or two for each.
NUMBERS = {"adaptive_attention": 3 * 982_716, "decomposable_attention": 4 * 381_803}
CLOCKED = {
    Tracker: ("_write",),
    DriverCallback: ("on_trial_start", "on_trial_result", "on_trial_complete"),
}


class StandIn:
    """What training looks like from outside; an epoch is a nap of `seconds`."""

    def __init__(self, config: TrialConfig, seconds: float, size: float) -> None:
        self.config, self.seconds, self.parameters = config, seconds, NUMBERS[config.model] // 3
        self.history: list[EpochRecord] = []
        self.diverged = False
        self.numbers = torch.zeros(round(NUMBERS[config.model] * size))

    @property
    def finished(self) -> bool:
        return len(self.history) >= self.config.max_epochs

    def run_epoch(self) -> None:
        begin = time.monotonic()
        time.sleep(self.seconds)
        epoch = len(self.history) + 1
        figures = (1 / epoch, 1 - 1 / epoch, 5.1, 1.4, 5.6)
        seconds = time.monotonic() - begin
        self.history.append(EpochRecord(epoch, *figures, *figures, 0.001, seconds))

    def state_dict(self) -> dict[str, Any]:
        return {"history": [vars(epoch) for epoch in self.history], "numbers": self.numbers}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.history = [EpochRecord(**epoch) for epoch in state["history"]]


def run_pack(config: dict[str, Any], *, seconds: float, size: float, **settings: Any) -> None:
    """The product's, which finds nothing to train but this."""
    import tune.trainable

    def started(configs: Sequence[TrialConfig], *_: Any, **__: Any) -> Any:
        (one,) = configs
        training = StandIn(one, seconds, size)
        return training, [training]

    tune.trainable.started = started  # type: ignore[assignment]
    tune.trainable.run_pack(config, **settings)


def grid(folder: Path, epochs: int) -> list[Trial]:
    """The paper's, which `pipeline.sweep` would run."""
    sweep = compose(folder, "preset=paper").sweep
    short = sweep.model_copy(update={"max_epochs": epochs, "patience": 0})
    return with_keys(sweep_trials(short), data_digest="rehearsed", device="cuda", threads=1)


def clock(owner: type, name: str, spent: dict[str, list[float]]) -> None:
    """Add up the calls of a method, their seconds, and the processor's of their thread."""
    method = getattr(owner, name)

    @functools.wraps(method)
    def clocked(*args: Any, **kwargs: Any) -> Any:
        wall, cpu = time.monotonic(), time.thread_time()
        try:
            return method(*args, **kwargs)
        finally:
            gone = (1, time.monotonic() - wall, time.thread_time() - cpu)
            spent[name] = [a + b for a, b in zip(spent[name], gone, strict=True)]

    setattr(owner, name, clocked)


def main(folder: Path, store: str, epochs: int, seconds: float, size: float) -> None:
    """Run the sweep."""
    data = drawn_data(TINY)
    for name, part in (("train", data.train), ("dev", data.dev), ("embedding", data.words)):
        save_stored(vars(part), folder / f"{name}.pt")
    tune.on_ray.run_pack = functools.partial(run_pack, seconds=seconds, size=size)  # type: ignore
    spent: dict[str, list[float]] = defaultdict(lambda: [0, 0, 0])
    for owner, names in CLOCKED.items():
        for name in names:
            clock(owner, name, spent)
    patience = {
        "wait_for_nodes": 60,
        "wait_for_answer": 600,
    }  # nodes share one machine's processors
    execution = Execution(folder, folder / "state", store, 1, 1, 3, False, **patience)
    trials = grid(folder, epochs)
    begin = time.monotonic()
    records = run_trials("sweep", trials, execution)
    costs = {
        "trials": len(records),
        "epochs": sum(len(record.history) for record in records),
        "wall": time.monotonic() - begin,
        "cpu": time.process_time(),
        "slept": sum(epoch.seconds or 0 for record in records for epoch in record.history),
        "spent": spent,
    }
    (folder / "costs.json").write_text(json.dumps(costs, indent=1))


if __name__ == "__main__":
    folder, store, epochs, seconds, size = sys.argv[1:]
    main(Path(folder), store, int(epochs), float(seconds), float(size))
