"""The command `predict` on tiny models: a transcript, equal formats, what is written, a process."""

import csv
import io
import json
import math
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.predict import main
from pipeline.runtime.stage import run_command
from tests.pipeline.project import ROOT
from tests.pipeline.tiny_export import PAIRS, write_export
from tests.samples import sample_trial

Run = Callable[..., tuple[int, str, str]]
PAIR = ("--premise", "word1 word2", "--hypothesis", "word3")
MODEL = "model: adaptive_attention\n"
TRANSCRIPT = ROOT / "tests" / "fixtures" / "golden" / "predict.txt"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command on three exported models; return status, output and errors."""
    models = ("adaptive_attention", "decomposable_attention", "word_by_word_attention")
    write_export(tmp_path, *map(sample_trial, models))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def command(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
        stream = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stream)
        monkeypatch.setattr(sys, "argv", ["predict", *arguments])
        with pytest.raises(SystemExit) as ended:
            run_command(main)
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return command


def jsonl(*pairs: tuple[object, object], **more: object) -> str:
    return "".join(json.dumps({"premise": p, "hypothesis": h} | more) + "\n" for p, h in pairs)


REFUSED = ["premise,hypothesis", "word1,word2", "word1,", "word1", "...,word2", "word3,word4"]
FILES = {
    "pairs.jsonl": jsonl(*PAIRS),
    "known.jsonl": jsonl(PAIRS[3], PAIRS[3]),
    "many.jsonl": jsonl(*PAIRS * 150, PAIRS[1]),  # more than a chunk
    "refused.jsonl": jsonl(("word1", "Zorp ."), PAIRS[3]),
    "refused.csv": "\n".join(REFUSED),
    "labels.jsonl": jsonl(*PAIRS[:1], label="NEUTRAL")
    + jsonl(*PAIRS[1:2], label="-")
    + jsonl(*PAIRS[2:3], label="entailment")
    + jsonl(*PAIRS[:1], label="not known") * 2,
    "numbers.jsonl": jsonl(*PAIRS[:3], label=0),
    "fields.jsonl": '{"id": 7, "premise": "word1", "note": {"é": [1]}, "hypothesis": "word2"}\n'
    '{"premise": "word3", "hypothesis": "word4", "late": "\\ud800"}\n',
    "late.jsonl": jsonl(*PAIRS[:3]) + '{"premise": "a", "hypothesis": "b", "unknown_words": []}\n',
    "header.csv": "premise,hypothesis\n",
}


def test_the_transcript(run: Run, golden: Callable[..., None]) -> None:
    """Numbers with a point are shown as #, as processors round differently."""
    for name, content in FILES.items():
        Path(name).write_text(content)
    text = ""
    for line in TRANSCRIPT.read_text(encoding="utf-8").splitlines():
        if line.startswith("$ "):
            status, out, errors = run(*shlex.split(line.removeprefix("$ predict ")))
            out = out if out.count("\n") < 50 else f"{out.count(chr(10))} lines\n"
            errors = errors[errors.rfind("act-nli predict: ") :] if status == 2 else errors
            text += f"{line}\n{out}{errors}status {status}\n\n"
    text = re.sub(r"\d+\.\d{3,}", "#", text).replace(str(Path.cwd()), "PROJECT")
    text = re.sub(r" +\n", "\n", text)
    golden(TRANSCRIPT.name, text)


