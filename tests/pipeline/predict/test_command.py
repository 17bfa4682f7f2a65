"""The command as a user runs it, on tiny models."""

import csv
import io
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from actmodels.configs import LABELS
from pipeline.predict.__main__ import main
from pipeline.runtime.stage import run_command
from tests.pipeline.tiny_export import PAIRS, write_export
from tests.samples import sample_trial

Run = Callable[..., tuple[int, str, str]]
PAIR = ("--premise", "word1 word2", "--hypothesis", "word3")
ANSWERED = "answered by adaptive_attention\n"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in a project with two exported models; gives status, output, errors."""
    write_export(tmp_path, *map(sample_trial, ("adaptive_attention", "decomposable_attention")))
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str, given: str = "") -> tuple[int, str, str]:
        stdin = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(sys, "argv", ["predict", *arguments])
        with pytest.raises(SystemExit) as ended:
            run_command(main)
        captured = capsys.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return command


def jsonl(*pairs: tuple[object, object]) -> str:
    return "".join(json.dumps({"premise": p, "hypothesis": h}) + "\n" for p, h in pairs)


def test_a_pair_is_answered_in_a_line_and_explained_by_steps(run: Run) -> None:
    status, out, errors = run(*PAIR)
    assert (status, errors) == (0, ANSWERED)
    assert out.split()[0] in LABELS
    assert out.endswith(" steps\n") or out.endswith(" 1 step\n")
    assert out.count("\n") == 1
    _, explained, _ = run(*PAIR, "--explain")
    assert explained.startswith(out) and "\x1b" not in explained
    assert explained.count("  step ") == int(out.split(", ")[-1].split()[0])
    _, other, errors = run(*PAIR, "--explain", "--model", "decomposable_attention")
    assert "step" not in other
    advice = "takes no inference steps to explain; add --model adaptive_attention"
    name = "decomposable_attention"
    assert errors == f"{name} {advice}\nanswered by {name}\n"


def test_every_way_in_and_out_gives_the_same_answers(run: Run) -> None:
    Path("pairs.jsonl").write_text(jsonl(*PAIRS))
    with Path("pairs.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("premise", "hypothesis"), *PAIRS])
    _, expected, _ = run("pairs.jsonl", "--format", "jsonl")
    lines = [json.loads(line) for line in expected.splitlines()]
    assert [(line["premise"], line["hypothesis"]) for line in lines] == PAIRS
    added = ["model", "predicted", *LABELS, "steps", "unknown_words"]
    assert list(lines[0]) == ["premise", "hypothesis", *added]
    assert lines[0]["model"] == "adaptive_attention"
    assert run("pairs.csv", "--format", "jsonl")[1] == expected
    assert run("-", "--format", "jsonl", given=jsonl(*PAIRS))[1] == expected
    tabs = "".join(f"{premise}\t{hypothesis}\n" for premise, hypothesis in PAIRS)
    assert run("--format", "jsonl", given=tabs)[1] == expected
    _, table, _ = run("pairs.jsonl", "--format", "csv")
    found = list(csv.DictReader(io.StringIO(table)))
    assert [row | {"unknown_words": json.loads(row["unknown_words"])} for row in found] == [
        {name: value if type(value) is list else str(value) for name, value in line.items()}
        for line in lines
    ]
    _, text, _ = run("pairs.csv")
    assert [line.split()[0] for line in text.splitlines()] == [x["predicted"] for x in lines]


UNKNOWN = [[",", "."], ["unheard"], ["?"], []]  # of PAIRS


def test_words_outside_the_vocabulary_are_named(run: Run) -> None:
    told = "3 of 4 pairs have words that the model does not know; the first: ','\n"
    status, out, errors = run("-", "--format", "jsonl", given=jsonl(*PAIRS))
    assert [json.loads(line)["unknown_words"] for line in out.splitlines()] == UNKNOWN
    assert (status, errors) == (0, told)
    # more than a chunk
    _, out, errors = run("-", "--format", "jsonl", given=jsonl(*PAIRS * 150, PAIRS[1]))
    assert [json.loads(line)["unknown_words"] for line in out.splitlines()[:-1]] == UNKNOWN * 150
    assert errors == told.replace("3 of 4", "451 of 601")
    errors = run("-", given=jsonl(PAIRS[3], PAIRS[1]))[2]
    told = "1 of 2 pairs has words that the model does not know; the first: 'unheard'\n"
    assert errors == told + ANSWERED
    # a pair that is asked alone is not counted, nor are pairs that are known
    unheard = ("--premise", "word1 Pyjamas", "--hypothesis", "awake pyjamas")
    status, out, errors = run(*unheard)
    assert (status, errors) == (0, ANSWERED)
    assert out.endswith("; not known to the model: 'pyjamas', 'awake'\n")
    assert run("-", given=jsonl(PAIRS[3], PAIRS[3]))[2] == ANSWERED


def test_other_fields_go_through_and_attention_when_asked(run: Run) -> None:
    given = '{"id": 7, "premise": "word1", "note": {"é": [1]}, "hypothesis": "word2"}\n'
    given += '{"premise": "word3", "hypothesis": "word4", "late": "\\ud800"}\n'
    status, out, _ = run("-", "--format", "jsonl", "--explain", given=given)
    first, second = map(json.loads, out.splitlines())
    assert status == 0
    assert (first["id"], first["note"]) == (7, {"é": [1]})
    assert len(first["attention"]["trace"]) == first["steps"]
    assert second["late"] == "\ud800"
    _, table, _ = run("-", "--format", "csv", given=given)
    rows = list(csv.DictReader(io.StringIO(table)))
    assert [(row["id"], row["note"]) for row in rows] == [("7", '{"é": [1]}'), ("", "")]


def test_a_bad_last_line_is_told_before_anything_is_written(run: Run) -> None:
    Path("answers.jsonl").write_text("older")
    given = jsonl(*PAIRS[:3]) + '{"premise": "a", "hypothesis": "b", "unknown_words": []}\n'
    said = "'unknown_words' is what the answer would be called; rename it"
    told = (1, "", f"error: standard input, line 4: {said}\n")
    assert run("-", "--format", "jsonl", given=given) == told
    assert run("-", "--format", "jsonl", "--output", "answers.jsonl", given=given) == told
    assert Path("answers.jsonl").read_text() == "older"
    assert sorted(path.name for path in Path().iterdir()) == ["answers.jsonl", "artifacts"]


def test_output_is_a_file_whole_and_a_link_to_it_stays_one(run: Run) -> None:
    _, expected, _ = run(*PAIR, "--format", "csv")
    Path("link.csv").symlink_to("new/answers.csv")
    assert run(*PAIR, "--format", "csv", "--output", "new/answers.csv") == (0, "", "")
    assert Path("link.csv").read_text() == expected
    _, expected, _ = run(*PAIR)
    assert run(*PAIR, "--output", "link.csv") == (0, "", ANSWERED)
    assert Path("link.csv").is_symlink() and Path("new/answers.csv").read_text() == expected


def test_a_pipe_or_a_device_is_written_to_and_never_replaced(run: Run) -> None:
    _, expected, _ = run(*PAIR)
    os.mkfifo("pipe")
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(Path("pipe").read_text()), daemon=True)
    reader.start()
    assert run(*PAIR, "--output", "pipe") == (0, "", ANSWERED)
    reader.join(10)
    assert received == [expected] and Path("pipe").is_fifo()
    Path("link").symlink_to("/dev/full")
    told = "error: --output: /dev/full cannot be written: No space left on device\n"
    assert run(*PAIR, "--output", "link") == (1, "", told)
    assert Path("link").is_symlink() and Path("/dev/full").is_char_device()


def test_no_pairs_are_told(run: Run) -> None:
    assert run("-")[2] == "error: standard input: holds no pairs\n"
    Path("pairs.csv").write_text("premise,hypothesis\n")
    assert run("pairs.csv")[::2] == (1, "error: pairs.csv: holds no pairs\n")


def test_a_model_that_is_not_there_is_told(run: Run) -> None:
    known = "must be one of adaptive_attention, decomposable_attention"
    wording = f"error: --model: 'lstm' was not exported; {known}\n"
    assert run(*PAIR, "--model", "lstm") == (1, "", wording)
    path = Path("artifacts/export/best.json").resolve()
    path.write_text("{")
    for reason in ("Expecting property name", "[Errno 22] not a regular file"):
        status, _, said = run(*PAIR)
        assert status == 1 and said.startswith(f"error: {path} is damaged ({reason}")
        path.unlink()
        os.mkfifo(path)
    path.unlink()
    wording = f"error: {path} is missing: no model yet; run: dvc repro export\n"
    assert run(*PAIR) == (1, "", wording)


@pytest.mark.parametrize("spoil", ["digest", "dev_accuracy", "best"])
def test_a_folder_that_holds_another_model_is_refused(run: Run, spoil: str) -> None:
    path = Path("artifacts/export/best.json")
    export = json.loads(path.read_text())
    if spoil == "best":
        export["best"] = "decomposable_attention"
    else:
        export["models"]["adaptive_attention"][spoil] = {"digest": "0" * 64}.get(spoil, 0.9)
    path.write_text(json.dumps(export))
    status, out, errors = run(*PAIR)
    assert (status, out, errors.count("\n")) == (1, "", 1)
    again = "dvc checkout, and if that changes nothing: dvc repro export"
    assert errors.endswith(f"run: {'dvc repro -f export' if spoil == 'best' else again}\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (PAIR[:2], "--premise and --hypothesis go together"),
        ((*PAIR, "pairs.csv"), "give a FILE or a pair, not both"),
        (("-", "--explain", "--format", "csv"), "--explain does not fit into a table"),
    ],
)
def test_options_that_do_not_go_together_are_told(
    run: Run, arguments: tuple[str, ...], sentence: str
) -> None:
    status, out, errors = run(*arguments)
    assert (status, out) == (2, "")
    assert sentence in errors
