"""Random kills: the same command again ends with the results of an undisturbed run.

A campaign kills a process at a random time, from `dvc` to Ray's dashboard, or all of them. It
compares artifacts byte by byte, MLflow runs and output, and checks for remaining processes.
"""

import random
import re
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import psutil

from pipeline.report import EVALUATIONS
from tests.end_to_end.project import PROCESSES, Project, kill_session, matching, of_session

VICTIMS = PROCESSES | {"all": PROCESSES["dvc"]}
# These depend on the machine and the run; everything else must be byte-identical.
VARIABLE = re.compile(r"environment\.json|environments\.csv|timings\.(csv|md)")
# Elements of the page that depend on the run.
TIMINGS = re.compile(rb"<(\w+)[^>]* data-run>.*?</\1>", re.DOTALL)
PAGE = "report/index.html"
TIMEOUT = 900.0  # seconds per command
LINGER = 180.0  # seconds for which processes may outlive the last command


def artifacts(project: Project) -> dict[str, bytes]:
    folder = project.folder / "artifacts"
    paths = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    return {
        name: TIMINGS.sub(b"", path.read_bytes()) if name == PAGE else path.read_bytes()
        for name, path in sorted(paths.items())
        if not VARIABLE.search(name)
    }


def stage_of(artifact: str) -> str:
    """Return the stage or the study of an artifact."""
    return artifact.removeprefix("studies/").split("/")[0]


def tracked(project: Project, stages: set[str]) -> Counter[tuple[str, ...]]:
    """Count the MLflow runs of stages by kind, stage, trial, epochs, parameters and status."""
    rows = [
        (
            *(run.data.tags.get(tag, "") for tag in ("kind", "stage", "trial_key", "epochs")),
            str(sorted(run.data.params.items())),
            run.info.status,
        )
        for run in project.all_runs()
    ]
    return Counter(row for row in rows if (row[1] or row[0]) in stages)


@dataclass
class Campaign:
    """Killed runs of a project's stages, of all without `targets`: kills, and problems found."""

    project: Project
    targets: Sequence[str] = ()
    kills: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    leaders: list[int] = field(default_factory=list)

    def run(self, kills: int, seconds: float) -> None:
        """Repeat `dvc repro`; kill the first `kills` runs, each within `seconds`."""
        for remaining in range(kills, -1, -1):
            status = self._command(random.uniform(0, seconds) if remaining else None)
            if status == 0:
                break
        else:
            self.problems.append(f"the last command failed ({status}): {self.project.log()}")
        self._check_remaining()

    def _command(self, moment: float | None) -> int:
        command = self.project.start("dvc", "repro", *self.targets)
        self.leaders.append(command.pid)
        if moment is not None:
            time.sleep(moment)
            self._kill(command.pid, moment)
        try:
            status = command.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.problems.append(f"the command hangs: {self.project.log()}")
            kill_session(command.pid)
            status = command.wait()
        if "Traceback" in (output := self.project.log()):
            self.problems.append(f"a traceback: {output}")
        if "Unable to read RWLock-file" in output:  # follow the FAQ
            (self.project.folder / ".dvc" / "tmp" / "rwlock").unlink()
            return self._command(moment)
        return status

    def _kill(self, leader: int, moment: float) -> None:
        """Kill one of the running processes, or all."""
        running = {name: matching(of_session(leader), VICTIMS[name]) for name in VICTIMS}
        names = [name for name in sorted(running) if running[name]]
        if not names:
            return
        name = random.choice(names)
        self.kills.append(f"{name} at {moment:.1f} s")
        if name == "all":
            kill_session(leader)
        else:
            with suppress(psutil.NoSuchProcess):  # it has just ended
                random.choice(running[name]).kill()

    def _check_remaining(self) -> None:
        end = time.monotonic() + LINGER
        while remaining := [
            p for leader in self.leaders for p in matching(of_session(leader), ".")
        ]:
            if time.monotonic() > end:
                lines = [" ".join(process.cmdline())[:100] for process in remaining]
                self.problems.append(f"remaining processes: {lines}")
                return
            time.sleep(1)

    def compare(self, undisturbed: Project) -> None:
        """Compare the stages that this project has run."""
        old, new = artifacts(undisturbed), artifacts(self.project)
        stages = {stage_of(name) for name in new}
        old = {name: content for name, content in old.items() if stage_of(name) in stages}
        differing = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
        if differing:
            self.problems.append(f"differ: {', '.join(differing)}")
        if "report" not in stages:
            stages -= set(EVALUATIONS)
        expected, runs = tracked(undisturbed, stages), tracked(self.project, stages)
        if runs != expected:
            missing, extra = dict(expected - runs), dict(runs - expected)
            self.problems.append(f"MLflow lacks {missing} and has {extra}")
