"""The folders of a stage, and its start and end as a command."""

import errno
import gc
import hashlib
import inspect
import io
import os
import select
import shutil
import signal
import stat
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import NoReturn, TextIO, cast

from filelock import FileLock, Timeout
from tqdm import tqdm

from actmodels.errors import INTERRUPTED, ArtifactError, UserError, printable
from actmodels.files import write_text
from pipeline.runtime.bar_lines import BarLines
from pipeline.runtime.launch import SIGNALS

EXPERIMENT = (
    "note: params.yaml has the values of this experiment; correct them and run the same command "
    "again, or go back: git checkout params.yaml"
)


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
    """Return the folder that outlives a run: downloads, trials, MLflow's store."""
    return project() / "state"


def project() -> Path:
    """Return the project's folder; DVC runs a queued experiment in a copy of its repository.

    The copy is in DVC_ROOT; the project may be a sub-folder. DVC_ROOT may also be another
    project, whose pipeline runs this one.
    """
    root, here = Path(os.environ.get("DVC_ROOT", "")).resolve(), Path.cwd()
    if not here.is_relative_to((root / ".dvc/tmp/exps").resolve()):
        return here
    copy = next((path for path in (here, *here.parents) if (path / ".dvc").is_dir()), here)
    return root / here.relative_to(copy)


def is_experiment() -> bool:
    """Return whether `dvc exp run` runs this stage."""
    return bool(os.environ.get("DVC_EXP_BASELINE_REV"))


@contextmanager
def clean_dir(folder: Path) -> Iterator[None]:
    """Empty the folder first and on failure: it holds the files of one run, or none."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def file_lock(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold a lock, which the kernel releases when the process dies.

    Raises:
        ArtifactError: the file system has no locks.
    """
    lock = FileLock(path, fallback_to_soft=False)  # a soft lock stays after a kill
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        on_wait()
        lock.acquire()
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP):
            raise
        raise ArtifactError(
            f"{path}: its file system has no locks ({error.strerror}); mount it with locks "
            "(Lustre: -o flock, NFS: version 4), or move the project to another one"
        ) from error
    try:
        yield
    finally:
        lock.release()


def _make_folders() -> None:
    """Make the folders of state and artifacts; raise ArtifactError if one is not writable."""
    contents = {state_folder(): "state that outlives a run", artifacts(): "output of stages"}
    for folder, content in contents.items():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            problem = "" if os.access(folder, os.W_OK) else "cannot be written to"
        except OSError as error:
            problem = f"cannot be used as a folder: {error.strerror}"
        if problem:
            raise ArtifactError(f"{folder} {problem}; {content} is kept there")
    artifacts("studies").mkdir(exist_ok=True)  # the report depends on it, also without a study


def run_stage(main: Callable[[], None], stage: str = "") -> NoReturn:
    """Run a stage as a command; fail if its inputs are corrupt, or edited while it runs.

    Args:
        stage: its name; by default that of main's module, or study@NAME in studies/NAME/stage.py.
    """
    # these import YAML, which commands do not need
    from pipeline.runtime.inputs import checked_inputs
    from pipeline.runtime.progress import begin

    module = Path(inspect.getfile(main))
    study = module.parent.name if module.stem == "stage" else ""
    name = stage or (f"study@{study}" if study else module.stem)
    folder = artifacts("studies", study) if study else artifacts(name)
    lock = state_folder() / "run.lock"
    waiting = f"{name}: waiting for another run of this project to end, which holds {lock}"

    def checked() -> None:
        _make_folders()
        # a stage continues to run if only its `dvc` was killed
        with file_lock(lock, lambda: print(f"{waiting}; Ctrl-C stops waiting", flush=True)):
            if line := begin(name):
                print(line, file=sys.stderr, flush=True)
            for partial in folder.rglob(".*.tmp"):  # left by a kill; see replacing
                partial.unlink(missing_ok=True)
            with checked_inputs(name, state_folder() / "quarantine"):
                main()

    run_command(checked)


