"""What nobody knows of this project on a GPU, measured in nine minutes.

    python -m bench.gpu_session [--device cpu] [--out FOLDER] [PART ...]

Each part is a process with its own limit of time. It appends each number to FOLDER/PART.jsonl at
once, so a part that dies loses only itself. `--device cpu` tries all of it with tiny sizes.
The part `ray` needs Ray, which `bench/gpu_archive.sh` packs for a machine without it, and neither
MLflow nor DVC.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch.profiler import ProfilerActivity, profile

from actmodels.data.pairs import batches_by_length
from actmodels.fused import evaluate_fusion
from actmodels.records import TrialRecord
from actmodels.training import Training
from actmodels.trial_config import TrialConfig
from bench.gpu import CHECKED, check_rows
from bench.gpu_speed import Way, describe, measure
from bench.timing import markdown_table, one_line, progress, seconds
from bench.work import PAPER, TINY, Sizes, build_fusion, drawn_data, epoch_runner, sampled, trial
from tune.cluster.worker_process import configure_torch
from tune.trials.provenance import commit, machine

Row = dict[str, Any]
DEADLINE = 540.0  # seconds in all
ON_RAY = Sizes(3_000, 2_000, 300, 200)  # about 100 s at the rates of an H100
TRIALS, EPOCHS = 16, 2
PROFILED = 8  # updates
KERNELS = 8  # the slowest ones
DEV_PAIRS = 9_842  # SNLI's
EAGER = (Way(1, 1), Way(1, 8), Way(1, 48))
GRAPHS = (*(way._replace(graphs=True) for way in EAGER), Way(1, 96, graphs=True))


def profiles(device: str) -> Iterator[Row]:
    """What an update launches and waits for, and its slowest kernels."""
    gpu = device == "cuda"
    models = ("adaptive_attention", "decomposable_attention") if gpu else ("adaptive_attention",)
    for model, (trials, batch_size) in product(
        models, ((1, 8), (48, 8), (48, 32))[: 3 if gpu else 1]
    ):
        for graphs in (False, True):
            row = {"model": model, "trials": trials, "batch_size": batch_size, "graphs": graphs}
            yield row | profiled(PAPER if gpu else TINY, device, row)


def profiled(sizes: Sizes, device: str, row: Row) -> Row:
    """Profile an epoch of few updates, after those that load and record."""
    model, trials, batch_size, graphs = row.values()
    data = sampled(drawn_data(sizes), batch_size, PROFILED)
    work = (sizes.width, batch_size, data, trials, device)
    epoch = epoch_runner(build_fusion(*work, graphs=graphs, model=model))
    for _ in range(6):
        epoch()
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if device == "cuda" else [])]
    with profile(activities=activities) as found:
        wall = timed(epoch, device)
    events = list(found.events() or ())
    names, busy = Counter(event.name for event in events), Counter[str]()
    for kernel in (event for event in events if event.device_type.name == "CUDA"):
        busy[kernel.name] += kernel.time_range.elapsed_us()
    total = sum(busy.values())
    slowest = [f"{name[:60]} {100 * us / total:.0f} %" for name, us in busy.most_common(KERNELS)]
    per_update = {
        "ms": 1e3 * wall,
        "gpu_ms": total / 1e3,
        "kernels": sum(names[name] for name in busy),
        "operations": sum(n for name, n in names.items() if name.startswith("aten::")),
        "host_reads": names["aten::_local_scalar_dense"],
    }
    return {n: v / PROFILED for n, v in per_update.items()} | {"slowest": "; ".join(slowest)}


def checks(device: str) -> Iterator[Row]:
    """Whether results are those of a CPU; see bench.gpu."""
    yield from check_rows(CHECKED, device)


def rates(device: str) -> Iterator[Row]:
    """Examples per second of all trials, eager and with graphs, there and back."""
    sizes, ways = (PAPER, (*EAGER, *GRAPHS)) if device == "cuda" else (TINY, (EAGER[0], GRAPHS[0]))
    for batch_size, order in ((8, ways), (32, ways), (8, ways[::-1]), (32, ways[::-1])):
        for way in order:
            try:
                yield {"batch_size": batch_size, **way._asdict()} | measure(
                    sizes, device, batch_size, way
                )
            except RuntimeError as error:
                yield {"batch_size": batch_size, **way._asdict(), "failed": describe(error)}


def on_ray(device: str) -> Iterator[Row]:
    """A sweep on Ray: trials that share the GPU, fused ones, and one whose worker is killed."""
    gpu = device == "cuda"
    sizes, count = (ON_RAY, TRIALS) if gpu else (TINY, 2)
    data, share = drawn_data(sizes), {"gpus_per_trial": 1 / count if gpu else 0}
    shape = (sizes.width, 32)
    configs = [
        trial(*shape, seed=1 + n, max_epochs=EPOCHS, learning_rate=0.001) for n in range(count)
    ]
    sweeps: dict[str, dict[str, Any]] = {
        "shares": share,
        "fused": {"gpus_per_trial": float(gpu), "trials_per_fusion": count},
        "a worker is killed": share | {"max_failures": 1},
    }
    with tempfile.TemporaryDirectory() as folder, without_mlflow():
        for split, part in (("train", data.train), ("dev", data.dev)):
            part.save(Path(folder, f"{split}.pt"))
        data.words.save(Path(folder, "embedding.pt"))
        alone: list[Any] = []
        for name, cluster in sweeps.items():
            kills = "killed" in name
            some = configs[:2] if kills else configs
            taken, killed, records = swept(some, Path(folder), kills, cluster)
            if not alone:
                configure_torch(1, "highest", device)
                alone = [r.result() for r in Training(configs[0], data, device).epochs()]
            yield {
                "sweep": name,
                "trials": len(some),
                "seconds": taken,
                "examples_per_second": len(some) * EPOCHS * len(data.train) / taken,
                "workers_killed": killed,
                "equal_to_the_bit": alone == [r.result() for r in records[0].history],
            }


def swept(
    configs: list[TrialConfig], folder: Path, kills: bool, cluster: dict[str, Any]
) -> tuple[float, int, list[TrialRecord]]:
    """Sweep on Ray; return seconds, the number of killed workers, and the records."""
    from tune.sweep import run_trials
    from tune.trials.execution import Execution
    from tune.trials.grid import with_keys

    state = Path(tempfile.mkdtemp(dir=folder))
    execution = Execution(folder, state, state / "ray", **cluster)
    trials, killed = with_keys(configs, "drawn", execution), list[int]()
    start = time.perf_counter()
    with mock.patch("tune.running_sweep.Tracker"), ExitStack() as stack:
        if kills:
            stack.enter_context(killing(killed))
        records = run_trials("session", trials, execution)
    return time.perf_counter() - start, len(killed), records


@contextmanager
def killing(killed: list[int]) -> Iterator[None]:
    """Kill the worker of the first trial once it has saved an epoch."""
    import psutil

    from tune.running_sweep import RunningSweep

    is_ending = RunningSweep.is_ending

    def ending(sweep: RunningSweep) -> bool:
        saved = any(p.is_file() for p in Path(sweep.checkpoints.location).rglob("*"))
        if saved and not killed:
            for process in psutil.Process().children(recursive=True):
                if "epoch" in " ".join(process.cmdline()):  # the title of a worker that trains
                    killed.append(process.pid)
                    process.kill()
                    break
        return is_ending(sweep)

    with mock.patch.object(RunningSweep, "is_ending", ending):
        yield


@contextmanager
def without_mlflow() -> Iterator[None]:
    """Let the sweep's code be imported where MLflow is not installed."""
    missing = {} if find_spec("mlflow") else {"tune.tracking.mlflow_store": mock.MagicMock()}
    with mock.patch.dict(sys.modules, missing):
        yield


