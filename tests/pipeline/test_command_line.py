"""act-nli: commands, the state of a sweep, the summary of a run, files relative to the caller."""

import errno
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from ruamel.yaml import YAML

import pipeline.__main__ as command_line
from actmodels.errors import ArtifactError, ConfigError, SweepError
from actmodels.files import write_text
from actmodels.records import EpochRecord, TrialRecord
from pipeline.parameters.load import checked, load_params
from pipeline.runtime.progress import SINCE
from pipeline.runtime.results import write_json
from pipeline.runtime.summary import summary
from pipeline.trials.execution import execution_settings, planned_trials
from pipeline.trials.plan import sweep_plan
from pipeline.trials.records import write_trials
from pipeline.trials.removal import remove_trials
from pipeline.trials.status import sweep_status
from pipeline.trials.stop import resume, stop
from reports.format import duration
from tests.pipeline.project import params_tree, write_params
from tests.pipeline.tiny_export import write_export
from tests.samples import sample_trial
from tune.trials.execution import Description, Execution
from tune.trials.grid import Trial, grid_hash
from tune.trials.stops import Stops, with_end
from tune.trials.store import TrialStore, save_checkpoint

MANIFEST = {"digest": "d1", "pairs": {"train": 800, "dev": 100}}
Run = Callable[[str], str]


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs `act-nli` in an empty project, and returns its output."""
    monkeypatch.setattr(command_line, "ROOT", folder)

    def command(words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["act-nli", *words.split()])
        command_line.main()
        return capsys.readouterr().out

    return command


def test_unknown_commands_are_refused(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        ("predcit", "No such command 'predcit'. Did you mean 'predict'?"),
        ("sweep pla", "No such command 'pla'. Did you mean 'plan'?"),
        ("use --forc a=1", "No such option '--forc'. Did you mean '--force'?"),
        *(("use", "Missing argument '[preset=NAME"), ("sweep", "  status  Count the trials")),
    ):
        with pytest.raises(SystemExit, match="2"):
            run(words)
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "completed"), [(["sw"], ["sweep"]), (["use", "--"], ["--force", "--help"])]
)
def test_commands_and_options_are_completed(words: list[str], completed: list[str]) -> None:
    variables = {"_ACT_NLI_COMPLETE": "bash_complete", "COMP_CWORD": str(len(words))}
    variables |= {"COMP_WORDS": " ".join(["act-nli", *words])}
    output = subprocess.check_output(
        ["sh", "pipeline/act-nli"], env=os.environ | variables, text=True, cwd=command_line.ROOT
    )
    assert [line.removeprefix("plain,") for line in output.split()] == completed


def test_the_trials_of_a_sweep_as_a_table(run: Run) -> None:
    path = Path("artifacts/sweep/trials.csv")
    with pytest.raises(ArtifactError, match=r"trials\.csv is missing; run: dvc repro sweep"):
        run("results")
    write_text(path, "key,model,seed,steps\nab12,adaptive_attention,1,\ncd34,hop_attention,2,\n")
    assert run("results --csv") == path.read_text()
    assert [row.split() for row in run("results").splitlines()] == [
        ["key", "model", "seed"],  # no trial has steps
        *(["ab12", "adaptive_attention", "1"], ["cd34", "hop_attention", "2"]),
    ]
    write_text(path, "")
    with pytest.raises(ArtifactError, match=r"trials\.csv is corrupt; run: dvc repro -f -s sweep"):
        run("results")


def test_the_check_counts_the_trials_or_lists_all_problems(run: Run, folder: Path) -> None:
    for sweep, count in (
        *(({}, 7), ({"seeds": [1, 2]}, 14), ({"only": ["adaptive_attention"]}, 2)),
        ({"search": "random", "trials": 3}, 6),  # 3 of 4, 2 and 1 points
    ):
        write_params(folder, multihop={}, sweep=sweep)
        assert run("check") == f"params.yaml: ok, {count} trials\n"
    wrong = {"adaptive_attention": {"grid": {"steps": [3]}}}
    write_params(folder, sweep={"models": wrong | {"lstm_encoders": {"settings": {}, "grid": {}}}})
    with pytest.raises(ConfigError) as caught:
        run("check")
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize(
    "more", [{}, {"PYTHONSAFEPATH": "1"}, {"PYTHONPATH": ":false"}, {"DVC_ROOT": "."}]
)
def test_the_code_is_the_projects_from_any_folder(folder: Path, more: dict[str, str]) -> None:
    """Also in a sub-folder, with modules of the user, and with another Python first on the path."""
    root = folder / "part of a repository"
    for part in ("pipeline", "actmodels", "tune"):
        shutil.copytree(command_line.ROOT / part, root / part)
        write_text(folder / "false" / f"{part}.py", "print('not this')")
    for name in ("random", "token", "types", "json", "filelock", "yaml", "tqdm"):
        for place in (folder, folder / "false", root):
            write_text(place / f"{name}.py", "print('not this')")
    copy = folder / ".dvc/tmp/exps/standalone/tmp1"
    (copy / ".dvc").mkdir(parents=True)
    shutil.copytree(root, copy / root.name)
    (root / ".venv").symlink_to(sys.prefix)
    (folder / "act-nli").symlink_to(root / "pipeline" / "act-nli")
    write_text(folder / "bin" / "python", "#!/bin/sh\nexit 1\n")
    (folder / "bin" / "python").chmod(0o755)
    env = {"PATH": f"{folder}/bin:/usr/bin:/bin", "HOME": str(folder)} | more
    env |= {"DVC_ROOT": str(folder)} if "DVC_ROOT" in more else {}
    place = copy / root.name if "DVC_ROOT" in more else root
    stage = YAML(typ="safe", pure=True).load(command_line.ROOT / "dvc.yaml")["stages"]["corpus"]
    python = str(stage["cmd"]).removesuffix("pipeline.corpus").split()
    script = "import filelock, random, tune, pipeline; print(tune.__path__, pipeline.__path__)"
    write_text(place / "tune" / "script.py", script)
    output = subprocess.check_output([*python, "tune.script"], cwd=place, env=env, text=True)
    assert output == f"{[str(place / 'tune')]} {[str(place / 'pipeline')]}\n"
    assert subprocess.check_output(["./act-nli", "--version"], env=env).startswith(b"act-nli ")


def test_predict_reads_the_callers_files(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_export(folder, sample_trial("adaptive_attention"))
    caller = folder / "elsewhere"
    write_text(caller / "pairs.jsonl", json.dumps({"premise": "word1", "hypothesis": "word2"}))
    monkeypatch.chdir(caller)
    run("predict pairs.jsonl --format jsonl --output answers.jsonl")
    assert json.loads((caller / "answers.jsonl").read_text())["premise"] == "word1"


EIGHT: dict[str, Any] = {
    "models": {"compare_adaptive_attention": {"grid": {"dropout": [0.0, 0.05]}}}
}
Swept = tuple[Execution, list[Trial], list[TrialRecord]]


@pytest.fixture
def swept(folder: Path) -> Swept:
    """A sweep of eight trials in a project; the records of three are stored, one diverged."""
    write_params(folder, sweep=EIGHT)
    write_json(folder / "artifacts/tensors/manifest.json", MANIFEST)
    execution = execution_settings(params := load_params())
    trials, records = planned_trials(params, execution), []
    for trial, accuracy in zip(trials, [0.6, 0.7, 0.9, *[0.5] * 5], strict=True):
        metrics = (0.5, 0.5, None, None, None, 0.9, accuracy, None, None, None)
        epoch = EpochRecord(1, *metrics, seconds=90.0)
        record = TrialRecord(trial.key, trial.config.as_dict(), 9, (epoch,), dict(trial.origin))
        records.append(replace(record, diverged=trial is trials[2]))
    for record in records[:3]:
        TrialStore(execution.trials).save(record, None)
    return execution, trials, records


def test_the_state_of_a_sweep(swept: Swept, folder: Path, golden: Callable[..., None]) -> None:
    execution, trials, records = swept
    text = ""

    def note(title: str) -> None:
        nonlocal text
        found = sweep_status()
        for number, trial in enumerate(trials):
            found = found.replace(trial.name, f"TRIAL-{number}")
        text += f"{title}:\n{found}\n\n"

    execution.checkpoints.make()
    write_text(execution.state / "failures" / f"{trials[3].name}.txt", "out of memory")
    (epoch,) = records[0].history
    running = [vars(replace(epoch, dev_accuracy=accuracy)) for accuracy in (0.72, 0.66)]
    for place, epochs in ((4, running), (5, [])):  # one has a checkpoint that cannot be read
        save_checkpoint(execution.checkpoints, trials[place].key, {"history": epochs})
    (execution.state / "ray" / "checkpoints" / f"{trials[5].key}.pt").write_bytes(b"")
    note("stopped")
    with FileLock(execution.state / "run.lock"):
        note("a stage runs")
    write_trials("sweep", records, {})
    execution.state.rename(folder / "elsewhere")
    note("as in a clone after dvc pull")
    write_trials("sweep", records[:7], {})
    note("the trials of another grid, which the sweep does not reuse")
    ended = [with_end(record, "the time limit") for record in records[:2]]
    write_trials("sweep", [*ended, *records[2:7]], {})
    note("two of them ended early, so that they continue from their checkpoints")
    about = {"name": "wide", "notes": "two\nlines", "tags": {"owner": "me"}} | EIGHT
    assert trials == planned_trials(
        checked(params_tree(sweep=about), ""), replace(execution, about=Description("other"))
    )
    write_params(folder, sweep={"search": "optuna", "trials": 2, "seeds": [1, 2], **about})
    note("optuna draws two points of each model, for two seeds")
    write_text(folder / "dvc.yaml", "stages: {corpus: {params: [corpus]}}")
    write_text(folder / "dvc.lock", "stages: {corpus: {params: {params.yaml: {corpus: {}}}}}")
    note("another corpus in params.yaml")
    golden("sweep_status.txt", text)


def test_trials_and_the_sweep_are_stopped_and_resumed(swept: Swept, folder: Path) -> None:
    execution, trials, records = swept
    group = grid_hash(trials)
    stops, store = Stops(execution.checkpoints, group), TrialStore(execution.trials)
    with pytest.raises(ArtifactError) as raised:
        stop([trials[3].name, "", "x-y"])
    assert str(raised.value).splitlines() == [
        f"{word} is the key of no trial of the sweep; see: act-nli sweep status, act-nli ui"
        for word in ("", "x-y")
    ]
    assert not stops.requested(trials[3].key)
    with pytest.raises(ArtifactError, match="nothing to stop: the trials have finished; see: act"):
        stop([trials[0].key, trials[1].key])
    end = "trials that end after their epoch: 1; to take it back: act-nli sweep resume "
    assert stop([trials[3].name]) == end + trials[3].name
    assert [stops.reason(trial.key) for trial in trials[2:5]] == ["", "the user", ""]
    store.save(with_end(records[3], "the user"), None)
    assert "2 finished, 1 stopped, 1 diverged, 0 started, 0 failed, 4 waiting" in sweep_status()
    assert "act-nli sweep resume" in stop([]) and stops.reason(trials[4].key) == "the user"
    assert "the user ends the sweep, or has ended it" in sweep_status()
    resumed = folder / "artifacts" / "watch" / "sweep" / "resumed"
    texts = set()
    for words, left in (([], "the user"), ([trials[3].key], "")):
        assert resume(words).endswith("run: dvc repro")
        assert (stops.reason(), stops.reason(trials[3].key)) == ("", left)
        texts.add(resumed.read_text())
    assert len(texts) == 2 and store.load(trials[3].key, needs_weights=False) is None
    assert "2 finished, 1 diverged, 0 started, 0 failed, 5 waiting" in sweep_status()
    stop([trials[3].key])
    store.save(with_end(records[3], "the user"), None)
    assert remove_trials(None, True, confirmed=True).startswith("removed 4 of 4 trials, ")
    assert resume([trials[3].key]) == (
        "the next run of the sweep continues from the last epochs; run: dvc repro"
    )
    assert not stops.requested(trials[3].key) and not store.holds(trials[3].key)
    for record in records:
        store.save(record, None)
    with pytest.raises(ArtifactError, match="nothing to stop"):
        stop([])


def test_the_plan_of_a_sweep(swept: Swept, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    execution, trials, _ = swept
    params = load_params()
    shapes = lambda trials, _: (2, 500.0, [(trials, 10.0)])  # noqa: E731  as measured
    monkeypatch.setattr("pipeline.trials.plan.measure_shapes", shapes)
    seconds = 0.14 + params.sweep.max_epochs * (0.05 + 90)
    plan = sweep_plan(()).splitlines()
    assert plan[0] == "sweep: 8 trials: 3 reused, 5 to run"
    assert plan[1].endswith(f"attention: 5 at 10 pairs/s, {duration(5 * seconds)}")
    assert plan[2] == f"time: {duration(2.5 * seconds)} with 2 at the same time"
    assert plan[3].startswith("main memory: 1,000 MiB; on each node ")
    assert plan[4].startswith("storage: ") and len(plan) == 6
    write_text(folder / "dvc.yaml", "stages: {corpus: {params: [corpus]}}")
    write_text(folder / "dvc.lock", "stages: {corpus: {params: {params.yaml: {corpus: {}}}}}")
    assert sweep_plan(()).startswith("sweep: 8 trials: 0 reused, 8 to run\n")
    (folder / "dvc.lock").unlink()
    write_params(folder, sweep={"search": "random", "trials": 1})
    drawn = planned_trials(load_params(), execution)
    assert [trial.config.model for trial in drawn] == list(params.sweep.models)
    assert {trial.key for trial in drawn} < {trial.key for trial in trials}
    write_params(folder, sweep={"search": "optuna", "trials": 2, "seeds": [1, 2]} | EIGHT)
    assert sweep_plan(()).startswith("sweep: 12 trials: 0 reused, 12 to run\n")


def test_the_state_of_a_sweep_whose_bucket_is_away(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")

    write_params(folder)
    monkeypatch.setattr("pipeline.trials.status.planned_trials", refuse)
    with pytest.raises(SweepError, match=r"state/trials cannot be reached \(\[Errno 111\] Connec"):
        run("sweep status")


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"a": 1}', b"\xff\x00"])
def test_a_corrupt_result_is_named(content: bytes, run: Run, folder: Path) -> None:
    write_params(folder)
    for command, name in (
        *(("sweep status", "tensors/manifest.json"), ("summary", "sweep/environment.json")),
        ("summary", "evaluate/summary.json"),
    ):
        path = folder / "artifacts" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        message = f"^{path} is corrupt; run: dvc repro -f -s {path.parent.name}$"
        with pytest.raises(ArtifactError, match=message):
            run(command)
        path.unlink()


def test_the_summary_of_a_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, golden: Callable[..., None]
) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    write_params(folder, multihop={}, vocabulary={"size": 9})  # no run with known ranges
    assert summary() == "Report:  none yet; run: make repro"
    result = {"seeds": 3, "test_accuracy_mean": 0.88, "test_accuracy_sd": 0.058, "mean_steps": 2.23}
    artifacts = folder / "artifacts"
    for name, content in {
        "sweep/summary.json": {
            "models": {"adaptive_attention": {}, "hop_attention": {}, "simple": {"trials": 0}},
            "ended": "the user ended the sweep: 8 of 9 trials have results",
        },
        "evaluate/summary.json": {"adaptive_attention": result | {"diverged": {"seed_4": 2}}},
        "sweep/environment.json": {"trials": 8, "reused": 6},
        "corpus/summary.json": {"notes": ["train: 3 pairs"]},
        "vectors/summary.json": {"note": "1 of 2 words"},
        "corpus/test.jsonl": {"sentence1": "It's a cat.", "sentence2": "a b"},
    }.items():
        write_text(artifacts / name, json.dumps(content) + "\n")
    write_text(artifacts / "report" / "index.html", "")
    for name in ("multihop", "halting"):  # one of them is off
        write_text(artifacts / "studies" / name / "summary.txt", f"a line of {name}\n")
    monkeypatch.setenv(SINCE, "0")  # as `make repro`
    text = summary()
    monkeypatch.delenv(SINCE)
    monkeypatch.setenv("VIRTUAL_ENV", ".venv")
    text = re.sub("(?<=Time:    ).*", "…", f"{text}\n\n{summary()}\n").replace(str(folder), "")
    golden("summary.txt", text)
