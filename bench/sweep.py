"""Measure the overhead of Ray and MLflow: start-up, and worker time of very short trials.

    python -m bench.sweep

Trials have one epoch. Times per trial are of the steady state: from the end of each worker's first
trial, which loads code and data, to the end of the last trial. The overhead includes evaluating 64
pairs. Joblib (`bench.joblib_sweep`) trains trials of the same settings and logs them to MLflow; of
both the whole is measured, too. The user's state and servers are not touched.
"""

import os
import time
from dataclasses import replace
from itertools import count
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from actmodels.data.pairs import save_stored
from bench.joblib_sweep import joblib_seconds
from bench.timing import interleaved, markdown_table, one_line, quick_requested, summary
from bench.work import Sizes, drawn_data, trial
from pipeline.runtime.stage import run_command
from tune.sweep import run_trials
from tune.trials.execution import Execution
from tune.trials.grid import with_keys
from tune.trials.provenance import machine

DEMO = Sizes(64, 4000, 300, 64)  # the sizes of the embedded corpus, except the number of pairs


def rows(folder: Path, trials: int, repeats: int) -> list[dict[str, Any]]:
    """Run the sweeps in an empty folder; return a table row."""
    data, state = drawn_data(DEMO), folder / "state"
    for name, part in (("train", data.train), ("dev", data.dev), ("embedding", data.words)):
        save_stored(vars(part), folder / f"{name}.pt")
    execution, seeds = Execution(folder, state, state / "ray"), count(1)
    workers = os.cpu_count() or 1

    def sweep() -> dict[str, float]:
        configs = [trial(DEMO.width, 32, max_epochs=1, seed=next(seeds)) for _ in range(trials)]
        keyed = with_keys(configs, "drawn", execution)
        start, cpu_start = time.time(), time.process_time()
        records = run_trials("benchmark", keyed, execution)
        seconds, cpu_seconds = time.time() - start, time.process_time() - cpu_start
        trained = [sum(epoch.seconds or 0.0 for epoch in record.history) for record in records]
        paths = [state / "trials" / f"{record.key}.json" for record in records]
        ends = sorted(zip([path.stat().st_mtime for path in paths], trained, strict=True))
        (first, _), steady = ends[workers - 1], ends[workers:]
        configs = [replace(config, seed=next(seeds)) for config in configs]
        peer, peer_seconds = joblib_seconds(configs, folder, workers)
        per_trial = (ends[-1][0] - first) * workers / len(steady)
        return {
            "seconds": seconds,
            "times_of_joblib_in_all": seconds / peer_seconds,
            "until_steady": first - start,
            "worker_seconds_per_trial": per_trial,
            "of_joblib": peer,
            "times_of_joblib": per_trial / peer,
            "training_seconds_per_trial": fmean(trained for _, trained in steady),
            "driver_cpu_seconds": cpu_seconds,
        }

    runs = interleaved({"sweep": sweep}, repeats, warm_ups=0)["sweep"]
    return [{"trials": trials} | {name: summary(run[name] for run in runs) for name in runs[0]}]


def main() -> None:
    """Print the table."""
    per_worker, repeats = (10, 1) if quick_requested("sweep", __doc__) else (50, 3)
    for name in ("RAY_ADDRESS", "MLFLOW_TRACKING_URI"):  # the user's servers
        os.environ.pop(name, None)
    with TemporaryDirectory(prefix="bench-") as folder:
        os.environ["RAY_TMPDIR"] = folder  # a short path, as sockets need
        table = rows(Path(folder), per_worker * (os.cpu_count() or 1), repeats)
    print(f"{one_line(machine())}\n\n{markdown_table(table)}")


if __name__ == "__main__":
    run_command(main)
