"""`make bench`: part by part, resumed, and no part lost by another's failure."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from actmodels.errors import ArtefactError, DataError, SweepError
from pipeline.benchmark import __main__ as bench
from pipeline.benchmark import parts
from pipeline.benchmark.parts import PARTS, Job, Part, part_key

pytestmark = pytest.mark.slow  # seconds each, for a tool beside the product

DATA_ROW = {"pairs": 10, "stages": [], "opening_seconds": 0.5}
MEMORY_ROW = {"way": "ours", "batch_size": 8, "trials": 1, "peak_mebibytes": 9.0}
FOUND: dict[str, dict[str, Any]] = {
    "memory": {"rows": [MEMORY_ROW | {"base_mebibytes": 5.0, "per_trial_mebibytes": 4.0}]},
    "worker_memory": {"before": [1.0], "after": [2.0]},
    "data_stages": {"rows": [DATA_ROW]},
}


class Run:
    """The benchmark with stand-ins for its parts, which note that they ran."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.ran = folder, list[str]()
        self.trouble: dict[str, BaseException] = {}

    def part(self, name: str) -> Callable[[Job], dict[str, Any]]:
        def run(job: Job) -> dict[str, Any]:
            self.ran.append(name)
            assert list(job.workspace.iterdir()) == []
            (job.workspace / "large").write_text(name)
            job.say("half way")
            if name in self.trouble:
                raise self.trouble[name]
            return FOUND[name]

        return run

    def __call__(self, *given: str) -> dict[str, Any]:
        self.ran.clear()
        work = self.folder / "state" / "bench"
        try:
            bench.measure(bench.arguments(given), self.folder / "bench", work)
        finally:
            assert not work.exists()
        return self.stored()

    def stored(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.folder / "bench" / "bench.json").read_text())
        return content


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    run = Run(tmp_path)
    packages = {"memory": "actmodels", "worker_memory": "tune", "data_stages": "pipeline"}
    stand_ins = {name: Part(run.part(name), (package,)) for name, package in packages.items()}
    for module in (bench, parts):
        monkeypatch.setattr(module, "PARTS", stand_ins)
    return run


def test_every_part_is_measured_once(run: Run) -> None:
    stored = run()
    assert run.ran == ["memory", "worker_memory", "data_stages"]
    assert list(stored["parts"]) == run.ran
    assert stored["parts"]["worker_memory"]["after"] == [2.0]
    assert stored["plan"] == "full" and stored["machine"]["cores"] >= 1
    text = (run.folder / "bench" / "bench.md").read_text()
    assert "| 10 | opening | 0.5 |" in text
    assert run() == stored
    assert run.ran == []


def test_a_killed_run_goes_on_with_what_is_missing(run: Run) -> None:
    run.trouble["worker_memory"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run()
    assert list(run.stored()["parts"]) == ["memory"]  # written before the next part began
    run.trouble.clear()
    assert list(run()["parts"]) == ["memory", "worker_memory", "data_stages"]
    assert run.ran == ["worker_memory", "data_stages"]


def test_a_failing_part_is_named_and_loses_no_other(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run.trouble = {"memory": ModuleNotFoundError("no ray"), "worker_memory": DataError("bad\nfile")}
    with pytest.raises(SweepError, match=r"^parts failed: memory, worker_memory \(reasons above\)"):
        run()
    said = capsys.readouterr().err
    assert "error: part memory failed: ModuleNotFoundError: no ray\n" in said
    assert "error: part worker_memory failed: DataError: bad file\n" in said
    assert said.count("Traceback") == 1  # for the error that is ours
    assert list(run.stored()["parts"]) == ["data_stages"]
    assert "Not measured: DataError: bad file" in (run.folder / "bench" / "bench.md").read_text()
    run.trouble.clear()
    stored = run()
    assert run.ran == ["memory", "worker_memory"]
    assert stored["failed"] == {} and list(stored["parts"]) == list(FOUND)


def test_chosen_parts_and_again(run: Run) -> None:
    assert list(run("--parts", "data_stages")["parts"]) == ["data_stages"]
    run("--parts", "data_stages", "memory", "--again")
    assert run.ran == ["data_stages", "memory"]
    run("--again", "--parts", "memory")
    assert run.ran == ["memory"]


def test_changed_code_is_measured_again_and_other_code_is_not(
    run: Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run()
    digest = parts._package_digest
    monkeypatch.setattr(
        parts, "_package_digest", lambda package: digest(package) + "changed" * (package == "tune")
    )
    run()
    assert run.ran == ["worker_memory"]
    assert "dropped: worker_memory" in capsys.readouterr().out


@pytest.mark.parametrize("what", ["machine", "plan"])
def test_another_machine_or_plan_starts_anew(
    run: Run, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    if what == "machine":
        other = bench.machine() | {"cpu": "another"}
        monkeypatch.setattr(bench, "machine", lambda: other)
    stored = run("--parts", "memory", *(["--quick"] if what == "plan" else []))
    assert run.ran == ["memory"] and list(stored["parts"]) == ["memory"]


def test_comments_do_not_change_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "ROOT", tmp_path)
    (tmp_path / "tune").mkdir()
    keys = []
    for code in ("x = 1\n", '"""Words."""\nx = 1  # one\n', "x = 2\n"):
        (tmp_path / "tune" / "module.py").write_text(code)
        parts._package_digest.cache_clear()
        keys.append(part_key(Part(lambda job: {}, ("tune",)), {"plan": "full"}))
    parts._package_digest.cache_clear()
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize("damage", ["{", "[]", '{"parts": {"memory": {}}, "failed": {}}'])
def test_a_damaged_document_is_named(run: Run, damage: str) -> None:
    run()
    (run.folder / "bench" / "bench.json").write_text(damage)
    with pytest.raises(ArtefactError, match=r"bench/bench\.json is damaged; remove it"):
        run()
    assert run.ran == []


def test_real_parts_in_a_quick_run(tmp_path: Path) -> None:
    given = bench.arguments(["--quick", "--parts", "inference", "packs"])
    bench.measure(given, tmp_path / "bench", tmp_path / "work")
    text = (tmp_path / "bench" / "bench.md").read_text()
    assert "no figure counts" in text and "| until all have halted | 16 |" in text


def test_all_parts_in_a_quick_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pipeline.benchmark", "--quick"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    stored = json.loads((tmp_path / "artefacts" / "bench" / "bench.json").read_text())
    assert set(stored["parts"]) == set(PARTS) and stored["failed"] == {}
    assert list((tmp_path / "state").iterdir()) == []


def test_kill_9_loses_only_the_part_in_progress(tmp_path: Path) -> None:
    written = tmp_path / "artefacts" / "bench" / "bench.json"
    command = [sys.executable, "-m", "pipeline.benchmark", "--quick", "--parts"]
    with subprocess.Popen(
        [*command, "inference", "memory"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "memory: batch" in line:
                break
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
    before = json.loads(written.read_text())["parts"]
    assert list(before) == ["inference"]
    done = subprocess.run([*command, "inference", "memory"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 0
    after = json.loads(written.read_text())["parts"]
    assert after["inference"] == before["inference"] and "memory" in after
    deadline = time.monotonic() + 30
    while any(child.is_running() for child in children):  # none outlives the run that was killed
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pipeline.benchmark", "--parts", "single"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "warm-up" in line:
                break
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(timeout=60) == 130
    assert rest.splitlines()[-1] == "interrupted; run the same command again to go on"
    assert "Traceback" not in rest