def test_formats_agree(run: Run) -> None:
    Path("pairs.jsonl").write_text(jsonl(*PAIRS))
    with Path("pairs.csv").open("w", newline="") as file:
        numbered = [(number, *pair) for number, pair in enumerate(PAIRS, start=1)]
        csv.writer(file).writerows([("line", "premise", "hypothesis"), *numbered])
    _, expected, _ = run("pairs.jsonl", "--format", "jsonl")
    lines = [json.loads(line) for line in expected.splitlines()]
    assert [(line["premise"], line["hypothesis"]) for line in lines] == PAIRS
    texts = re.sub(r'"line": (.)', r'"line": "\1"', expected)
    assert run("pairs.csv", "--format", "jsonl")[1] == texts
    assert run("-", "--format", "jsonl", stdin=jsonl(*PAIRS))[1] == expected
    tabs = "".join(f"{premise}\t{hypothesis}\n" for premise, hypothesis in PAIRS)
    assert run("--format", "jsonl", stdin=tabs)[1] == expected
    rows = list(csv.DictReader(io.StringIO(run("pairs.jsonl", "--format", "csv")[1])))
    for row, line in zip(rows, lines, strict=True):
        parsed = {name: json.loads(row.pop(name)) for name in ("unknown_words", "reliable")}
        assert parsed == {name: line.pop(name) for name in parsed}
        assert row == {name: "" if value is None else str(value) for name, value in line.items()}
    _, text, _ = run("pairs.csv")
    answers = [f"line {x['line']}: {x['predicted']}" for x in lines]
    assert [line.split(" (")[0].rstrip() for line in text.splitlines()] == answers


def test_each_step_is_explained(run: Run) -> None:
    steps = int(run(*PAIR)[1].split(", ")[-1].split()[0])
    assert run(*PAIR, "--explain")[1].count("  step ") == steps
    _, out, _ = run("-", "--format", "jsonl", "--explain", stdin=jsonl(("word1 word2", "word3")))
    assert len(json.loads(out)["attention"]["trace"]) == steps


def test_without_a_name_the_best_model_with_steps_is_explained(tmp_path: Path, run: Run) -> None:
    models = ("decomposable_attention", "adaptive_attention", "iterative_attention")
    path = tmp_path / "artifacts/export/best.json"
    for names, explained, note in (
        (models, models[2], f"explained with {models[2]}, the best on dev that does"),
        (models[:1], models[0], "no exported model takes any"),
        (("word_by_word_attention", models[2]), "word_by_word_attention", ""),
    ):
        write_export(tmp_path, *map(sample_trial, names))
        export = json.loads(path.read_text())
        export["models"][names[-1]]["dev_accuracy_mean"] = 0.45  # the others: 0.5, 0.4
        path.write_text(json.dumps(export))
        status, _, errors = run(*PAIR, "--explain")
        note = f"{models[0]} takes no inference steps to explain; {note}\n" * bool(note)
        assert (status, errors) == (0, f"{note}model: {explained}\n")


def test_words_outside_the_vocabulary_are_those_of_each_pair(run: Run) -> None:
    out = run("-", "--format", "jsonl", stdin=jsonl(*PAIRS * 150))[1]  # more than a chunk
    found = [json.loads(line)["unknown_words"] for line in out.splitlines()]
    assert found == [[",", "."], ["unheard"], ["?"], []] * 150


def test_a_nan_is_null_as_json_has_no_number_for_it(run: Run, tmp_path: Path) -> None:
    row = {"premise": "word1", "hypothesis": "word2", "x": math.nan, "y": [-math.inf, 0.5]}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "p.parquet")
    row = json.loads(run("p.parquet", "--format", "jsonl")[1], parse_constant=pytest.fail)
    assert (row["x"], row["y"]) == (None, [None, 0.5])


def test_an_invalid_last_line_prevents_all_output(run: Run) -> None:
    Path("answers.jsonl").write_text("older")
    for output in ((), ("--output", "answers.jsonl")):
        assert run("-", "--format", "jsonl", *output, stdin=FILES["late.jsonl"])[:2] == (1, "")
    assert Path("answers.jsonl").read_text() == "older"
    assert sorted(path.name for path in Path().iterdir()) == ["answers.jsonl", "artifacts"]


