"""Run the command on tiny models."""

import csv
import io
import json
import math
import os
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.predict import main
from pipeline.runtime.stage import run_command
from tests.pipeline.tiny_export import PAIRS, write_export
from tests.samples import CLASSES, sample_trial

Run = Callable[..., tuple[int, str, str]]
PAIR = ("--premise", "word1 word2", "--hypothesis", "word3")
MODEL = "model: adaptive_attention\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command on three exported models; return status, output and errors."""
    models = ("adaptive_attention", "decomposable_attention", "word_by_word_attention")
    write_export(tmp_path, *map(sample_trial, models))
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
        stream = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stream)
        monkeypatch.setattr(sys, "argv", ["predict", *arguments])
        with pytest.raises(SystemExit) as ended:
            run_command(main)
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return command


def jsonl(*pairs: tuple[object, object]) -> str:
    return "".join(json.dumps({"premise": p, "hypothesis": h}) + "\n" for p, h in pairs)


def test_a_pair_in_one_line_and_its_steps(run: Run) -> None:
    status, out, errors = run(*PAIR)
    assert (status, errors) == (0, MODEL)
    assert out.split()[0] in CLASSES
    assert out.endswith(" steps\n") or out.endswith(" 1 step\n")
    assert out.count("\n") == 1
    _, explained, _ = run(*PAIR, "--explain")
    assert explained.startswith(out) and "\x1b" not in explained
    assert explained.count("  step ") == int(out.split(", ")[-1].split()[0])
    _, other, errors = run(*PAIR, "--explain", "--model", "decomposable_attention")
    assert "step" not in other
    advice = "takes no inference steps to explain; add --model adaptive_attention"
    name = "decomposable_attention"
    assert errors == f"{name} {advice}\nmodel: {name}\n"
    name = "word_by_word_attention"
    _, words, errors = run(*PAIR, "--explain", "--model", name)
    assert "step" not in words and "  word " in words
    assert errors == f"model: {name}\n"


def test_formats_agree(run: Run) -> None:
    Path("pairs.jsonl").write_text(jsonl(*PAIRS))
    with Path("pairs.csv").open("w", newline="") as file:
        numbered = [(number, *pair) for number, pair in enumerate(PAIRS, start=1)]
        csv.writer(file).writerows([("line", "premise", "hypothesis"), *numbered])
    _, expected, _ = run("pairs.jsonl", "--format", "jsonl")
    lines = [json.loads(line) for line in expected.splitlines()]
    assert [(line["premise"], line["hypothesis"]) for line in lines] == PAIRS
    assert [line["line"] for line in lines] == [1, 2, 3, 4]
    added = ["model", "predicted", *CLASSES, "steps", "unknown_words", "reliable", "refusal"]
    assert list(lines[0]) == ["line", "premise", "hypothesis", *added]
    assert lines[0]["model"] == "adaptive_attention"
    assert run("pairs.csv", "--format", "jsonl")[1] == re.sub(
        r'"line": (.)', r'"line": "\1"', expected
    )
    assert run("-", "--format", "jsonl", stdin=jsonl(*PAIRS))[1] == expected
    tabs = "".join(f"{premise}\t{hypothesis}\n" for premise, hypothesis in PAIRS)
    assert run("--format", "jsonl", stdin=tabs)[1] == expected
    _, table, _ = run("pairs.jsonl", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(table)))
    for row, line in zip(rows, lines, strict=True):
        assert {name: json.loads(row.pop(name)) for name in ("unknown_words", "reliable")} == {
            name: line.pop(name) for name in ("unknown_words", "reliable")
        }
        assert row == {name: "" if value is None else str(value) for name, value in line.items()}
    _, text, _ = run("pairs.csv")
    answers = [f"line {x['line']}: {x['predicted']}" for x in lines]
    assert [line.split(" (")[0].rstrip() for line in text.splitlines()] == answers


UNKNOWN = [[",", "."], ["unheard"], ["?"], []]  # of PAIRS