def full_size(device: str) -> Iterator[Row]:
    """SNLI's number of pairs: what an epoch costs, without extrapolation from few batches."""
    sizes, trials, updates = (PAPER, 48, 300) if device == "cuda" else (TINY, 2, 20)
    yield {"measured": "draw the pairs, s", "value": seconds(lambda: drawn_data(sizes))}
    data = drawn_data(sizes)
    generator = torch.Generator().manual_seed(1)
    order = seconds(lambda: list(batches_by_length(data.train, 8, generator)))
    yield {"measured": "order of an epoch, s", "value": order}
    for count in (trials, 2 * trials):
        fusion = build_fusion(sizes.width, 8, sampled(data, 8, updates), count, device, graphs=True)
        epoch = epoch_runner(fusion)
        first = timed(epoch, device)
        later = timed(epoch, device)
        yield {"measured": f"{count} fused: first {updates} updates, s", "value": first}
        yield {"measured": f"{count} fused: later updates per second", "value": updates / later}
        dev = data.dev.take(torch.arange(min(DEV_PAIRS, len(data.dev))))
        model = fusion.updates.fusion  # type: ignore[attr-defined]
        config = fusion.members[0].config.input
        spent = seconds(lambda: evaluate_fusion(model, dev, config, count))  # noqa: B023
        yield {"measured": f"{count} fused: evaluate {len(dev)} pairs, s", "value": spent}
        if device == "cuda":
            peak = torch.cuda.max_memory_reserved() / 2**20
            yield {"measured": f"{count} fused: peak memory, MiB", "value": peak}


