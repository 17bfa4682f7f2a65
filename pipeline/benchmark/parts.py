"""What `make bench` measures: the parts by name, and the code that each depends on."""

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from actmodels.bench.parts import PARTS as MODEL_PARTS
from actmodels.bench.plan import FULL, QUICK, Plan
from actmodels.data.trial_data import TrialData
from actmodels.imports import without_prose

ROOT = Path(__file__).parents[2]
OVERHEADS = 3  # runs of the part `overhead`
GRID = 486  # trials of the paper's two grids


@dataclass(frozen=True)
class Job:
    """How a part is run.

    workspace: a folder for large files, empty before each part. say: is told what is being done.
    """

    quick: bool
    tensors: Path | None
    workspace: Path
    say: Callable[[str], None]

    @property
    def plan(self) -> Plan:
        """The sizes of the models' parts; in a quick run the GPU's part runs on the CPU too."""
        return replace(QUICK if self.quick else FULL, tensors=self.tensors, dry_run=self.quick)


@dataclass(frozen=True)
class Part:
    """run: measures and returns what goes into JSON. packages: whose code decides the figures."""

    run: Callable[[Job], dict[str, Any]]
    packages: tuple[str, ...]


@functools.lru_cache(maxsize=1)
def _data(plan: Plan) -> TrialData:
    return plan.data()


def _models(name: str) -> Callable[[Job], dict[str, Any]]:
    def run(job: Job) -> dict[str, Any]:
        threads = torch.get_num_threads()
        try:
            return MODEL_PARTS[name](job.plan, _data(job.plan), job.say)
        finally:
            torch.set_num_threads(threads)

    return run


# tune is imported by the part that needs it: a part that fails must not lose the others.


def _no_op_trials(job: Job) -> dict[str, Any]:
    from tune.benchmark import no_op_trials

    return {"runs": [no_op_trials(4 if job.quick else GRID, job.workspace)]}


def _overhead(job: Job) -> dict[str, Any]:
    from tune.benchmark import overhead

    if job.quick:
        return {"runs": [overhead(job.workspace, 0.6, 4, epochs=2)]}
    return {"runs": [overhead(job.workspace) for _ in range(OVERHEADS)]}


def _scaling(job: Job) -> dict[str, Any]:
    from actmodels.bench.machine import machine
    from tune.benchmark import scaling

    most = 1 if job.quick else int(machine()["cores"])
    numbers = [2**power for power in range(most.bit_length()) if 2**power < most] + [most]
    small = {"trials_per_worker": 2, "pairs": 200} if job.quick else {}
    found = scaling(numbers, job.workspace, **small)
    return {"rows": [{"workers": number, **figures} for number, figures in found.items()]}


def _worker_memory(job: Job) -> dict[str, Any]:
    from tune.benchmark import memory_per_trial

    if job.quick:
        return memory_per_trial(job.workspace, 2, pairs=100)
    return memory_per_trial(job.workspace)


def _data_stages(job: Job) -> dict[str, Any]:
    from pipeline.benchmark.data_stages import SIZES, VECTORS, measure

    if job.quick:
        costs = measure([300], job.workspace, vectors=500)
    else:
        costs = measure(SIZES, job.workspace, vectors=VECTORS)
    return {"rows": [asdict(cost) for cost in costs]}


PARTS: Mapping[str, Part] = {
    **{name: Part(_models(name), ("actmodels",)) for name in MODEL_PARTS},
    "no_op_trials": Part(_no_op_trials, ("actmodels", "tune")),
    "overhead": Part(_overhead, ("actmodels", "tune")),
    "scaling": Part(_scaling, ("actmodels", "tune")),
    "worker_memory": Part(_worker_memory, ("actmodels", "tune")),
    "data_stages": Part(_data_stages, ("actmodels", "pipeline")),
}


@functools.cache
def _package_digest(package: str) -> str:
    """SHA-256 over a package's code, its comments and docstrings left out."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / package).rglob("*.py")):
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(without_prose(path.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()


def part_key(part: Part, identity: Mapping[str, Any]) -> str:
    """What a part's figures hold for: this code, and what `identity` says of machine and plan."""
    code = {package: _package_digest(package) for package in part.packages}
    known = json.dumps({"code": code, **identity}, sort_keys=True)
    return hashlib.sha256(known.encode()).hexdigest()[:16]
