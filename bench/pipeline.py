"""Time the pipeline in a copy of the project, and what it does outside training.

    python -m bench.pipeline

The copy has the committed code and the settings of params.yaml. Its stages run with all cores;
the smaller measurements are repeated, and cells show median (minimum, maximum) of n. pandas reads
the vectors without checks.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from ruamel.yaml import YAML

from bench.timing import (
    interleaved,
    markdown_table,
    one_line,
    progress,
    quick_requested,
    seconds,
    summary,
)
from pipeline.datasets.vectors import read_vectors
from pipeline.parameters.labels import NLI
from pipeline.runtime.stage import run_command
from tune.provenance import machine

ROOT = Path(__file__).parents[1]
DATA_STAGES = ("corpus", "vocabulary", "vectors", "tensors")
WORDS = 14_786  # of the vocabulary that SNLI's vectors were measured with
PAIRS = 46_476  # a twelfth of SNLI's training pairs
REUSE = "make repro after artifacts/ was deleted: all trials reused, s"


def run(folder: Path, *command: str) -> None:
    """Run a Python module in a project's folder; its output is shown only if it fails."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stdout[-2000:]}")


def vector_row(folder: Path, words: int, repeats: int) -> dict[str, Any]:
    """Read vectors of 300 numbers, by this project and by pandas."""
    path, generator = folder / "vectors.txt", np.random.default_rng(1)
    names = [f"word{number}" for number in range(words)]
    with path.open("w") as file:
        for name in names:
            numbers = " ".join(f"{value:.5f}" for value in generator.normal(size=300))
            file.write(f"{name} {numbers}\n")
    ours = partial(read_vectors, path, None, names, 300)
    settings = {"sep": " ", "header": None, "quoting": csv.QUOTE_NONE, "na_filter": False}
    types = {0: str} | dict.fromkeys(range(1, 301), np.float32)
    pandas = partial(pd.read_csv, path, dtype=types, index_col=0, **settings)
    name = f"{words:,} vectors of 300 numbers, times pandas' reader in single precision"
    return compared(name, ours, pandas, repeats)


def compared(
    name: str, ours: Callable[[], Any], other: Callable[[], Any], repeats: int
) -> dict[str, Any]:
    """Return a row with the ratio of both wall times, in alternation."""
    variants = {"ours": partial(seconds, ours), "other": partial(seconds, other)}
    times = interleaved(variants, repeats)
    ratios = (a / b for a, b in zip(times["ours"], times["other"], strict=True))
    return {"measurement": name, "result": summary(ratios)}


def data_row(project: Path, pairs: int, repeats: int) -> dict[str, Any]:
    """Run corpus, vocabulary and tensors on pairs in files."""
    (project / "dvc.lock").unlink(missing_ok=True)  # of other data
    params = YAML().load(project / "params.yaml")
    params["corpus"]["source"] = "files"
    params["watch"] = ["corpus"]
    generator = np.random.default_rng(1)
    for split, count in (("train", pairs), ("dev", 100), ("test", 100)):
        words = generator.zipf(1.3, size=(count, 20)).clip(max=20_000)
        rows = (
            {
                "premise": " ".join(f"w{n}" for n in row[:13]),
                "hypothesis": " ".join(f"w{n}" for n in row[13:]),
                "label": NLI[number % len(NLI)],
            }
            for number, row in enumerate(words.tolist())
        )
        path = project / f"{split}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        params["corpus"]["files"][split] = str(path)
    YAML().dump(params, project / "params.yaml")
    totals = []
    for _ in range(repeats):
        times = {name: seconds(partial(run, project, f"pipeline.{name}")) for name in DATA_STAGES}
        totals.append(sum(times.values()) - times["vectors"])  # drawn, here
    return {"measurement": f"data stages on {pairs:,} pairs, s", "result": summary(totals)}


def rows(project: Path, quick: bool) -> Iterator[dict[str, Any]]:
    """Measure in a copy of the project."""
    subprocess.run(["git", "clone", "--quiet", ROOT, project], check=True)
    if not quick:
        yield {"measurement": "make repro after set-up, s", "result": repro(project)}
        shutil.rmtree(project / "artifacts")
        yield {"measurement": REUSE, "result": repro(project)}
        pair = ("--premise", "A man sleeps.", "--hypothesis", "A man runs.")
        predict = partial(run, project, "pipeline", "predict", *pair)
        torch = partial(run, project, "timeit", "-n", "1", "-r", "1", "import torch")
        yield compared("predict, times importing torch", predict, torch, 5)
    yield vector_row(project, 50 if quick else WORDS, 1 if quick else 5)
    yield data_row(project, 60 if quick else PAIRS, 1 if quick else 3)


def repro(project: Path) -> dict[str, float]:
    """Return the wall time of `dvc repro`."""
    progress("dvc repro")
    return summary([seconds(partial(run, project, "dvc", "repro"))])


def main() -> None:
    """Print the table."""
    quick = quick_requested("pipeline", __doc__)
    for name in ("RAY_ADDRESS", "MLFLOW_TRACKING_URI"):  # the user's servers
        os.environ.pop(name, None)
    with TemporaryDirectory(prefix="bench-") as folder:
        table = [*rows(Path(folder) / "project", quick)]
    print(f"{one_line(machine())}\n\n{markdown_table(table)}")


if __name__ == "__main__":
    run_command(main)