def test_words_outside_the_vocabulary(run: Run) -> None:
    counts = "unreliable answers: {}\n"
    message = "3 of 4 pairs have words outside the model's vocabulary; the first: ','; "
    message += counts.format(1)
    status, out, errors = run("-", "--format", "jsonl", stdin=jsonl(*PAIRS))
    assert [json.loads(line)["unknown_words"] for line in out.splitlines()] == UNKNOWN
    assert (status, errors) == (0, message)
    # more than a chunk
    _, out, errors = run("-", "--format", "jsonl", stdin=jsonl(*PAIRS * 150, PAIRS[1]))
    assert [json.loads(line)["unknown_words"] for line in out.splitlines()[:-1]] == UNKNOWN * 150
    assert errors == message.replace("3 of 4", "451 of 601").replace(": 1", ": 151")
    errors = run("-", stdin=jsonl(PAIRS[3], PAIRS[1]))[2]
    message = "1 of 2 pairs has words outside the model's vocabulary; the first: 'unheard'; "
    assert errors == message + counts.format(1) + MODEL
    # neither a single pair nor known words are counted
    unheard = ("--premise", "word1 Pyjamas", "--hypothesis", "word2 awake pyjamas")
    status, out, errors = run(*unheard)
    assert (status, errors) == (0, MODEL)
    assert out.endswith("; unreliable, unknown words: 'pyjamas', 'awake'\n")
    assert run("-", stdin=jsonl(PAIRS[3], PAIRS[3]))[2] == MODEL


def test_a_sentence_without_a_known_word_is_refused(run: Run) -> None:
    pairs = jsonl(("word1", "Zorp ."), PAIRS[3])
    status, out, errors = run("-", "--format", "jsonl", stdin=pairs)
    refused, answer = map(json.loads, out.splitlines())
    assert status == 0 and errors.endswith(
        "refused: 1 of 2 pairs; standard input, line 1: no known word in the hypothesis\n"
    )
    nothing = {"predicted": None, **dict.fromkeys(CLASSES), "steps": None, "reliable": False}
    assert nothing.items() <= refused.items()
    assert refused["refusal"] == "no known word in the hypothesis"
    assert (answer["reliable"], answer["refusal"]) == (True, None)
    table = run("-", "--format", "csv", stdin=pairs)[1]
    assert next(csv.DictReader(io.StringIO(table)))["predicted"] == ""
    status, out, errors = run("--premise", "zorp", "--hypothesis", "word1", "--explain")
    refusal = "unknown: no known word in the premise; unknown words: 'zorp'"
    assert (status, out.strip()) == (1, refusal)
    words = Path("artifacts/export/models/adaptive_attention/words.txt").resolve()
    problem = "no answer: the pair: no known word in the premise; the vocabulary is"
    assert errors == f"{MODEL}error: {problem} {words}\n"


def test_accuracy_on_pairs_with_labels(run: Run) -> None:
    lines = run("-", "--format", "jsonl", stdin=jsonl(*PAIRS))[1].splitlines()
    answers = [json.loads(line)["predicted"] for line in lines]
    wrong = "neutral" if answers[2] == "entailment" else "entailment"
    rows = [json.loads(row) for row in jsonl(*PAIRS[:3]).splitlines()]
    labels = (answers[0].upper(), "-", wrong)
    labeled = [json.dumps(row | {"label": x}) for row, x in zip(rows, labels, strict=True)]
    errors = run("-", stdin="\n".join(labeled))[2]
    assert "accuracy: 50.0 % (n = 2 labeled of 3 pairs)\n" in errors
    labeled += [json.dumps(rows[0] | {"label": "not known"})] * 2
    problem = "accuracy: 25.0 % (n = 4 labeled of 5 pairs; unknown labels count as wrong: 'not kno"
    problem += (
        "wn' (2); without them 1 of 2 are right); name the class of a label: --label 'not known'="
    )
    assert f"{problem}CLASS\n" in run("-", stdin="\n".join(labeled))[2]
    errors = run("-", "--label", f"not known={answers[0]}", stdin="\n".join(labeled))[2]
    assert "accuracy: 75.0 % (n = 4 labeled of 5 pairs)\n" in errors
    numbers = "\n".join(json.dumps(row | {"label": 0}) for row in rows)
    note = "label 0 is entailment, as in the file: 'word1 word2, word3.' / 'word4'\n"
    assert note in run("-", stdin=numbers)[2]


