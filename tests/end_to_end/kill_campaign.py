"""Kills at random: the same command again ends with what an undisturbed run gives.

A campaign kills whatever runs at a random moment, from `dvc` to Ray's dashboard or all of it at
once. It compares artifacts to the byte, runs in MLflow and what is said, and looks for processes
left behind.
"""

import random
import re
import subprocess
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

import psutil

from tests.end_to_end.project import Project, kill_session, of_session

VICTIMS = {
    "dvc": r"bin/dvc repro",
    "stage": r"^python -m pipeline\.",
    "worker": r"^ray::ImplicitFunc",
    "raylet": r"/raylet/raylet ",
    "gcs": r"/gcs_server ",
    "dashboard": r"dashboard/dashboard\.py",
    "all": r"bin/dvc repro",
}
# These tell of the machine and of the run; everything else must repeat to the byte.
OF_THE_RUN = re.compile(r"environment\.json|environments\.csv|timings\.(csv|md)")
# The page has them too, in elements that say so.
TIMINGS = re.compile(rb"<(\w+)[^>]* data-run>.*?</\1>", re.DOTALL)
PAGE = "report/index.html"
PATIENCE = 900.0  # seconds that a command may take
LINGER = 180.0  # seconds that processes may outlive the last command


def artifacts(project: Project) -> dict[str, bytes]:
    folder = project.folder / "artifacts"
    paths = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    return {
        name: TIMINGS.sub(b"", path.read_bytes()) if name == PAGE else path.read_bytes()
        for name, path in sorted(paths.items())
        if not OF_THE_RUN.search(name)
    }


def tracked(project: Project) -> Counter[tuple[str, ...]]:
    """MLflow's runs: kind, trial, settings, epochs logged, and how it ended."""
    if not (project.folder / "state" / "mlflow.db").exists():
        return Counter()  # nothing before the sweep is tracked; to ask would make the database
    return Counter(
        (
            *(run.data.tags.get(tag, "") for tag in ("kind", "stage", "trial_key", "epochs")),
            str(sorted(run.data.params.items())),
            run.info.status,
        )
        for run in project.all_runs()
    )


@dataclass
class Campaign:
    """Runs of one project that are killed: which victim fell when, and what went wrong."""

    project: Project
    told: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    leaders: list[int] = field(default_factory=list)

    def run(self, kills: int, seconds: float) -> None:
        """Repeat `dvc repro`; kill the first `kills` runs, each within `seconds`."""
        for left in range(kills, -1, -1):
            status = self._command(random.uniform(0, seconds) if left else None)
            if status == 0:
                break
        else:
            self.problems.append(f"the last command failed ({status}): {self.project.log()}")
        self._left_behind()

    def _command(self, moment: float | None) -> int:
        command = self.project.start("dvc", "repro")
        self.leaders.append(command.pid)
        if moment is not None:
            time.sleep(moment)
            self._kill(command.pid, moment)
        try:
            status = command.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.problems.append(f"it hangs: {self.project.log()}")
            kill_session(command.pid)
            status = command.wait()
        if "Traceback" in (said := self.project.log()):
            self.problems.append(f"a traceback: {said}")
        return status

    def _kill(self, leader: int, moment: float) -> None:
        """Kill one of what runs by now, or all of it."""
        there = {name: found for name in VICTIMS if (found := self._those(leader, VICTIMS[name]))}
        if not there:
            return
        name = random.choice(sorted(there))
        self.told.append(f"{name} at {moment:.1f} s")
        if name == "all":
            kill_session(leader)
        else:
            with suppress(psutil.NoSuchProcess):  # it has just ended
                random.choice(there[name]).kill()

    def _those(self, leader: int, line: str) -> list[psutil.Process]:
        found = []
        for process in of_session(leader):
            with suppress(psutil.NoSuchProcess):
                if re.search(line, " ".join(process.cmdline())):
                    found.append(process)
        return found

    def _left_behind(self) -> None:
        end = time.monotonic() + LINGER
        while left := [p for leader in self.leaders for p in self._those(leader, ".")]:
            if time.monotonic() > end:
                lines = [" ".join(process.cmdline())[:100] for process in left]
                self.problems.append(f"left behind: {lines}")
                return
            time.sleep(1)

    def compare(self, undisturbed: Project) -> None:
        old, new = artifacts(undisturbed), artifacts(self.project)
        differing = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
        if differing:
            self.problems.append(f"differ: {', '.join(differing)}")
        were, are = tracked(undisturbed), tracked(self.project)
        if were != are:
            self.problems.append(f"MLflow lacks {dict(were - are)} and has {dict(are - were)}")
