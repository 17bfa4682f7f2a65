"""A copy of the whole project in a separate folder, run as a user runs it."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from mlflow import MlflowClient
from mlflow.entities import Run
from ruamel.yaml import YAML

from tests.pipeline.project import study_file

ROOT = Path(__file__).parents[2]
STORIES = Path(__file__).parent / "stories.txt"  # of tests/studies/cloze/cloze_samples.py
# Regular expressions of command lines.
PROCESSES = {
    "dvc": r"bin/dvc repro",
    "stage": r"^python \S+/launch\.py -m (pipeline|studies)\.",
    "worker": r"^ray::(ImplicitFunc|[0-9a-f]{8}-)",
    "raylet": r"/raylet/raylet ",
    "gcs": r"/gcs_server ",
    "dashboard": r"dashboard/dashboard\.py",
}

# Common settings of Graves' tasks.
SEQUENCES: dict[str, Any] = {
    **{"state_size": 8, "init": "xavier", "init_std": 0.1, "epsilon": 0.01, "max_steps": 5},
    **{"halting_bias": 1.0, "learning_rate": 0.01, "clip_norm": 1.0, "batch_size": 16},
    **{"updates_per_epoch": 5, "dev_sequences": 40, "dev_seed": 1},
}
LIMITS: dict[str, Any] = {
    **{"max_epochs": 2, "patience": 0},
    "mechanisms": {"none": {}, "act": {"ponder_weight": [0.01]}},
}
TEXT = ROOT / "LICENSE"  # some plain text


def text_source(name: str, path: Path) -> dict[str, Any]:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    source = {"name": name, "urls": [path.as_uri()], "sha256": digest}
    return source | {"bytes": None, "members": []}


# A sweep of 2 + 2 trials and some seconds, long enough to be killed several times.
TINY: dict[str, Any] = {
    "cluster.dashboard": False,
    "corpus.captions.train": 900,
    "corpus.captions.dev": 120,
    "corpus.captions.test": 120,
    "sweep.max_epochs": 60,
    "sweep.models.decomposable_attention.grid.learning_rate": [0.001, 0.002],
    "sweep.models.decomposable_attention.grid.dropout": [0.1],
    "sweep.models.decomposable_attention.grid.width": [16],
    "sweep.models.compare_adaptive_attention": None,
    "sweep.models.adaptive_attention.settings": {"state_size": 16, "gate_size": 16},
    "sweep.models.adaptive_attention.grid.learning_rate": [0.001],
    "sweep.models.adaptive_attention.grid.ponder_weight": [0.001, 0.0001],
    "sweep.models.adaptive_attention.grid.dropout": [0.1],
    "sweep.models.adaptive_attention.grid.width": [16],
    "retrain.seeds": [1, 2],
    "retrain.max_epochs": 2,
    "retrain.patience": 1,
    "ablate.dev_steps": 5,
    "ablate.test_steps": [2, 4],
    "trace.per_label": 2,
    "studies": ["multihop", "fidelity", "halting", "sequences", "stopping", "cloze"],
    "fidelity.seeds": [1, 2],
    "fidelity.max_epochs": 2,
    "fidelity.models": {
        "decomposable_attention": {
            "corrected": {},
            "as published": {"scrambled_alignment": True, "no_mask": True},
        }
    },
    "sequences.seeds": [1],
    "sequences.drawn": 100,
    "sequences.text": text_source("license", TEXT),
    "sequences.tasks": {
        "parity": LIMITS | {"settings": SEQUENCES | {"bits": 4, "cell": "rnn"}},
        "characters": LIMITS
        | {"settings": SEQUENCES | {"window": 8, "held_out_bytes": 400, "cell": "lstm"}},
    },
    **{"stopping.seeds": [1], "stopping.tasks": ["addition"], "stopping.max_epochs": 1},
    **{"stopping.evaluation.bits": [4, 8], "stopping.mechanisms": {"act": {}, "fixed_steps": {}}},
    **{"stopping.settings.bits": 4, "stopping.settings.steps": 4, "stopping.settings.width": 8},
    "stopping.settings.updates_per_epoch": 3,
    "multihop.seeds": [1],
    **{"multihop.corpus.dev": 4, "multihop.corpus.test": 5, "multihop.corpus.dimensions": 8},
    **{"multihop.evaluation.hops": [1, 2, 3], "multihop.evaluation.max_steps": 5},
    "multihop.max_epochs": 2,
    "multihop.settings.width": 8,
    "multihop.settings.gate_size": 8,
    "multihop.settings.batch_size": 8,
    "multihop.settings.updates_per_epoch": 3,
    "multihop.settings.max_hops": 2,
    "cloze.data.question_types": ["NE"],
    "cloze.data.text.source": text_source("stories", STORIES),
    "cloze.data.text.stride": 3,
    "cloze.seeds": [1, 2],
    "cloze.traced": 3,
    "cloze.question_types": {
        "NE": {
            "max_epochs": 2,
            "patience": 1,
            "query_gating": [],
            "adaptive_computation": [2],
            "settings": {
                **{"memory_size": 8, "parameter_range": 0.1, "embedding_range": 0.1},
                **{"dropout": 0.2, "learning_rate": 0.001, "clip_norm": 15.0, "batch_size": 4},
                **{"pool_size": 8, "keep_last": True, "evaluation_batch_size": 16},
            },
        }
    },
    "halting.seeds": [1],
    "halting.max_epochs": 2,
    "halting.mechanisms": {"ponder_net": {}, "target_steps": {"target_steps": [3.0]}},
}


# These depend on the machine and the run; everything else must be byte-identical.
VARIABLE = re.compile(r"environment\.json|environments\.csv|timings\.(csv|md)")
# Elements of the page that depend on the run.
TIMINGS = re.compile(rb"<(\w+)[^>]* data-run>.*?</\1>", re.DOTALL)


class Project:
    """A copy of the project, created from the working tree if its folder does not exist.

    settings: additional environment variables of its commands.
    """

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder, self.settings = folder, settings
        if not folder.exists():
            listing = self.git("ls-files", "-co", "--exclude-standard", cwd=ROOT)
            for name in listing.splitlines():
                output = name.startswith("artifacts/") and not name.endswith(".gitignore")
                if (ROOT / name).is_file() and name != "dvc.lock" and not output:
                    target = folder / name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(ROOT / name, target)
            self.git("init", "-q")
            self.git("add", "-A")
            author = ("-c", "user.name=test", "-c", "user.email=test@localhost")
            self.git(*author, "commit", "-q", "-m", "copy")

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        return subprocess.check_output(["git", *arguments], cwd=cwd or self.folder, text=True)

    def copy(self, folder: Path, **settings: str) -> "Project":
        shutil.copytree(self.folder, folder, symlinks=True)
        return Project(folder, **settings)

    def configure(self, values: dict[str, Any]) -> None:
        """Change values of params.yaml; the sections of `studies` are those of conf/study/."""
        path, yaml = self.folder / "params.yaml", YAML()
        tree = yaml.load(path.read_text())
        for name in values.get("studies", []):
            tree.setdefault(name, study_file(name, self.folder)[name])
        for key, value in values.items():
            *parents, last = key.split(".")
            node = tree
            for parent in parents:
                node = node[parent]
            assert last in node, key
            node[last] = value
        with path.open("w") as file:
            yaml.dump(tree, file)

    def environment(self) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith(("RAY_", "MLFLOW_", "TUNE_"))
        }
        # Run the code of the copy, not the installed project.
        more = {"PYTHONPATH": str(self.folder), "DVC_NO_ANALYTICS": "1", "PATH": path}
        return kept | more | self.settings

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Start a command with its output in command.log."""
        path = self.folder / "command.log"
        path.unlink(missing_ok=True)  # an orphan of an earlier command may still write to it
        log = path.open("w")
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment(),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        )

    def run(self, *command: str, timeout: float = 900) -> tuple[int, str]:
        process = self.start(*command)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return status, self.log()

    def repro(self, *stages: str) -> str:
        status, output = self.run("dvc", "repro", *stages)
        assert status == 0, output
        return output

    def results(self) -> dict[str, bytes]:
        folder = self.folder / "artifacts" / "sweep"
        names = ("records.jsonl", "trials.csv", "history.csv", "summary.json")
        return {name: (folder / name).read_bytes() for name in names}

    def artifacts(self) -> dict[str, bytes]:
        """Return the contents of all artifacts that do not depend on the run."""
        folder = self.folder / "artifacts"
        paths = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
        return {
            name: TIMINGS.sub(b"", path.read_bytes())
            for name, path in sorted(paths.items())
            if not VARIABLE.search(name)
        }

    def finished(self) -> set[str]:
        return {path.stem for path in (self.folder / "state" / "trials").glob("*.json")}

    def client(self) -> MlflowClient:
        return MlflowClient(f"sqlite:///{self.folder}/state/mlflow.db")

    def log(self) -> str:
        return (self.folder / "command.log").read_text()

    def checkpoints(self) -> Path:
        return self.folder / "state" / "ray" / "checkpoints"

    def saved(self) -> list[Path]:
        paths, finished = self.checkpoints().glob("[0-9a-f]*.pt"), self.finished()
        return [path for path in paths if path.stem not in finished]

    def all_runs(self) -> list[Run]:
        ids = [e.experiment_id for e in self.client().search_experiments()]
        return list(self.client().search_runs(ids, max_results=5000))

    def runs(self, kind: str) -> list[Run]:
        """Return the MLflow runs of a kind: sweep, retrain, trial, evaluate, ablate or report."""
        return [run for run in self.all_runs() if run.data.tags.get("kind") == kind]

    def trials_of(self, parent: Run) -> list[Run]:
        name = parent.info.run_name
        return [r for r in self.runs("trial") if name in r.data.tags["sweeps"].split(", ")]