def run_command(main: Callable[[], None]) -> NoReturn:
    """Run a command and exit: 0, or 1 with each problem on its own line, or 130 when interrupted.

    The traceback of an error other than `UserError` is written to a file. tqdm.write prints
    messages on their own lines below a progress bar. SIGTERM and SIGHUP do what Ctrl-C does at that
    moment, so that temporary files are removed and a sweep ends its trials; a thread prints their
    line, because Ray's processes may have received the signal too, and the main thread then waits
    for Ray until the process is ended.
    """
    gc.freeze()  # what was imported is no garbage; launch.py has disabled the search for it
    gc.enable()
    _open_streams()
    announcing, received = _announce_signals(), signal.SIGINT

    def terminate(number: int, frame: FrameType | None) -> None:
        nonlocal received
        received = signal.Signals(number)
        _discard_closed_terminals()
        handler = signal.getsignal(signal.SIGINT)  # that of Ray Tune while it runs
        (handler if callable(handler) else signal.default_int_handler)(signal.SIGINT, frame)

    # these replace the handlers of launch.py
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # such as of nohup
            handler = signal.default_int_handler if number == signal.SIGINT else terminate
            signal.signal(number, handler)
    try:
        main()
        print(end="", flush=True)
    except UserError as error:
        for line in str(error).splitlines():
            tqdm.write(f"error: {printable(line)}", file=sys.stderr)
        if is_experiment():
            tqdm.write(EXPERIMENT, file=sys.stderr)
        sys.exit(1)
    except Exception as error:
        problem = _output_error(error)
        if isinstance(problem, BrokenPipeError):  # such as `| head`
            sys.exit(128 + signal.SIGPIPE)
        message = f"standard output: {problem.strerror}" if problem else _store_traceback(error)
        tqdm.write(f"error: {printable(message)}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        if received == signal.SIGINT:
            tqdm.write(INTERRUPTED.format(received.name), file=sys.stderr)
        else:
            announcing.join(1)
        sys.exit(128 + received)
    sys.exit(0)


def _announce_signals() -> Thread:
    """Start a thread that prints a line for the first SIGTERM or SIGHUP, and ends."""
    terminal = os.dup(2)  # a sweep redirects standard error
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)  # Python writes the number as soon as it receives a signal

    def announce() -> None:
        while (number := os.read(reader, 1)[0]) not in (signal.SIGTERM, signal.SIGHUP):
            pass
        with suppress(OSError):  # a closed terminal
            os.write(terminal, f"{INTERRUPTED.format(signal.Signals(number).name)}\n".encode())

    thread = Thread(target=announce, daemon=True)
    thread.start()
    return thread


def _open_streams() -> None:
    """Open closed standard streams on os.devnull, so that no other file gets their number.

    sys.stdin and sys.stdout stay None. Characters that the encoding lacks are escaped. Outside of
    a terminal, progress bars have lines of their own.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) < 3:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    if not sys.stderr.isatty():
        sys.stderr = cast(TextIO, BarLines(sys.stderr))
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="backslashreplace")


def _discard_closed_terminals() -> None:
    """Replace closed terminals by os.devnull, so that cleaning up does not fail at a message."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in [int(path.name) for path in Path("/dev/fd").iterdir()]:
        try:
            if stat.S_ISCHR(os.fstat(number).st_mode):
                os.write(number, b"")
        except OSError as error:
            if error.errno == errno.EIO:
                os.dup2(null, number)


def _output_error(error: Exception) -> OSError | None:
    """Return the error of a standard output that cannot be written, and discard its rest."""
    pipe = select.poll()
    pipe.register(1, 0)  # a pipe that nobody reads; a socket has the same error
    try:
        print(end="", flush=True)
        if not (isinstance(error, BrokenPipeError) and pipe.poll(0)):
            return None
    except OSError as problem:
        error = problem
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return error


def _store_traceback(error: Exception) -> str:
    """Store the traceback of an error; return its message with the path of the traceback."""
    # file names that are not UTF-8 contain surrogates
    trace = "".join(traceback.format_exception(error)).encode(errors="backslashreplace").decode()
    message = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    if isinstance(error, OSError) and error.filename:
        message = f"{error.filename}: {error.strerror}; fix that and run the same command again"
    path = state_folder() / "errors" / f"{hashlib.sha256(trace.encode()).hexdigest()[:8]}.txt"
    try:
        write_text(path, trace)
    except OSError as problem:
        return f"{message} (the trace could not be stored in {path.parent}: {problem.strerror})"
    return f"{message} (trace in {path})"
