"""What benchmarks train in place of a sweep's trials, and what that tells of itself."""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from actmodels.config import TrialConfig
from actmodels.model_training import AnyTraining, ModelTraining
from actmodels.records import EpochRecord
from actmodels.training import Training
from tune.trainable import SingleTraining, Trials, started


@dataclass(frozen=True)
class Note:
    """What was seen where a trial ran.

    begin, end: of the whole trial, in seconds since 1970. training, busy: in its epochs, seconds
    of the clock and of the CPU that its thread had. memory_before, memory_after: of its process,
    in RAM, in MB (2**20 bytes). threads: of one operation of torch.
    """

    pid: int
    begin: float
    end: float
    training: float
    busy: float
    memory_before: float
    memory_after: float
    threads: int


def read_notes(path: Path) -> list[Note]:
    """The notes of all trials, the earliest first."""
    lines = path.read_text(encoding="ascii").splitlines()
    return sorted((Note(**json.loads(line)) for line in lines), key=lambda note: note.begin)


def resident_memory() -> float:
    """Memory of this process that is in RAM, in MB; NaN where the system has no /proc."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except FileNotFoundError:
        return float("nan")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


class NotedTrials:
    """Real trials that leave a note.

    Args:
        notes: file that takes one line of JSON when the last of the trials has ended.
        seconds: CPU time that an epoch takes at least; what is left of it goes into products.
    """

    def __init__(
        self,
        configs: Sequence[TrialConfig],
        data_folder: Path,
        device: str,
        *_: Any,
        notes: Path,
        seconds: float = 0.0,
        graphs: bool = False,
    ) -> None:
        self.notes, self.seconds = notes, seconds
        self.begin, self.memory_before = time.time(), resident_memory()
        self.training = self.busy = 0.0
        self.trials = self.start(configs, data_folder, device)

    def start(self, configs: Sequence[TrialConfig], data_folder: Path, device: str) -> Trials:
        """What is trained."""
        return started(configs, data_folder, device)

    @property
    def members(self) -> Sequence[AnyTraining]:
        """See Trials."""
        return self.trials.members

    @property
    def finished(self) -> bool:
        """See Trials."""
        return self.trials.finished

    def run_epoch(self) -> Sequence[AnyTraining]:
        """Train an epoch, at least for the time asked for; leave the note after the last one."""
        begin, cpu = time.time(), time.thread_time()
        trained = self.trials.run_epoch()
        matrix = torch.ones(64, 64)
        while time.thread_time() - cpu < self.seconds:
            torch.mm(matrix, matrix)
        self.training += time.time() - begin
        self.busy += time.thread_time() - cpu
        if self.finished:
            self.leave_note()
        return trained

    def leave_note(self) -> None:
        """Append it: short enough to be written at once, whoever else writes."""
        note = Note(
            os.getpid(),
            self.begin,
            time.time(),
            self.training,
            self.busy,
            self.memory_before,
            resident_memory(),
            torch.get_num_threads(),
        )
        with self.notes.open("a", encoding="ascii") as file:
            file.write(json.dumps(asdict(note)) + "\n")


class Idle(Training):
    """A trial that trains nothing."""

    parameters = 0

    def __init__(self, config: TrialConfig) -> None:
        ModelTraining.__init__(self, config)

    def run_epoch(self) -> EpochRecord:
        """Add a record of made-up figures."""
        nothing = (None, None, None)
        self.history.append(EpochRecord(self.next_epoch, 1.0, 0.5, *nothing, 1.0, 0.5, *nothing))
        return self.history[-1]

    def state_dict(self) -> dict[str, Any]:
        """What must be saved: no model."""
        return {"history": [vars(record) for record in self.history]}


class IdleTrials(NotedTrials):
    """A trial that trains nothing: what it takes is the cost of scheduling and tracking."""

    def start(self, configs: Sequence[TrialConfig], data_folder: Path, device: str) -> Trials:
        """No model at all."""
        return SingleTraining(Idle(configs[0]))
