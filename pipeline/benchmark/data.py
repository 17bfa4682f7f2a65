"""What the data stages cost on generated corpora: seconds, of processors too, and memory.

Each stage runs as DVC runs it, as a process of its own, in a folder of its own; start-up and
imports are in its seconds, all threads and child processes in those of processors.
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from actmodels.errors import DataError
from pipeline.benchmark.generated import FOLDER, VECTORS_MEMBER, write_corpus, write_vectors
from pipeline.benchmark.plan import Plan, Say
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params

ROOT = Path(__file__).parents[2]
STAGES = ("corpus", "vocabulary", "vectors", "tensors")
TRAIN_PER_DEV = 55  # SNLI has 550,000 training pairs and 10,000 in each of dev and test
# The kernel counts as a process's peak what stood there before it became that process, so stages
# are started by a small one. ru_maxrss: bytes on macOS, kibibytes elsewhere.
SMALL = """
import json, os, subprocess, sys, time
start = time.perf_counter()
stage = subprocess.Popen(sys.argv[1:])
_, status, used = os.wait4(stage.pid, 0)
wall = time.perf_counter() - start
peak = used.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
code = os.waitstatus_to_exitcode(status)
print(json.dumps([code, wall, used.ru_utime + used.ru_stime, peak]))
"""


def measure(plan: Plan, say: Say, stages: Sequence[str] = STAGES) -> dict[str, Any]:
    """A row for each stage on each size of corpus, n = 1.

    Raises:
        DataError: a stage failed.
    """
    base = load_params(ROOT / "conf" / "base.yaml")
    glove, rows = plan.workspace / "vectors.zip", []
    write_vectors(glove, plan.vectors, base.vectors.dimensions)
    for pairs in plan.corpora:
        say(f"{pairs:,} pairs: the archive is written")
        place = plan.workspace / f"{pairs}_pairs"
        place.mkdir()
        small = max(pairs // TRAIN_PER_DEV, 1)
        write_corpus(place / "snli_1.0.zip", {"train": pairs, "dev": small, "test": small})
        write_params(place, base, place / "snli_1.0.zip", glove)
        for stage in stages:
            say(f"{pairs:,} pairs: {stage}")
            rows.append({"pairs": pairs, "stage": stage, **run(stage, place)})
    return {"rows": rows}


def write_params(place: Path, base: Params, archive: Path, glove: Path) -> None:
    """The demo's parameters, but with these archives, as preset `local` has them."""
    tree = base.model_dump(mode="json")
    tree["corpus"]["source"] = "snli"
    tree["corpus"]["snli"] |= source(archive) | {"folder": FOLDER, "labelled_pairs": None}
    tree["vectors"]["source"] = "glove"
    tree["vectors"]["glove"] |= source(glove) | {"member": VECTORS_MEMBER}
    Params.model_validate(tree)
    YAML(typ="safe", pure=True).dump(tree, place / "params.yaml")


def source(archive: Path) -> dict[str, object]:
    """Where an archive is, as the parameters say it."""
    with archive.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return {"urls": [archive.resolve().as_uri()], "sha256": digest, "bytes": None}


def run(stage: str, place: Path) -> dict[str, float]:
    """What one stage costs in the folder `place`.

    Raises:
        DataError: it failed; names it and ends with the last line that it said.
    """
    command = [sys.executable, "-I", "-S", "-c", SMALL, sys.executable, "-m", f"pipeline.{stage}"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, check=True)
    *_, last = done.stdout.splitlines()  # the stage's own output comes first
    code, wall, cpu, peak = json.loads(last)
    if code:
        *_, said = done.stderr.splitlines() or [""]
        raise DataError(f"stage {stage} ended with {code}: {said}")
    return {"seconds": wall, "cpu_seconds": cpu, "peak_mebibytes": peak}
