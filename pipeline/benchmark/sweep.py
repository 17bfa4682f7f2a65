"""What Ray and MLflow cost: seconds of a worker beyond training, for a trial and for an epoch.

Sweeps of very short trials, run by the very code that runs a sweep, take turns: one trial for each
worker, many of them, and as many of more epochs. What starting and ending a sweep takes is the
same in all of them, so their differences are what a trial and an epoch take; what is counted
includes the evaluation of an epoch on 64 pairs. Neither params.yaml nor `state/` nor servers of
the user's have a part in it.
"""

import os
from functools import partial
from itertools import count
from tempfile import TemporaryDirectory
from typing import Any

from actmodels.data.stored import save_stored
from pipeline.benchmark.plan import Plan, Say
from pipeline.benchmark.timing import Timed, interleaved, summary, timed
from pipeline.benchmark.work import Sizes, drawn_data, trial
from tune.execution import Execution
from tune.grid import with_keys
from tune.mlflow_store import RunStore
from tune.sweep import run_trials

DEMO = Sizes(64, 4000, 300, 64)  # the embedded corpus and its models, but for the pairs
EPOCHS = 3  # of the longer trials
DONE = "tags.kind = 'trial' AND attributes.status = 'FINISHED'"
USERS = ("RAY_ADDRESS", "MLFLOW_TRACKING_URI")  # a cluster and a server that are not measured
Sweep = tuple[int, int]  # trials, and epochs of each


def measure(plan: Plan, say: Say) -> dict[str, Any]:
    """A row for each sweep, and what follows of them."""
    for name in USERS:
        os.environ.pop(name, None)
    data, folder, state = drawn_data(DEMO), plan.workspace, plan.workspace / "state"
    for name, part in (("train", data.train), ("dev", data.dev), ("embedding", data.words)):
        save_stored(vars(part), folder / f"{name}.pt")
    execution, seeds = Execution(folder, state, state / "ray", 1, 0, 0, False), count(1)

    def train(sweep: Sweep) -> float:
        """Run a sweep of new trials; returns the seconds in which they trained, all together."""
        trials, epochs = sweep
        configs = [
            trial(DEMO.width, 32, max_epochs=epochs, seed=next(seeds)) for _ in range(trials)
        ]
        keyed = with_keys(configs, data_digest="drawn", device="cpu", threads=1)
        records = run_trials("benchmark", keyed, execution)
        return sum(epoch.seconds or 0.0 for record in records for epoch in record.history)

    workers, each = os.cpu_count() or 1, plan.trials_per_worker
    few, many, longer = sweeps = [(workers, 1), (workers * each, 1), (workers * each, EPOCHS)]
    with TemporaryDirectory(prefix="ray-") as rays:  # a short path, as sockets need
        os.environ["RAY_TMPDIR"] = rays
        turns = {sweep: partial(timed, partial(train, sweep)) for sweep in sweeps}
        runs = interleaved(turns, plan.sweep_repeats, say, warm_ups=0)
    store = RunStore(state)
    tracked = len(store.search(DONE))
    store.release()

    def beyond(run: Timed) -> float:
        return run.wall - run.count / workers

    def difference(more: Sweep, less: Sweep, number: int) -> dict[str, float]:
        pairs = zip(runs[more], runs[less], strict=True)
        return summary((beyond(a) - beyond(b)) / number for a, b in pairs)

    return {
        "workers": workers,
        "trials": plan.sweep_repeats * sum(trials for trials, _ in sweeps),
        "tracked": tracked,
        "seconds_per_trial": difference(many, few, each - 1),
        "seconds_per_epoch": difference(longer, many, each * (EPOCHS - 1)),
        "rows": [
            {
                "trials": trials,
                "epochs": epochs,
                "seconds": summary(run.wall for run in found),
                "training_seconds": summary(run.count for run in found),
                "driver_cpu_seconds": summary(run.cpu for run in found),
            }
            for (trials, epochs), found in runs.items()
        ],
    }
