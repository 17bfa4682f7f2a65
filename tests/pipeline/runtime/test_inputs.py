"""A stage with corrupt inputs, or inputs that change while it runs, is not recorded."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from actmodels.errors import ArtifactError
from pipeline.runtime.inputs import inputs, verify_digests
from tests.pipeline.project import ROOT, transcribe

DVC = """
stages:
  tell:
    cmd: python tell.py
    deps: [tell.py, code, data.txt]
    params: [tell, shared.size]
    outs: [out.txt]
"""
STAGE = """
from pathlib import Path
from pipeline.runtime.stage import run_stage

def main() -> None:
    Path("out.txt").write_text(Path("params.yaml").read_text())
    {body}

if __name__ == "__main__":
    run_stage(main)
"""


@pytest.fixture
def project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    write_project(folder)
    return folder


def write_project(folder: Path) -> None:
    (folder / "dvc.yaml").write_text(DVC)
    (folder / "params.yaml").write_text("tell: {x: 1, more: {y: [1, 2]}}\nshared: {size: 3}\n")
    (folder / "data.txt").write_text("data")
    (folder / "code" / "part").mkdir(parents=True)
    (folder / "code" / "part" / "one.py").write_text("ONE = 1")


def tell(project: Path, body: str) -> tuple[int, str]:
    (project / "tell.py").write_text(STAGE.format(body=body))
    done = subprocess.run([sys.executable, "tell.py"], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def test_an_input_edited_during_the_run_is_an_error(
    project: Path, golden: Callable[..., None]
) -> None:
    """Other files may change, also one that is replaced and restored before a stage ends."""

    def edited(body: str) -> list[str]:
        status, errors = tell(project, body)
        shutil.rmtree(project / "code")
        write_project(project)
        return [f"status {status}", *errors.splitlines()]

    transcribe(golden, "inputs.txt", {"edited": edited}, f"{project}/")


def test_inputs_are_empty_without_a_stage_or_yaml(project: Path) -> None:
    assert inputs("report") == {}
    (project / "params.yaml").write_text("tell: !!bool maybe")
    assert inputs("tell")["params.yaml: tell"] == "None"
    # YAML 1.1 reads yes as true, and keys of several types have no order
    (project / "params.yaml").write_text(
        "tell: {yes: 1, 3: 1, null: 1, x: {0.5: 1, 2026-01-01: 1}}"
    )
    assert "True: 1" in inputs("tell")["params.yaml: tell"]
    (project / "dvc.yaml").unlink()
    assert inputs("tell") == {}


def test_the_inputs_of_a_study_and_of_one_that_is_off(project: Path) -> None:
    (project / "dvc.yaml").write_text(
        "stages:\n  study:\n    foreach: ${studies}\n"
        "    do: {deps: ['code/${item}'], params: ['${item}.x']}\n  tell: {deps: [made]}\n"
    )
    (project / "params.yaml").write_text("studies: [a]\na: {x: 1}\n")
    (project / "code" / "a").write_text("a")
    assert list(inputs("study@a")) == ["params.yaml: a.x", "code/a"]
    lock = "stages: {study@b: {outs: [{path: made/b, md5: '0'}]}}"
    (project / "dvc.lock").write_text(lock)
    verify_digests("tell", inputs("tell"), Path("quarantine"))
    (project / "dvc.lock").write_text(lock.replace("study@b", "study@a"))
    with pytest.raises(ArtifactError, match=r"^made/b is missing; run: dvc repro study@a$"):
        verify_digests("tell", inputs("tell"), Path("quarantine"))


LOCK = """
stages:
  make:
    outs:
    - {path: data.txt, md5: 8d777f385d3dfec8815d20f7496026dc}
    - {path: made, md5: cf68759f0f64a28f6751bd294cb6a84a.dir}
