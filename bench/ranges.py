"""Find the range of the demo's results over seeds and processors; `make repro` compares with it.

    python -m bench.ranges                     models and studies of params.yaml
    python -m bench.ranges --studies           models only; --processors native avx2: these alone

Processors are emulated: the environment of each run limits the instructions of PyTorch and MKL, and
so the rounding. Copies of the committed project, in state/ranges, keep their trials: the command
resumes. It writes reports/published/demo.json and prints a table. A range is the 99 % prediction
interval of a mean over the demo's seeds, from all runs.
"""

import argparse
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from itertools import chain
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from ruamel.yaml import YAML
from scipy.special import stdtrit

from actmodels.files import write_text
from bench.timing import markdown_table, one_line, progress
from pipeline.parameters.load import load_params
from pipeline.runtime.expected import FILE, MODELS, Bounds, parameters_digest, results, template
from pipeline.runtime.stage import run_command
from pipeline.runtime.summary import result_lines
from tune.trials.provenance import machine

ROOT = Path(__file__).parents[1]
COPIES = ROOT / "state" / "ranges"
PROCESSORS: dict[str, dict[str, str]] = {
    "native": {},
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2"},
    "default": {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "COMPATIBLE"},  # SSE2
}
# variables of the user's servers, and of an emulation
NOT_INHERITED = {"RAY_ADDRESS", "MLFLOW_TRACKING_URI", *PROCESSORS["avx2"]}
LEVEL = 0.99
RELATIVE = 0.005  # smallest half width of a range, as a share of the mean
Lines = dict[str, list[str]]  # part: lines of the summary


def prediction_interval(
    values: Sequence[float], count: int, digits: int, highest: float = math.inf
) -> Bounds:
    """Return the interval for a mean of `count` further values, rounded to `digits`.

    All runs are replicates: rounding changes a run like another seed.
    """
    n, mean = len(values), fmean(values)
    margin = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * stdev(values) * (1 / n + 1 / count) ** 0.5
    margin = max(margin, RELATIVE * abs(mean), 10.0**-digits)
    return round(mean - margin, digits), round(min(mean + margin, highest), digits)


def copy_project(folder: Path) -> None:
    """Copy the committed project, or update a copy, which keeps its trials."""
    if not (folder / ".git").is_dir():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    git = ("git", "-C", str(folder))
    subprocess.run([*git, "fetch", "--quiet", str(ROOT), "HEAD"], check=True)
    subprocess.run([*git, "reset", "--quiet", "--hard", "FETCH_HEAD"], check=True)


def run_demo(
    folder: Path, studies: Sequence[str], seed: int, environment: Mapping[str, str]
) -> Lines:
    """Run the demo with one seed in a copy, up to the results; return its lines."""
    path = folder / "params.yaml"
    yaml = YAML()
    tree = yaml.load(path)
    for section in ("retrain", *studies):
        tree[section]["seeds"] = [seed]
    yaml.dump(tree, path)
    inherited = {k: v for k, v in os.environ.items() if k not in NOT_INHERITED}
    command = [sys.executable, "-m", "dvc", "repro", "evaluate", *(f"study@{s}" for s in studies)]
    paths = {
        "PYTHONPATH": str(folder),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    (folder / "artifacts" / "studies").mkdir(parents=True, exist_ok=True)
    log = folder / "state" / "ranges.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("w") as file:
        done = subprocess.run(
            command, cwd=folder, env={**inherited, **paths, **environment}, stdout=file, stderr=file
        )
    if done.returncode:
        raise RuntimeError(f"dvc repro failed in {folder}; its output is in {log}")
    with chdir(folder):
        return result_lines(studies)


def measured(runs: Mapping[str, Sequence[Lines]], part: str, count: int) -> dict[str, Any]:
    """Return values by processor and range of each result, by the template of its line."""
    lines: dict[str, Any] = {}
    first = next(iter(runs.values()))[0][part]
    for number, line in enumerate(first):
        columns = {  # processor: [results of the line][seeds]
            name: [*zip(*(map(float, results(run[part][number])) for run in of_seeds), strict=True)]
            for name, of_seeds in runs.items()
        }
        highest = 100.0 if "%" in line else math.inf
        digits = [len(text.partition(".")[2]) for text in results(line)]
        ranges = [
            prediction_interval(
                [*chain(*(c[at] for c in columns.values()))], count, places, highest
            )
            for at, places in enumerate(digits)
        ]
        lines[template(line)] = {"ranges": ranges, "values": columns}
    return lines


def table_rows(parts: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield a row for each result: mean and sd over all runs, sds over seeds and processors."""
    for part in parts.values():
        for line, content in part["lines"].items():
            for at, (low, high) in enumerate(content["ranges"]):
                grid = [columns[at] for columns in content["values"].values()]
                values = [*chain(*grid)]
                yield {
                    "result": f"{line} ({at + 1})",
                    "mean and sd of all runs": f"{fmean(values):.2f} ± {stdev(values):.2f}",
                    "sd over seeds": f"{_pooled(grid):.2f}",
                    "sd over processors": f"{_pooled([*zip(*grid, strict=True)]):.2f}",
                    "expected mean": f"{low} to {high}",
                }


def _pooled(groups: Sequence[Sequence[float]]) -> float:
    """Return the standard deviation within groups of equal size."""
    return float(fmean(stdev(group) ** 2 for group in groups) ** 0.5)


def main() -> None:
    """Run the demo with each seed and processor; write the ranges and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.ranges", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--studies", nargs="*", help="studies to run; by default all")
    parser.add_argument("--processors", nargs="+", choices=PROCESSORS, default=[*PROCESSORS])
    options = parser.parse_args()
    params = load_params(ROOT / "params.yaml")
    studies = params.studies if options.studies is None else options.studies
    seeds, start, runs = params.retrain.seeds, time.time(), dict[str, list[Lines]]()
    for name in options.processors:
        copy_project(COPIES / name)
        for seed in seeds:
            progress(f"{name}, seed {seed}, after {(time.time() - start) / 60:.0f} minutes")
            lines = run_demo(COPIES / name, studies, seed, PROCESSORS[name])
            runs.setdefault(name, []).append(lines)
    parts = {
        part: {
            "parameters": parameters_digest(params, part),
            "lines": measured(runs, part, len(seeds)),
        }
        for part in (MODELS, *studies)
    }
    command = shlex.join(["python", "-m", "bench.ranges", *sys.argv[1:]])
    facts = {"command": command, "machine": machine(), "seeds": seeds}
    facts |= {"processors": {name: PROCESSORS[name] for name in runs}, "parts": parts}
    text = json.dumps(facts, indent=1)
    write_text(FILE, re.sub(r"\s+(?=[^\[\]{}]*\])", " ", text) + "\n")  # a list on one line
    print(f"{one_line(machine())}\n\n{markdown_table([*table_rows(parts)])}")


if __name__ == "__main__":
    run_command(main)
