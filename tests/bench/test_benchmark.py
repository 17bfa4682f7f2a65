"""`make bench`: part by part, gone on with, and no part lost by another's failure."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch

from actmodels.errors import ArtefactError, DataError, SweepError
from bench import __main__ as bench
from bench import data
from bench.commands import COMMANDS
from bench.plan import QUICK, Plan
from bench.processes import in_new_process

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "bench"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}
ROWS = [{"way": "ours", "per_second": 2.0}]


class Bench:
    """The benchmark with stand-ins for its parts, which note that they ran."""

    def __init__(self, folder: Path) -> None:
        self.path, self.ran = folder / "bench.json", list[str]()
        self.trouble: dict[str, BaseException] = {}

    def part(self, name: str, plan: Plan) -> dict[str, Any]:
        self.ran.append(name)
        if name in self.trouble:
            raise self.trouble[name]
        return {"what": name, "rows": ROWS}

    def __call__(self, *given: str) -> list[str]:
        """Runs, and tells which parts ran."""
        self.ran.clear()
        bench.measure(bench.arguments(given), QUICK, self.path)
        return self.ran

    @property
    def stored(self) -> list[str]:
        """The parts that the document has."""
        return list(json.loads(self.path.read_text())["parts"])


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    run = Bench(tmp_path)
    monkeypatch.setattr(bench, "run_part", run.part)
    return run


def test_every_part_is_measured_once_unless_asked_for_again(run: Bench) -> None:
    assert tuple(run()) == tuple(run.stored) == bench.PARTS
    assert run() == []
    assert run("--again", "--parts", "data", "memory") == ["data", "memory"]
    assert tuple(run.stored) == bench.PARTS


def test_an_interrupted_run_goes_on_with_what_is_missing(run: Bench) -> None:
    run.trouble["memory"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        run()
    assert run.stored == ["training", "inference"]  # written before the next part began
    run.trouble.clear()
    assert run() == ["memory", "gpu", "sweep", "data", "commands"]


def test_a_failing_part_is_named_and_loses_no_other(
    run: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    run.trouble = {"gpu": ModuleNotFoundError("no such"), "sweep": DataError("bad file")}
    with pytest.raises(SweepError, match=r"^part gpu failed: no such\npart sweep failed: bad file"):
        run()
    assert capsys.readouterr().err.count("Traceback") == 1  # for the error that is ours
    assert run.stored == ["training", "inference", "memory", "data", "commands"]


@pytest.mark.parametrize("what", ["machine", "quick"])
def test_another_machine_or_plan_starts_anew(
    run: Bench, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run()
    if what == "machine":
        other = bench.machine() | {"cpu": "another"}
        monkeypatch.setattr(bench, "machine", lambda: other)
    assert run("--parts", "memory", *(["--quick"] if what == "quick" else [])) == run.stored


def test_tensors_that_are_not_there_are_named_at_once(run: Bench, tmp_path: Path) -> None:
    plan = replace(QUICK, tensors=tmp_path)
    with pytest.raises(ArtefactError, match=r"train\.pt is missing"):
        bench.measure(bench.arguments(["--tensors", str(tmp_path)]), plan, run.path)
    assert run.ran == []


def test_the_models_parts_need_torch_alone() -> None:
    others = ["altair", "dvc", "mlflow", "nltk", "pandas", "psutil", "pydantic", "ray", "ruamel"]
    code = f"import sys; sys.modules.update(dict.fromkeys({others}))\n"
    code += "from bench import __main__, training, inference, memory, gpu"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.slow
def test_a_failed_stage_is_named(tmp_path: Path) -> None:
    plan = replace(QUICK, workspace=tmp_path)
    with pytest.raises(DataError, match=r"^stage tensors ended with 1: error: .*vocabulary"):
        data.measure(plan, lambda _: None, ["tensors"])


@pytest.mark.slow
def test_memory_is_that_of_a_new_process_alone() -> None:
    ballast = torch.ones(64 * 2**20)  # 256 MiB here, which no other process must count
    from bench.memory import peak
    from bench.work import TINY

    assert 20 < in_new_process(peak, "nothing", TINY, 4, 0) < 700
    assert ballast.sum() > 0


def summaries(found: Any) -> int:
    """How many summaries there are, each with its median between its ends."""
    if isinstance(found, list):
        return sum(map(summaries, found))
    if not isinstance(found, dict):
        return 0
    if "median" in found:
        assert 0 < found["min"] <= found["median"] <= found["max"]
        return 1
    return sum(map(summaries, found.values()))


def check_training(part: dict[str, Any]) -> None:
    found = {(row["way"], row["trials"]): row for row in part["rows"]}
    assert set(found) == {("plain", 1), ("ours", 1), ("packed", 2)}
    assert 0 < found["plain", 1]["useful_share"] < found["ours", 1]["useful_share"] <= 1
    assert found["plain", 1]["times_as_fast"]["median"] == 1
    assert part["trials"][0]["mean_steps"] == pytest.approx(5.1, abs=1)


def check_memory(part: dict[str, Any]) -> None:
    assert [row["way"] for row in part["rows"]] == ["nothing", "plain", "ours", "packed"]
    assert all(20 < row["peak_mebibytes"] < 1000 for row in part["rows"])


def check_sweep(part: dict[str, Any]) -> None:
    assert part["tracked"] == sum(row["trials"] for row in part["rows"]) == 20 * part["workers"]
    busy = max(1.0, os.getloadavg()[0] / part["workers"])
    for row in part["rows"]:
        figures = {name: row[name]["median"] for name in row if name not in ("trials", "epochs")}
        trained = figures["training_seconds_per_trial"]
        # 486 trials within three minutes, start and end apart
        beyond = figures["worker_seconds_per_trial"] - trained
        assert beyond < part["workers"] * busy * row["epochs"] * 150 / 486
        assert 0 < figures["until_steady"] < figures["seconds"]


def check_data(part: dict[str, Any]) -> None:
    assert [row["stage"] for row in part["rows"]] == list(data.STAGES)
    for row in part["rows"]:
        assert row["cpu_seconds"] > 0.1 and row["seconds"] > 0.1, row
        assert 20 < row["peak_mebibytes"] < 2048, row  # a Python that has loaded little takes 20


def check_commands(part: dict[str, Any]) -> None:
    cpu = {row["command"]: row["cpu_seconds"]["median"] for row in part["rows"]}
    assert list(cpu) == list(COMMANDS)
    assert cpu["predict, one pair"] < 1.5 * cpu["import torch"]  # what is ours is little
    assert max(cpu["predict --help"], cpu["ui --help"]) < cpu["import torch"] / 3


def check_gpu(part: dict[str, Any]) -> None:
    if not torch.cuda.is_available():
        assert part["note"] == "no GPU: dry run on the CPU, no figure counts"
    assert {row["result"] for row in (*part["checks"], *part["speed"])} == {"ok"}


@pytest.mark.slow
def test_a_quick_run_of_all_parts(tmp_path: Path) -> None:
    servers = {"RAY_ADDRESS": "192.0.2.1:6379", "MLFLOW_TRACKING_URI": "http://192.0.2.1"}
    done = subprocess.run(
        [*COMMAND, "--quick"],
        cwd=tmp_path,
        env=ENVIRONMENT | servers,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "artefacts" / "bench"
    stored = json.loads((folder / "quick.json").read_text())
    assert tuple(stored["parts"]) == bench.PARTS
    assert stored["machine"]["torch"] == torch.__version__
    for name, part in stored["parts"].items():
        assert summaries(part) > 0 or name in ("memory", "data")  # these are measured once
    for name, check in (
        ("training", check_training),
        ("memory", check_memory),
        ("gpu", check_gpu),
        ("sweep", check_sweep),
        ("data", check_data),
        ("commands", check_commands),
    ):
        check(stored["parts"][name])
    assert "no figure counts" in (folder / "quick.md").read_text()
    assert list((tmp_path / "state").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_a_run_that_ends_early(tmp_path: Path, how: signal.Signals) -> None:
    with subprocess.Popen(
        [*COMMAND, "--parts", "training"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "round 1" in line:  # the processes are there
                break
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(how)
        rest = process.stderr.read()
        assert process.wait(timeout=120) == (130 if how == signal.SIGINT else -how)
    assert "Traceback" not in rest
    if how == signal.SIGINT:
        assert rest.splitlines()[-1] == "interrupted; run the same command again to go on"
    deadline = time.monotonic() + 30
    while any(child.is_running() for child in children):
        assert time.monotonic() < deadline
        time.sleep(0.1)