"""


@pytest.mark.parametrize("read", ["made", "made/one.txt"])
@pytest.mark.parametrize("path", ["data.txt", "made", "made/one.txt"])
@pytest.mark.parametrize("state", ["nothing", "a folder", "a link to nowhere", "other bytes"])
def test_a_missing_or_changed_output_is_an_error(
    path: str, state: str, read: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the stage reads a part of the output."""
    monkeypatch.setattr("pipeline.runtime.inputs._cache", lambda: project)  # a second each
    (project / "made").mkdir()
    (project / "made" / "one.txt").write_text("one")
    (project / "dvc.yaml").write_text(f"stages: {{tell: {{deps: [{read}, data.txt]}}}}")
    (project / "dvc.lock").write_text(LOCK)
    verify_digests("tell", inputs("tell"), Path("quarantine"))
    place = project / path
    place.unlink() if place.is_file() else shutil.rmtree(place)
    if state == "a folder":
        (place / "other").mkdir(parents=True)
    elif state == "a link to nowhere":
        place.symlink_to("nowhere")
    elif state == "other bytes":
        place.write_text("0ne")
    out = path.split("/")[0]
    with pytest.raises(ArtifactError) as caught:
        verify_digests("tell", inputs("tell"), Path("quarantine"))
    if state == "nothing" and out == path:
        assert str(caught.value) == f"{out} is missing; run: dvc repro make"
    else:
        assert str(caught.value).endswith("; run: dvc repro -f -s make")
        assert not os.path.lexists(out)
        assert [p.name for p in project.glob("quarantine/*/*")] == [out]


@pytest.mark.parametrize("text", ["", "null", "[]", "stages:", "\0", LOCK[:-45], "stages: {a: 1}"])
def test_a_corrupt_lock_file_is_an_error(text: str, project: Path) -> None:
    (project / "dvc.yaml").write_text("stages: {tell: {deps: [data.txt]}}")
    (project / "dvc.lock").write_text(text)
    with pytest.raises(ArtifactError, match=r"^dvc\.lock is corrupt; move it away .* dvc repro$"):
        verify_digests("tell", inputs("tell"), Path("quarantine"))
    assert (project / "data.txt").exists()


def dvc(*arguments: str) -> tuple[int, str]:
    command = [str(Path(sys.executable).with_name("dvc")), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout + done.stderr


MAKE = """
from pathlib import Path
Path("made").mkdir(exist_ok=True)
Path("made/one.txt").write_text("one")
"""


TWO_STAGES = f"""
stages:
  make: {{cmd: {sys.executable} make.py, deps: [make.py], outs: [made]}}
  tell: {{cmd: {sys.executable} tell.py, deps: [tell.py, made/one.txt], outs: [out.txt]}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("cache_type", ["copy", "symlink"])
def test_corrupt_inputs_are_quarantined(cache_type: str, project: Path) -> None:
    """The advised command also repairs a corrupt cache, which DVC trusts."""
    (project / "make.py").write_text(MAKE)
    (project / "tell.py").write_text(STAGE.format(body="pass"))
    (project / "dvc.yaml").write_text(TWO_STAGES)
    assert dvc("init", "--no-scm")[0] == dvc("config", "cache.type", cache_type)[0] == 0
    assert dvc("repro")[0] == 0
    (project / "made" / ".one.txt.99.tmp").write_text("half of it, which a kill left")
    assert tell(project, "pass") == (0, "")
    (cached,) = project.glob(".dvc/cache/files/md5/f9/7c5d*")  # md5 of "one"
    cached.chmod(0o644)
    cached.write_text("0ne")
    cached.chmod(0o444)
    shutil.rmtree(project / "made")
    assert dvc("repro", "make")[0] == 0  # from its cache
    before = (project / "out.txt").stat().st_mtime_ns
    status, message = tell(project, "pass")
    (made,) = project.glob("state/quarantine/*/made")
    (aside,) = project.glob(f"state/quarantine/*/{cached.name}")
    wrong = "made is not the output of stage make: it is corrupt or was edited"
    advice = f"quarantined as {made}, {aside}; run: dvc repro -f -s make"
    assert (status, message) == (1, f"error: {wrong}; {advice}\n")
    assert aside.read_text() == "0ne"
    assert tell(project, "pass") == (1, "error: made is missing; run: dvc repro make\n")
    assert (project / "out.txt").stat().st_mtime_ns == before
    assert dvc("repro", "-f", "-s", "make")[0] == dvc("repro", "-f", "-s", "tell")[0] == 0
    assert (project / "made" / "one.txt").read_text() == cached.read_text() == "one"
    (project / "make.py").write_text(MAKE.replace('"one"', '"two"'))
    assert dvc("repro")[0] == 0  # what one stage of a run recomputes, the next one reads