def test_output_is_atomic_and_keeps_links(run: Run) -> None:
    _, expected, _ = run(*PAIR, "--format", "csv")
    Path("link.csv").symlink_to("new/answers.csv")
    assert run(*PAIR, "--format", "csv", "--output", "new/answers.csv") == (0, "", "")
    assert Path("link.csv").read_text() == expected
    _, expected, _ = run(*PAIR)
    assert run(*PAIR, "--output", "link.csv") == (0, "", MODEL)
    assert Path("link.csv").is_symlink() and Path("new/answers.csv").read_text() == expected


def test_pipes_and_devices_are_not_replaced(run: Run) -> None:
    _, expected, _ = run(*PAIR)
    os.mkfifo("pipe")
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(Path("pipe").read_text()), daemon=True)
    reader.start()
    assert run(*PAIR, "--output", "pipe") == (0, "", MODEL)
    reader.join(10)
    assert received == [expected] and Path("pipe").is_fifo()
    Path("link").symlink_to("/dev/full")
    message = "error: --output: /dev/full cannot be written: No space left on device\n"
    assert run(*PAIR, "--output", "link") == (1, "", message)
    assert Path("link").is_symlink() and Path("/dev/full").is_char_device()


def test_a_missing_a_corrupt_and_another_export(run: Run) -> None:
    path = Path("artifacts/export/best.json").resolve()
    text = path.read_text()
    digest = json.loads(text)["models"]["adaptive_attention"]["digest"]
    path.write_text(text.replace(digest, "0" * 64))
    status, out, errors = run(*PAIR)
    assert (status, out, errors.count("\n")) == (1, "", 1)
    assert errors.endswith("run: dvc checkout, and if that changes nothing: dvc repro export\n")
    path.write_text("{")
    assert run(*PAIR)[2].startswith(f"error: {path} is corrupt (Expecting property name")
    path.unlink()
    os.mkfifo(path)
    assert run(*PAIR)[2].startswith(f"error: {path} is corrupt ([Errno 22] not a regular file")
    path.unlink()
    assert run(*PAIR) == (1, "", f"error: {path} is missing: no model yet; run: dvc repro export\n")


def process_of(folder: Path, *command: str) -> subprocess.Popen[str]:
    environment, pipe = {**os.environ, "PYTHONPATH": str(ROOT)}, subprocess.PIPE
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


@pytest.mark.slow
def test_heavy_modules_are_not_imported(tmp_path: Path) -> None:
    write_export(tmp_path, sample_trial("adaptive_attention"))
    script = f"""
import sys
import threading
sys.argv = ["predict", *{PAIR!r}]
from pipeline.predict import main
assert "torch" not in sys.modules
main()
heavy = {{"mlflow", "ray", "dvc", "altair", "pydantic", "tune", "reports"}} & set(sys.modules)
heavy |= {{"actmodels.training", "nltk", "pandas", "scipy", "sklearn"}} & set(sys.modules)
assert not heavy, heavy
"""
    process = process_of(tmp_path, sys.executable, "-c", script)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "steps" in out or "1 step" in out


@pytest.mark.slow
def test_closed_streams(tmp_path: Path) -> None:
    write_export(tmp_path, sample_trial("adaptive_attention"))
    (tmp_path / "pairs.jsonl").write_text(jsonl(*(PAIRS * 1000)))
    predict = f"{sys.executable} -m pipeline.predict"
    full = "standard output cannot be written: No space left on device"
    for line, expected in (
        (f"{predict} - <&-", (1, "standard input is closed; name a file of pairs")),
        (f"{predict} - >&-", (1, "standard output is closed; name a file: --output FILE")),
        (f"printf 'a\\tb\\n' | {predict} - >/dev/full", (1, full)),
        (f"{predict} pairs.jsonl --format jsonl | head -n1; exit ${{PIPESTATUS[0]}}", (0, "")),
    ):
        process = process_of(tmp_path, "bash", "-c", line)
        _, errors = process.communicate("a\tb\n", timeout=60)
        status, message = expected
        assert (process.returncode, errors) == (status, f"error: {message}\n" if message else "")
