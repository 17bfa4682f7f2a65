"""What the data stages cost on a generated corpus: time, processor time, memory.

    python -m pipeline.benchmark.data_stages --pairs 10000 50000 550000

Each stage runs as DVC runs it, as a process of its own, in a folder of its own.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml import YAML

from actmodels.data.embeddings import WordVectors
from actmodels.data.pairs import PairTensors
from actmodels.errors import DataError, UserError
from pipeline.benchmark.generated import FOLDER, VECTORS_MEMBER, write_corpus, write_vectors
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params

ROOT = Path(__file__).parents[2]
STAGES = ("corpus", "vocabulary", "vectors", "tensors")
SPLITS = ("train", "dev", "test")
SIZES = (10_000, 50_000, 550_000)  # the last is SNLI's
VECTORS = 400_000  # lines in the file of vectors, as in GloVe 6B
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


@dataclass(frozen=True)
class StageCost:
    """One stage, one run of it.

    wall_seconds: from start to end; start-up and imports included.
    cpu_seconds: user and system, of all its threads and child processes.
    peak_mebibytes: resident memory at its highest, that of the largest process if it has several.
    """

    stage: str
    wall_seconds: float
    cpu_seconds: float
    peak_mebibytes: float


@dataclass(frozen=True)
class SizeCost:
    """A corpus of so many labelled training pairs, and a fifty-fifth of that in dev and in test.

    opening_seconds: to map the tensors of all splits and the vectors into memory; None where stage
        tensors was not among those that were run.
    """

    pairs: int
    stages: list[StageCost]
    opening_seconds: float | None


def measure(
    sizes: Sequence[int], folder: Path, stages: Sequence[str] = STAGES, vectors: int = VECTORS
) -> list[SizeCost]:
    """Run the stages on a generated corpus of each size.

    Args:
        sizes: labelled training pairs of each corpus.
        folder: gets a folder for each size, where everything stays.
        stages: which, in an order in which they can run.
        vectors: words in the file that vectors are picked from; it is the same for all sizes.

    Raises:
        DataError: a stage failed.
    """
    base = load_params(ROOT / "conf" / "base.yaml")
    glove = folder / "vectors.zip"
    write_vectors(glove, vectors, base.vectors.dimensions)
    costs = []
    for pairs in sizes:
        place = folder / f"{pairs}_pairs"
        archive = place / "snli_1.0.zip"
        small = max(pairs // TRAIN_PER_DEV, 1)
        write_corpus(archive, {"train": pairs, "dev": small, "test": small})
        _write_params(place, base, archive, glove)
        run = [_run(stage, place) for stage in stages]
        opening = _opening(place / "artefacts" / "tensors") if "tensors" in stages else None
        costs.append(SizeCost(pairs, run, opening))
    return costs


def _write_params(place: Path, base: Params, archive: Path, glove: Path) -> None:
    """The demo's parameters, but with these archives, as preset `local` has them."""
    tree = base.model_dump(mode="json")
    tree["corpus"]["source"] = "snli"
    tree["corpus"]["snli"] |= _source(archive) | {"folder": FOLDER, "labelled_pairs": None}
    tree["vectors"]["source"] = "glove"
    tree["vectors"]["glove"] |= _source(glove) | {"member": VECTORS_MEMBER}
    Params.model_validate(tree)
    YAML(typ="safe", pure=True).dump(tree, place / "params.yaml")


def _source(archive: Path) -> dict[str, object]:
    with archive.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return {"urls": [archive.resolve().as_uri()], "sha256": digest, "bytes": None}


def _run(stage: str, place: Path) -> StageCost:
    """One stage in the folder `place`; what it says goes to a log there."""
    log = place / f"{stage}.log"
    command = [sys.executable, "-I", "-S", "-c", SMALL, sys.executable, "-m", f"pipeline.{stage}"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    with log.open("wb") as said:
        done = subprocess.run(
            command, cwd=place, env=env, stdout=subprocess.PIPE, stderr=said, check=True
        )
    *_, last = done.stdout.splitlines()  # the stage's own output comes first
    code, wall, cpu, peak = json.loads(last)
    if code:
        raise DataError(f"stage {stage} ended with {code}; what it said is in {log}")
    return StageCost(stage, round(wall, 3), round(cpu, 3), round(peak, 1))


def _opening(tensors: Path) -> float:
    start = time.perf_counter()
    for split in SPLITS:
        PairTensors.load(tensors / f"{split}.pt")
    WordVectors.load(tensors / "embedding.pt")
    return round(time.perf_counter() - start, 4)


def table(costs: Sequence[SizeCost]) -> str:
    """The costs as aligned columns, with a row for the sum of each size."""
    lines = [f"{'pairs':>9}  {'stage':<12}{'wall s':>9}{'CPU s':>9}{'peak MiB':>10}"]
    for cost in costs:
        rows = cost.stages
        everything = StageCost(
            "together",
            sum(row.wall_seconds for row in rows),
            sum(row.cpu_seconds for row in rows),
            max((row.peak_mebibytes for row in rows), default=0),
        )
        lines += [
            f"{cost.pairs:>9,}  {row.stage:<12}{row.wall_seconds:>9.1f}{row.cpu_seconds:>9.1f}"
            f"{row.peak_mebibytes:>10.0f}"
            for row in (*rows, everything)
        ]
        if cost.opening_seconds is not None:
            lines.append(f"{cost.pairs:>9,}  {'opening':<12}{cost.opening_seconds:>9.3f}")
    return "\n".join(lines)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, nargs="+", default=SIZES, help="training pairs")
    parser.add_argument("--vectors", type=int, default=VECTORS, help="words in the vectors' file")
    parser.add_argument("--stages", nargs="+", default=STAGES, help="which stages, in their order")
    parser.add_argument("--folder", type=Path, help="keep everything here (default: keep nothing)")
    given = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as temporary:
            folder = (given.folder or Path(temporary)).resolve()
            print(table(measure(given.pairs, folder, given.stages, given.vectors)))
    except UserError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
