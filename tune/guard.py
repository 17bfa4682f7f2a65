"""A process that waits for the driver's death, and reports it if nobody else could.

Ray's C++ may end the driver without running any `except` or `finally`, and so may the system.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from filelock import FileLock, Timeout

from actmodels.errors import INTERRUPTED, UserError, first_line

# A message of Ray's C++ before it exits: severity (C, or E with this word), then process and text.
FATAL = re.compile(r"^\[.* (?:C|E(?=.*terminate)) (\d+) \d+\] \S+ +(.+?)(?:\. |$)", re.MULTILINE)
WATCH = "import sys; sys.path.append({!r}); from tune.guard import watch; watch()"
_guards: list[subprocess.Popen[bytes]] = []  # the kernel closes their input when the driver dies


@contextmanager
def guarded(state: Path, log: Path, terminal: TextIO) -> Iterator[None]:
    """Guard a block: if the process dies, print why, and end its MLflow runs.

    log: Ray's messages.
    """
    arguments = map(str, (state, log, log.stat().st_size, os.getpid()))
    command = [sys.executable, "-P", "-c", WATCH.format(str(Path(__file__).parents[1])), *arguments]
    guard = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=terminal)
    _guards.append(guard)
    try:
        yield
    finally:
        _guards.remove(guard)
        guard.kill()
        guard.communicate()  # waits, and closes the input


def silence() -> None:
    """Keep the guards from printing: the user knows why the driver ends."""
    for guard in _guards:
        with suppress(OSError):
            os.write(guard.stdin.fileno(), b".") if guard.stdin else None


def main(state: Path, log: Path, start: int, driver: int) -> None:
    """Wait until the driver dies; print the reason, and set its MLflow runs to KILLED.

    start: size of the log when the driver started; driver: its process id.
    """
    received = list[int]()  # for the driver; a scheduler also ends Ray's processes, which end it
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: received.append(number))
    if not sys.stdin.buffer.read():
        text = log.read_bytes()[start:].decode(errors="replace")
        fatal = [message for process, message in FATAL.findall(text) if int(process) == driver]
        reason = "was killed, for instance by the system because memory was short"
        if fatal:
            reason = f"was ended by Ray ({first_line(fatal[-1])}; see {log})"
        message = f"error: this run {reason}; nothing is lost: run the same command again to resume"
        if received:
            message = INTERRUPTED.format(signal.Signals(received[0]).name)
        print(f"\n{message}", file=sys.stderr, flush=True)
    with suppress(Timeout), FileLock(state / "run.lock", timeout=0):  # else another run ends them
        from tune.mlflow_store import RunStore

        RunStore(state)


def watch() -> None:
    """Run `main` with the arguments of the process."""
    with suppress(OSError, UserError):  # the project was deleted, or MLflow is down
        main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
