"""What Ray and MLflow cost: seconds of a worker for very short trials, and what of them trains.

Two sweeps, run by the very code that runs a sweep, take turns: trials of one epoch, and of more.
What counts is the steady state, from the end of each worker's first trial, which loads code and
data, to the end of the last trial. What is not training includes evaluating 64 pairs each epoch.
Neither params.yaml nor `state/` nor servers of the user's have a part in it.
"""

import os
import time
from functools import partial
from itertools import count
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from actmodels.data.stored import save_stored
from bench.plan import Plan, Say
from bench.timing import interleaved, summary
from bench.work import Sizes, drawn_data, trial
from tune.execution import Execution
from tune.grid import with_keys
from tune.mlflow_store import RunStore
from tune.sweep import run_trials

DEMO = Sizes(64, 4000, 300, 64)  # the embedded corpus and its models, but for the pairs
EPOCHS = (1, 3)  # of the trials of each sweep
DONE = "tags.kind = 'trial' AND attributes.status = 'FINISHED'"


def measure(plan: Plan, say: Say) -> dict[str, Any]:
    """A row for each sweep."""
    for name in ("RAY_ADDRESS", "MLFLOW_TRACKING_URI"):  # what is the user's is not measured
        os.environ.pop(name, None)
    data, folder, state = drawn_data(DEMO), plan.workspace, plan.workspace / "state"
    for name, part in (("train", data.train), ("dev", data.dev), ("embedding", data.words)):
        save_stored(vars(part), folder / f"{name}.pt")
    execution, seeds = Execution(folder, state, state / "ray", 1, 0, 0, False), count(1)
    workers = os.cpu_count() or 1
    trials = workers * plan.trials_per_worker

    def sweep(epochs: int) -> dict[str, float]:
        configs = [
            trial(DEMO.width, 32, max_epochs=epochs, seed=next(seeds)) for _ in range(trials)
        ]
        keyed = with_keys(configs, data_digest="drawn", device="cpu", threads=1)
        began, cpu = time.time(), time.process_time()
        records = run_trials("benchmark", keyed, execution)
        seconds, cpu = time.time() - began, time.process_time() - cpu
        trained = [sum(epoch.seconds or 0.0 for epoch in record.history) for record in records]
        written = [state / "trials" / f"{record.key}.json" for record in records]
        ends = sorted(zip([path.stat().st_mtime for path in written], trained, strict=True))
        (first, _), steady = ends[workers - 1], ends[workers:]
        return {
            "seconds": seconds,
            "until_steady": first - began,
            "worker_seconds_per_trial": (ends[-1][0] - first) * workers / len(steady),
            "training_seconds_per_trial": fmean(trained for _, trained in steady),
            "driver_cpu_seconds": cpu,
        }

    with TemporaryDirectory(prefix="ray-") as rays:  # a short path, as sockets need
        os.environ["RAY_TMPDIR"] = rays
        turns = {epochs: partial(sweep, epochs) for epochs in EPOCHS}
        runs = interleaved(turns, plan.sweep_repeats, say, warm_ups=0)
    tracked = len(RunStore(state).search(DONE))
    rows = [
        {"trials": trials, "epochs": epochs}
        | {name: summary(run[name] for run in found) for name in found[0]}
        for epochs, found in runs.items()
    ]
    return {"workers": workers, "rounds": plan.sweep_repeats, "tracked": tracked, "rows": rows}