def shared(device: str) -> Iterator[Row]:
    """Processes that share the GPU, without and with NVIDIA's MPS, a daemon of this process."""
    sizes, way = (PAPER, Way(16, 1)) if device == "cuda" else (TINY, Way(2, 1))
    yield {"mps": False} | measure(sizes, device, 8, way)
    if device != "cuda":
        return
    with tempfile.TemporaryDirectory() as folder:
        places = {"CUDA_MPS_PIPE_DIRECTORY": folder, "CUDA_MPS_LOG_DIRECTORY": folder}
        with mock.patch.dict(os.environ, places):
            subprocess.run(["nvidia-cuda-mps-control", "-d"], check=True)
            try:
                yield {"mps": True} | measure(sizes, device, 8, way)
            finally:
                subprocess.run(["nvidia-cuda-mps-control"], input=b"quit\n", check=False)


PARTS: dict[str, tuple[float, Callable[[str], Iterator[Row]]]] = {
    "profiles": (75, profiles),
    "checks": (75, checks),
    "ray": (120, on_ray),
    "rates": (200, rates),
    "full_size": (60, full_size),
    "shared": (60, shared),
}


def timed(work: Callable[[], object], device: str) -> float:
    """Return the seconds of some work, and of what it left to the GPU."""
    start = time.perf_counter()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def run_part(name: str, device: str, out: Path) -> None:
    """Run a part in this process."""
    os.environ.pop("RAY_ADDRESS", None)  # Ray starts here
    if name != "ray":  # its workers set up torch
        configure_torch(1, "highest", device)
    with (out / f"{name}.jsonl").open("a") as lines:
        for row in PARTS[name][1](device):
            progress(f"{name}: {row}")
            print(json.dumps(row), file=lines, flush=True)


def main() -> None:
    """Run the parts, each in a process, and print their tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.gpu_session", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir(), "gpu_session"))
    parser.add_argument("--here", action="store_true", help="run the part in this process")
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], metavar="PART")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.here:
        return run_part(options.parts[0], options.device, options.out)
    end, ends = time.monotonic() + DEADLINE, {}
    for name in options.parts or PARTS:
        limit = min(PARTS[name][0], end - time.monotonic())
        command = [sys.executable, "-m", "bench.gpu_session", "--here", name]
        command += ["--device", options.device, "--out", str(options.out)]
        ends[name] = "left out, the time was over" if limit <= 0 else ended(command, limit)
    print("# GPU session", one_line(machine() | {"commit": commit()}), sep="\n\n")
    for name, how in ends.items():
        file = options.out / f"{name}.jsonl"
        rows = [json.loads(line) for line in file.read_text().splitlines()] if how else []
        print(f"\n## {name}: {how}\n")
        same = {tuple(row) for row in rows}
        for keys in sorted(same):
            print(markdown_table([row for row in rows if tuple(row) == keys]), end="\n\n")


def ended(command: list[str], limit: float) -> str:
    """Run a command; return how it ended."""
    process = subprocess.Popen(command, start_new_session=True)
    try:
        code = process.wait(limit)
        return "ok" if code == 0 else f"failed with exit code {code}"
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return f"ended after {limit:.0f} s"


if __name__ == "__main__":
    main()
