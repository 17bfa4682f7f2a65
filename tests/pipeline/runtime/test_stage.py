import errno
import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from actmodels.errors import ArtifactError
from pipeline.parameters.load import load_params
from pipeline.runtime.stage import artifacts, clean_dir, file_lock, require_artifact, state_folder
from pipeline.trials.execution import execution_settings
from tests.pipeline.project import ROOT, transcribe

STAGE = """
import os, signal, sys, time
from actmodels.errors import ConfigError, DataError
from actmodels.files import replacing
from pathlib import Path
from pipeline.runtime.stage import run_stage

def main() -> None:
    {body}

run_stage(main)
"""


ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


def start(body: str, folder: Path) -> subprocess.Popen[str]:
    command, pipe = [sys.executable, "-c", STAGE.format(body=body)], subprocess.PIPE
    return subprocess.Popen(
        command, cwd=folder, env=ENVIRONMENT, stdout=pipe, stderr=pipe, text=True
    )


def run(body: str, folder: Path) -> tuple[int | None, str]:
    """Return exit status and errors."""
    process = start(body, folder)
    _, errors = process.communicate(timeout=30)
    return process.returncode, errors


def test_errors_are_printed_or_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Callable[..., None]
) -> None:
    def stage(body: str, file: str = "", link: str = "", **environment: str) -> list[str]:
        """Run a stage, with a file or a link to nowhere in place of a folder."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / file).parent.mkdir(exist_ok=True)
        if file:
            (folder / file).write_text("")
        elif link:
            (folder / link).symlink_to("nowhere")
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setitem(ENVIRONMENT, name, value)
            status, errors = run(body, folder)
        text = re.sub(r"(?<=errors/)[^)]*", "…", errors.replace("\r", "\n"))
        traces = [path.read_text() for path in folder.glob("state/errors/*")]
        first = [trace.partition("\n")[0] for trace in traces]
        kept = [line for line in text.splitlines() if line.strip() and "it/s" not in line]
        return [f"status {status}", *kept, *first]

    folder = tmp_path / "project"
    transcribe(golden, "stage_errors.txt", {"stage": stage}, f"{folder}/")
    assert not list((folder / "made").iterdir())  # the last line is a write error


def test_garbage_is_collected_but_not_during_imports(tmp_path: Path) -> None:
    body = "import gc; assert gc.isenabled() and gc.get_freeze_count() > 1_000"
    assert run(body, tmp_path) == (0, "")
    module = tmp_path / "filelock.py"  # what each stage imports
    module.write_text("import gc, os; os._exit(gc.isenabled())")
    command = [sys.executable, str(ROOT / "pipeline/runtime/launch.py"), "-m", "pipeline.corpus"]
    environment = ENVIRONMENT | {"PYTHONPATH": str(tmp_path)}
    assert subprocess.run(command, cwd=tmp_path, env=environment, timeout=30).returncode == 0


def test_closed_streams(tmp_path: Path) -> None:
    """A file opened later must not replace one of them."""
    body = "print(1); print(2, file=sys.stderr); assert open('a').fileno() > 2"
    (tmp_path / "a").touch()
    script = [sys.executable, "-c", STAGE.format(body=body)]
    closing = ["bash", "-c", '"$@" <&- >&- 2>&-', "bash", *script]
    subprocess.run(closing, cwd=tmp_path, env=ENVIRONMENT, check=True)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(("full", "length"), [(False, 9), (False, 10**6), (True, 9)])
def test_an_output_that_cannot_be_written(
    full: bool, length: int, unbuffered: str, tmp_path: Path
) -> None:
    """A closed pipe, as with `| head`, or a full disk."""
    reader, writer = os.pipe()
    os.close(reader)
    output = os.open("/dev/full", os.O_WRONLY) if full else writer
    body = [sys.executable, "-c", STAGE.format(body=f"print('a' * {length})")]
    env = ENVIRONMENT | {"PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(body, cwd=tmp_path, env=env, stdout=output, stderr=subprocess.PIPE)
    os.close(writer)
    error = b"error: standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == ((1, error) if full else (141, b""))


def test_a_stage_waits_for_another_one_in_its_folder(tmp_path: Path) -> None:
    """Such as a stage that continues after its `dvc` was killed."""
    first = "Path('first').touch()\n    while not Path('go').exists(): time.sleep(0.01)\n"
    orphan = start(f"{first}    time.sleep(0.1); Path('done').touch()", tmp_path)
    while not (tmp_path / "first").exists():
        assert orphan.poll() is None
    later = start("assert Path('done').exists()", tmp_path)
    assert later.stdout and later.stdout.readline() == (
        "<string>: waiting for another run of this project to end, which holds "
        f"{tmp_path}/state/run.lock; Ctrl-C stops waiting\n"
    )
    (tmp_path / "go").touch()
    assert (later.wait(30), orphan.wait(30)) == (0, 0)


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_named(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as Lustre without -o flock; also where the file of an earlier lock remains."""

    def refuse(*_: object) -> None:
        raise OSError(number, "no such thing")

    monkeypatch.setattr(fcntl, "flock", refuse)
    (tmp_path / "run.lock").touch()
    message = (
        f"^{tmp_path}/run.lock: its file system has no locks \\(no such thing\\); mount it with"
    )
    with pytest.raises(ArtifactError, match=message), file_lock(tmp_path / "run.lock", pytest.fail):
        pass


