"""What every stage shares: where its files are, and how it ends."""

import hashlib
import inspect
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from filelock import FileLock, Timeout
from tqdm import tqdm

from actmodels.errors import ArtifactError, UserError, printable
from actmodels.files import write_text
from pipeline import INTERRUPTED


def artifacts(*parts: str) -> Path:
    """Return an absolute path under `artifacts/` of the project root, the current folder."""
    return Path.cwd().joinpath("artifacts", *parts)


def require_artifact(stage: str, *parts: str) -> Path:
    """Return the absolute path of an output of an earlier stage.

    Raises:
        ArtifactError: it is missing, or neither a file nor a folder.
    """
    path = artifacts(stage, *parts)
    if not path.exists():
        raise ArtifactError(f"{path} is missing; run: dvc repro {stage}")
    if not (path.is_file() or path.is_dir()):
        raise ArtifactError(f"{path} is not a regular file; run: dvc repro -f {stage}")
    return path


def state_folder() -> Path:
    """Return the folder of what outlives a run: downloads, trials, MLflow's store."""
    return project() / "state"


def project() -> Path:
    """Return the project's folder; DVC runs a queued experiment in a copy that it deletes."""
    return Path(os.environ.get("DVC_ROOT") or Path.cwd())


@contextmanager
def clean_dir(folder: Path) -> Iterator[None]:
    """Empty the folder first and on failure: it holds what one run wrote, or nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def file_lock(path: Path, say_waiting: Callable[[], None]) -> Iterator[None]:
    """Hold a lock, which the kernel takes back from a process that dies."""
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        say_waiting()
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _make_folders() -> None:
    """Raise ArtifactError unless there is a state folder, and one for artifacts."""
    kept = {state_folder(): "all that outlives a run", artifacts(): "what stages write"}
    for folder, what in kept.items():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            why = "" if os.access(folder, os.W_OK) else "cannot be written to"
        except OSError as error:
            why = f"cannot be used as a folder: {error.strerror}"
        if why:
            raise ArtifactError(f"{folder} {why}; {what} is kept there")


def run_stage(main: Callable[[], None], stage: str = "") -> NoReturn:
    """Run a stage as a command; inputs that are damaged, or edited meanwhile, end it.

    Args:
        stage: its name; by default that of main's module.
    """
    from pipeline.runtime.inputs import checked_inputs  # reads YAML, which commands do without

    name = stage or Path(inspect.getfile(main)).stem
    waiting = f"{name}: waiting for another run of this project to end; Ctrl-C stops waiting"

    def checked() -> None:
        _make_folders()
        # a stage goes on where only its `dvc` was killed
        with file_lock(state_folder() / "run.lock", lambda: print(waiting, flush=True)):
            for half in artifacts(name).rglob(".*.tmp"):  # a kill left it; see replacing
                half.unlink(missing_ok=True)
            with checked_inputs(name, state_folder() / "damaged"):
                main()

    run_command(checked)


def run_command(main: Callable[[], None]) -> NoReturn:
    """Run a command and exit: 0, or 1 with each problem on its own line, or 130 when interrupted.

    The trace of an error that is no `UserError` is kept in a file. tqdm.write puts messages on
    their own lines below a bar. SIGTERM unwinds like Ctrl-C, so that temporary files are removed.
    """
    _open_streams()
    received = signal.SIGINT

    def terminate(number: int, _frame: FrameType | None) -> None:
        nonlocal received
        received = signal.Signals(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, terminate)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # pipeline/__init__.py set another
    try:
        main()
    except UserError as error:
        for line in str(error).splitlines():
            tqdm.write(f"error: {printable(line)}", file=sys.stderr)
        sys.exit(1)
    except Exception as error:
        tqdm.write(f"error: {printable(_unforeseen(error))}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        tqdm.write(INTERRUPTED, file=sys.stderr)
        sys.exit(128 + received)
    sys.exit(0)


def _open_streams() -> None:
    """Point closed streams nowhere: the next opened file would take their number.

    sys.stdin and sys.stdout stay None.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) < 3:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def _unforeseen(error: Exception) -> str:
    """Store the trace of an error; return one line that names it."""
    # names of files that are not in UTF-8 hold halves of characters
    trace = "".join(traceback.format_exception(error)).encode(errors="backslashreplace").decode()
    said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    if isinstance(error, OSError) and error.filename:
        said = f"{error.filename}: {error.strerror}; mend that and run the same command again"
    path = state_folder() / "errors" / f"{hashlib.sha256(trace.encode()).hexdigest()[:8]}.txt"
    try:
        write_text(path, trace)
    except OSError as problem:
        return f"{said} (the trace could not be kept in {path.parent}: {problem.strerror})"
    return f"{said} (trace in {path})"