def wait_for(condition: Callable[[], Any], what: str, timeout: float = 240) -> Any:
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited {timeout} s for {what}")


def matching(candidates: Iterable[psutil.Process], line: str) -> list[psutil.Process]:
    """Return the processes whose command line matches a regular expression."""
    found = []
    for process in candidates:
        with suppress(psutil.NoSuchProcess):
            if re.search(line, " ".join(process.cmdline())):
                found.append(process)
    return found


def processes(root: int, name: str) -> list[psutil.Process]:
    """Return the descendants of `root` of a name in PROCESSES."""
    return matching(psutil.Process(root).children(recursive=True), PROCESSES[name])


@contextmanager
def in_mid_sweep(
    project: Project, reached: Callable[[], Any] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Start a sweep; yield its command when `reached()`; kill its remaining processes.

    By default that is when two of four trials have finished and a third is saved.
    """
    reached = reached or (lambda: len(project.finished()) > 1 and project.saved())
    command = project.start("dvc", "repro", "sweep")
    try:
        wait_for(lambda: reached() or command.poll() is not None, "the middle of a sweep")
        assert command.poll() is None, project.log()
        yield command
    finally:
        kill_session(command.pid)
        command.wait()


def kill_session(leader: int) -> None:
    """Kill the remaining processes of a command; Ray's have separate process groups."""
    for process in of_session(leader):
        with suppress(psutil.NoSuchProcess):
            process.kill()


def of_session(leader: int) -> Iterator[psutil.Process]:
    """Yield the processes of a command's session, also after the command has ended."""
    for process in psutil.process_iter():
        with suppress(ProcessLookupError, psutil.NoSuchProcess):
            if os.getsid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                yield process
