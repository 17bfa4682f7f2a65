"""What Ray and MLflow cost: start-up, and seconds of a worker for very short trials.

    python -m bench.sweep

Two sweeps alternate: trials of one epoch, and of three. The steady state counts, from the end of
each worker's first trial, which loads code and data, to the end of the last trial. What is not
training includes evaluating 64 pairs each epoch. The user's state and servers are not touched.
"""

import argparse
import os
import time
from functools import partial
from itertools import count
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from actmodels.data.stored import save_stored
from bench.timing import interleaved, listed, summary, table
from bench.work import Sizes, drawn_data, trial
from pipeline.runtime.stage import run_command
from tune.execution import Execution
from tune.grid import with_keys
from tune.provenance import machine
from tune.sweep import run_trials

DEMO = Sizes(64, 4000, 300, 64)  # the embedded corpus and its models, but for the pairs
EPOCHS = (1, 3)  # of the trials of each sweep


def rows(folder: Path, trials: int, repeats: int) -> list[dict[str, Any]]:
    """A row for each sweep; `folder` is empty."""
    data, state = drawn_data(DEMO), folder / "state"
    for name, part in (("train", data.train), ("dev", data.dev), ("embedding", data.words)):
        save_stored(vars(part), folder / f"{name}.pt")
    execution, seeds = Execution(folder, state, state / "ray", 1, 0, 0, False), count(1)
    workers = os.cpu_count() or 1

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

    runs = interleaved({epochs: partial(sweep, epochs) for epochs in EPOCHS}, repeats, warm_ups=0)
    return [
        {"trials": trials, "epochs": epochs}
        | {name: summary(run[name] for run in found) for name in found[0]}
        for epochs, found in runs.items()
    ]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.sweep", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--quick", action="store_true", help="few trials: no figure counts")
    per_worker, repeats = (10, 1) if parser.parse_args().quick else (25, 3)
    for name in ("RAY_ADDRESS", "MLFLOW_TRACKING_URI"):  # what is the user's is not measured
        os.environ.pop(name, None)
    with TemporaryDirectory(prefix="bench-") as folder:
        os.environ["RAY_TMPDIR"] = folder  # a short path, as sockets need
        found = rows(Path(folder), per_worker * (os.cpu_count() or 1), repeats)
    print(f"{listed(machine())}\n\n{table(found)}")


if __name__ == "__main__":
    run_command(main)