def test_a_bad_row_has_a_refusal_and_the_others_an_answer(run: Run) -> None:
    rows = ["premise,hypothesis", "word1,word2", "word1,", "word1", "...,word2", "word3,word4"]
    Path("pairs.csv").write_text("\n".join(rows))
    status, out, errors = run("pairs.csv", "--format", "csv")
    found = list(csv.DictReader(io.StringIO(out)))
    assert [(row["line"], row["refusal"], row["predicted"] != "") for row in found] == [
        ("2", "", True),
        ("3", "the hypothesis has no words", False),
        ("4", "1 fields; the header has 2", False),
        ("5", "no known word in the premise", False),
        ("6", "", True),
    ]
    assert status == 0
    assert "refused: 3 of 5 pairs; pairs.csv, line 3: the hypothesis has no words\n" in errors


def test_other_fields_are_kept_and_attention_is_optional(run: Run) -> None:
    lines = '{"id": 7, "premise": "word1", "note": {"é": [1]}, "hypothesis": "word2"}\n'
    lines += '{"premise": "word3", "hypothesis": "word4", "late": "\\ud800"}\n'
    status, out, _ = run("-", "--format", "jsonl", "--explain", stdin=lines)
    first, second = map(json.loads, out.splitlines())
    assert status == 0
    assert (first["id"], first["note"]) == (7, {"é": [1]})
    assert len(first["attention"]["trace"]) == first["steps"]
    assert second["late"] == "\ud800"
    _, table, _ = run("-", "--format", "csv", stdin=lines)
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(row["id"], row["note"]) for row in rows] == [("7", '{"é": [1]}'), ("", "")]


def test_what_json_has_no_number_for_is_null(run: Run, tmp_path: Path) -> None:
    row = {"premise": "word1", "hypothesis": "word2", "x": math.nan, "y": [-math.inf, 0.5]}
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "p.parquet")
    _, out, _ = run("p.parquet", "--format", "jsonl")
    (tmp_path / "answers.jsonl").write_text(out)
    row = json.loads((tmp_path / "answers.jsonl").read_text())
    assert (row["x"], row["y"]) == (None, [None, 0.5])


def test_an_invalid_last_line_prevents_all_output(run: Run) -> None:
    Path("answers.jsonl").write_text("older")
    lines = jsonl(*PAIRS[:3]) + '{"premise": "a", "hypothesis": "b", "unknown_words": []}\n'
    problem = "'unknown_words' is a field of the output; rename it"
    message = (1, "", f"error: standard input, line 4: {problem}\n")
    assert run("-", "--format", "jsonl", stdin=lines) == message
    assert run("-", "--format", "jsonl", "--output", "answers.jsonl", stdin=lines) == message
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


def test_empty_input(run: Run) -> None:
    assert run("-")[2] == "error: standard input: contains no pairs\n"
    Path("pairs.csv").write_text("premise,hypothesis\n")
    assert run("pairs.csv")[::2] == (1, "error: pairs.csv: contains no pairs\n")


def test_missing_models(run: Run) -> None:
    known = "must be one of adaptive_attention, decomposable_attention, word_by_word_attention"
    wording = f"error: --model: 'lstm' was not exported; {known}\n"
    assert run(*PAIR, "--model", "lstm") == (1, "", wording)
    path = Path("artifacts/export/best.json").resolve()
    path.write_text("{")
    for reason in ("Expecting property name", "[Errno 22] not a regular file"):
        status, _, errors = run(*PAIR)
        assert status == 1 and errors.startswith(f"error: {path} is corrupt ({reason}")
        path.unlink()
        os.mkfifo(path)
    path.unlink()
    wording = f"error: {path} is missing: no model yet; run: dvc repro export\n"
    assert run(*PAIR) == (1, "", wording)


def test_a_mismatch_with_best_json(run: Run) -> None:
    path = Path("artifacts/export/best.json")
    export = json.loads(path.read_text())
    digest = export["models"]["adaptive_attention"]["digest"]
    path.write_text(path.read_text().replace(digest, "0" * 64))
    status, out, errors = run(*PAIR)
    advice = "run: dvc checkout, and if that changes nothing: dvc repro export"
    assert (status, out, errors.count("\n")) == (1, "", 1) and errors.endswith(f"{advice}\n")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (PAIR[:2], "--premise requires --hypothesis, and vice versa"),
        ((*PAIR, "pairs.csv"), "give a FILE or a pair, not both"),
        (("-", "--explain", "--format", "csv"), "--explain requires --format text or jsonl"),
    ],
)
def test_incompatible_options(run: Run, arguments: tuple[str, ...], problem: str) -> None:
    status, out, errors = run(*arguments)
    assert (status, out) == (2, "")
    assert problem in errors
