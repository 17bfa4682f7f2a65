"""The paper's grid on eight nodes of four GPUs, all simulated: python -m tests.cluster.rehearsal.

An epoch only sleeps and saves a checkpoint of the size that it would have; all else is the product:
keys, Ray, checkpoints, records, MLflow. In mid-sweep two nodes are killed and two others come. It
proves that each trial is complete and tracked once, and prints what a trial and an epoch cost.
It needs root, and 0.4 GB of memory for a GPU.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
from mlflow import MlflowClient

from tests.cluster.project import MLFLOW, mlflow_server
from tests.cluster.ray_cluster import Cluster
from tests.end_to_end.project import ROOT, wait_for

NODES, LOST = 8, 2
DONE = "attributes.status = 'FINISHED' and tags.kind = 'trial'"


def disturbed(cluster: Cluster, command: list[str], folder: Path, trials: int, gpus: int) -> None:
    """Run the sweep; kill nodes when a quarter of the trials are done, add some a little later."""
    finished = folder / "state" / "trials"
    with subprocess.Popen([*cluster.laboratory.inside(), *command]) as driver:
        for share in (0.25, 0.4):
            wait_for(
                lambda share=share: (  # type: ignore[misc]
                    driver.poll() is not None
                    or len(list(finished.glob("*.json"))) >= share * trials
                ),
                f"{share:.0%} of the trials",
                timeout=3600,
            )
            for machine in cluster.workers[:LOST]:
                if share < 0.3:
                    machine.kill()
                else:
                    cluster.add(gpus=gpus)
        assert driver.wait() == 0


def check(database: Path, costs: dict[str, Any], trials: int, epochs: int) -> None:
    """Each trial is complete, and tracked exactly once."""
    assert (costs["trials"], costs["epochs"]) == (trials, trials * epochs)
    client = MlflowClient(f"sqlite:///{database}")
    (experiment,) = (e for e in client.search_experiments() if e.name != "Default")
    runs = client.search_runs([experiment.experiment_id], DONE, max_results=5000)
    tracked = Counter(run.data.tags["trial_key"] for run in runs)
    assert len(tracked) == trials and set(tracked.values()) == {1}
    for run in runs:
        steps = [m.step for m in client.get_metric_history(run.info.run_id, "dev_loss")]
        assert sorted(steps) == list(range(1, epochs + 1)), (run.info.run_name, steps)
    others = client.search_runs([experiment.experiment_id], "tags.kind = 'trial'", max_results=5000)
    assert len(others) == trials


def told(costs: dict[str, Any], server_cpu: float, slots: int) -> str:
    """What a trial and an epoch cost, in milliseconds but for the first line."""
    trials, epochs, spent = costs["trials"], costs["epochs"], costs["spent"]
    lines = [
        f"{trials} trials, {epochs} epochs in {costs['wall']:.0f} s on {slots} GPUs: "
        f"{costs['wall'] * slots / trials:.1f} s of a GPU for a trial that trains for "
        f"{costs['slept'] / trials:.1f} s",
        f"driver: {1000 * costs['cpu'] / epochs:.1f} ms of a processor for an epoch, all told",
        f"MLflow's server: {1000 * server_cpu / epochs:.1f} ms of a processor for an epoch",
    ]
    for name, (calls, wall, cpu) in spent.items():
        each = f"{1000 * wall / calls:.1f} ms, {1000 * cpu / calls:.1f} ms of a processor"
        lines.append(f"  {name}: {calls:.0f} calls of {each}")
    return "\n".join(lines)


def main() -> None:
    """Rehearse."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=15, help="of a trial (15)")
    parser.add_argument("--seconds", type=float, default=2.0, help="of an epoch (2)")
    parser.add_argument("--size", type=float, default=1.0, help="of a checkpoint, relative (1)")
    parser.add_argument("--gpus", type=int, default=4, help="of a node (4)")
    given = parser.parse_args()
    trials = 432 + 54
    with TemporaryDirectory() as name, Cluster(store_megabytes=4000) as cluster:
        folder = Path(name)
        cluster.start(workers=0)
        for _ in range(NODES):
            cluster.add(gpus=given.gpus)
        with mlflow_server(cluster, folder) as server:
            settings = cluster.environment | MLFLOW | {"RAY_ADDRESS": cluster.address}
            words = [f"{key}={value}" for key, value in settings.items()]
            module = [sys.executable, "-m", "tests.cluster.stand_in", name]
            plan = [given.epochs, given.seconds, given.size]
            command = ["env", f"--chdir={ROOT}", *words, *module]
            command += [f"{cluster.laboratory.store}/run", *map(str, plan)]
            disturbed(cluster, command, folder, trials, given.gpus)
            cpu = sum(
                sum(p.cpu_times()[:2]) for p in psutil.Process(server.pid).children(recursive=True)
            )
        costs = json.loads((folder / "costs.json").read_text())
        check(folder / "state" / "mlflow.db", costs, trials, given.epochs)
    print(told(costs, cpu, NODES * given.gpus))


if __name__ == "__main__":
    main()
