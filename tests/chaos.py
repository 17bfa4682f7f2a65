"""Kills at random: the same command again ends with what an undisturbed run gives.

    python -m tests.chaos [--rounds 50] [--kills 3] [--seed N]

makes the tiny project, all studies on, once undisturbed, and then once a round with kills: of
whatever runs at a random moment, from `dvc` to Ray's dashboard or all of it at once. It compares
artefacts to the byte, runs in MLflow and what is said, and looks for processes left behind.
"""

import argparse
import random
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from mlflow.entities import Run

from tests.end_to_end.project import TINY, Project, kill_session, of_session

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
OF_THE_RUN = re.compile(r"environment\.json|timings\.(csv|md)")
# The page has them too, in one section.
TIMINGS = re.compile(rb'<section aria-labelledby="timings">.*?</section>', re.DOTALL)
PAGE = "report/index.html"
PATIENCE = 900.0  # seconds that a command may take
LINGER = 60.0  # seconds that processes may outlive the last command


def artefacts(project: Project) -> dict[str, bytes]:
    """What must repeat, by its path below artefacts/."""
    folder = project.folder / "artefacts"
    paths = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    return {
        name: path.read_bytes()
        for name, path in sorted(paths.items())
        if not OF_THE_RUN.search(name) and name != PAGE
    }


def tracked(project: Project) -> dict[str, Counter[str]]:
    """How MLflow's runs ended, by their kind."""
    client, found = project.client(), {}
    for experiment in client.search_experiments():
        runs: list[Run] = list(client.search_runs([experiment.experiment_id], max_results=5000))
        for run in runs:
            ended = found.setdefault(run.data.tags.get("kind", ""), Counter())
            ended[run.info.status] += 1
    return found


@dataclass
class Campaign:
    """Runs of one project that are killed.

    Attributes:
        told: which victim fell, and when, in seconds since its command began.
        problems: what went wrong.
    """

    project: Project
    random: random.Random
    told: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    leaders: list[int] = field(default_factory=list)

    def run(self, kills: int, seconds: float) -> bool:
        """`dvc repro` again and again, the first so many times with a kill; whether it succeeds.

        Args:
            seconds: that an undisturbed run takes; the kills are spread over it.
        """
        for left in range(kills, -1, -1):
            moment = self.random.uniform(0, 2 * seconds / (kills + 1)) if left else None
            status = self._command(moment)
            if status == 0:
                break
        else:
            self.problems.append(f"the last command failed ({status}): {self.project.log()}")
        self._left_behind()
        return status == 0

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
        name = self.random.choice(sorted(there))
        self.told.append(f"{name} at {moment:.1f} s")
        if name == "all":
            kill_session(leader)
        else:
            self.random.choice(there[name]).kill()

    def _those(self, leader: int, line: str) -> list[psutil.Process]:
        found = []
        for process in of_session(leader):
            with suppress(psutil.NoSuchProcess):
                if re.search(line, " ".join(process.cmdline())):
                    found.append(process)
        return found

    def _left_behind(self) -> None:
        """Nothing of any command may run for long after the last one."""
        end = time.monotonic() + LINGER
        while left := [p for leader in self.leaders for p in self._those(leader, ".")]:
            if time.monotonic() > end:
                lines = [" ".join(process.cmdline())[:100] for process in left]
                self.problems.append(f"left behind: {lines}")
                return
            time.sleep(1)

    def compare(self, undisturbed: Project) -> None:
        """With a run that nothing befell."""
        old, new = artefacts(undisturbed), artefacts(self.project)
        differing = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
        if differing:
            self.problems.append(f"differ: {', '.join(differing)}")
        pages = [
            TIMINGS.sub(b"", (project.folder / "artefacts" / PAGE).read_bytes())
            for project in (undisturbed, self.project)
        ]
        if pages[0] != pages[1]:
            self.problems.append("the page differs")
        finished = {
            kind: Counter({"FINISHED": sum(ended.values())})
            for kind, ended in tracked(undisturbed).items()
        }
        if (found := tracked(self.project)) != finished:
            self.problems.append(f"runs in MLflow are {found}, and were {finished}")


def undisturbed_run(folder: Path) -> tuple[Project, float]:
    """A run that nothing befell, and the seconds it took."""
    project, start = Project(folder), time.monotonic()
    project.configure(TINY)
    project.repro()
    return project, time.monotonic() - start


def main() -> None:
    """Rounds by hand."""
    parser = argparse.ArgumentParser(description="Kill a small project's run at random moments.")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--kills", type=int, default=3, help="of a round")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        whole, seconds = undisturbed_run(Path(name) / "whole")
        failed = 0
        for number in range(given.rounds):
            project = Project(Path(name) / f"round{number}")
            project.configure(TINY)
            campaign = Campaign(project, random.Random(f"{given.seed}/{number}"))
            if campaign.run(given.kills, seconds):
                campaign.compare(whole)
            said = "; ".join(campaign.problems) or "as undisturbed"
            print(f"{number + 1:3} {', '.join(campaign.told)}: {said}", flush=True)
            failed += bool(campaign.problems)
    print(f"{given.rounds - failed} of {given.rounds} rounds as undisturbed")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