def test_a_stage_removes_its_temporary_files_of_a_killed_run(folder: Path) -> None:
    names = ["one/.out.csv.99.tmp", "one/deep/.a.tmp", "one/out.csv", "two/.out.csv.99.tmp"]
    for path in (folder / "artifacts" / name for name in names):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    program = "from pipeline.runtime.stage import run_stage\ndef main(): pass\nrun_stage(main)\n"
    (folder / "one.py").write_text(program)
    subprocess.run([sys.executable, "one.py"], env=ENVIRONMENT, check=True, timeout=60)
    assert [name for name in names if (folder / "artifacts" / name).exists()] == names[2:]


def test_clean_dir(tmp_path: Path) -> None:
    place = tmp_path / "out"
    for name in ("first", "second"):
        with clean_dir(place):
            place.mkdir()
            (place / name).touch()
        assert [path.name for path in place.iterdir()] == [name]
    with pytest.raises(KeyboardInterrupt), clean_dir(place):
        place.mkdir()
        raise KeyboardInterrupt
    assert not place.exists()


def test_paths_are_absolute_and_under_the_current_folder(folder: Path) -> None:
    assert artifacts("corpus", "train.jsonl") == folder / "artifacts" / "corpus" / "train.jsonl"
    assert state_folder() == folder / "state"
    with pytest.raises(ArtifactError, match=r"train\.jsonl is missing; run: dvc repro corpus"):
        require_artifact("corpus", "train.jsonl")
    (folder / "artifacts/corpus").mkdir(parents=True)
    os.mkfifo(folder / "artifacts/corpus/train.jsonl")
    with pytest.raises(ArtifactError, match=r"is not a regular file; run: dvc repro -f corpus$"):
        require_artifact("corpus", "train.jsonl")


def test_a_queued_experiment_has_the_projects_state(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DVC runs it in a copy, with the project's path in DVC_ROOT; .dvc/tmp may be a link."""
    (folder / "project" / ".dvc").mkdir(parents=True)
    copy = folder / "tmp" / "exps" / "standalone" / "tmp1" / "part of a repository"
    (copy / ".dvc").mkdir(parents=True)
    (copy / "nli").mkdir()
    (folder / "project" / ".dvc" / "tmp").symlink_to(folder / "tmp")
    (folder / "link").symlink_to("project")
    shutil.copy(ROOT / "params.yaml", copy)
    monkeypatch.chdir(copy)
    monkeypatch.setenv("DVC_ROOT", str(folder / "link"))
    monkeypatch.setenv("HOME", "/home/me")
    assert artifacts("corpus") == copy / "artifacts/corpus"
    state = folder / "project" / "state"
    assert state_folder() == state
    execution = execution_settings(load_params())
    assert (execution.storage, execution.shared_state) == (f"{state}/ray", str(state))
    params, change = load_params(), {"storage": "~/else/where", "state": "s3://bucket/state"}
    params = params.model_copy(update={"cluster": params.cluster.model_copy(update=change)})
    execution = execution_settings(params)
    assert (execution.storage, execution.shared_state) == (
        "/home/me/else/where",
        "s3://bucket/state",
    )
    monkeypatch.chdir(copy / "nli")
    assert state_folder() == folder / "project" / "nli" / "state"


@pytest.mark.parametrize("root", ["", ".", "..", "/project", "link"])
def test_a_pipeline_of_another_project_runs_this_one(
    root: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DVC_ROOT is the other project's path, or this one's."""
    (folder / "link").symlink_to(folder)
    monkeypatch.setenv("DVC_ROOT", root and str(folder / root))
    assert state_folder() == folder / "state"
