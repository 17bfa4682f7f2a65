"""The registered model where this repository is not: loaded, and served for real by MLflow."""

import json
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.error
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from tests.end_to_end.project import wait_for
from tests.pipeline.tiny_export import PAIRS, ROOT, retrained, tiny_trials

pytestmark = [pytest.mark.slow, pytest.mark.smoke]

MODEL = "adaptive_attention"
BIN = Path(sys.executable).parent


class Exported:
    """A project whose models are exported and registered; no code of this repository in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        retrained(root, *tiny_trials())
        self.run("-m", "pipeline.export")

    @property
    def environment(self) -> dict[str, str]:
        left_out = ("MLFLOW_", "PYTHONPATH")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(left_out)}
        more = {"MLFLOW_DISABLE_TELEMETRY": "true", "OMP_NUM_THREADS": "1"}
        more["MLFLOW_TRACKING_URI"] = f"sqlite:///{self.root}/state/mlflow.db"
        return kept | more | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}

    def run(self, *arguments: str, given: str = "") -> str:
        """Run Python with this repository's code in the project; gives its output."""
        environment = {**self.environment, "PYTHONPATH": str(ROOT)}
        del environment["MLFLOW_TRACKING_URI"]
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env=environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def predicted(self) -> list[dict[str, Any]]:
        """What `python -m pipeline.predict` answers to PAIRS, attention included."""
        given = "".join(f"{premise}\t{hypothesis}\n" for premise, hypothesis in PAIRS)
        options = ("--model", MODEL, "--format", "jsonl", "--explain")
        lines = self.run("-m", "pipeline.predict", *options, given=given).splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return Exported(tmp_path_factory.mktemp("exported"))


# Not even site.py runs, which would make this repository's installation importable.
LOAD = """
import importlib.abc, importlib.util, json, sys
sys.path.append({libraries!r})
for package in ("actmodels", "pipeline", "tune", "reports"):
    assert importlib.util.find_spec(package) is None, package

class Refusing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("ray", "dvc", "altair", "vl_convert", "markdown_it", "ruamel"):
            raise ImportError(f"{{name}} is not to be imported")

sys.meta_path.insert(0, Refusing())
import mlflow.pyfunc
import pandas as pd
model = mlflow.pyfunc.load_model({uri!r})
table = pd.DataFrame({pairs!r}, columns=["premise", "hypothesis"])
answers = model.predict(table, params={{"attention": True}})
import actmodels, pipeline.answering.answer
for module in (actmodels, pipeline.answering.answer):
    assert "/code/" in module.__file__, module.__file__
for name in ("actmodels.training", "actmodels.packed", "pipeline.retrain", "tune", "reports"):
    assert importlib.util.find_spec(name) is None, name
print(json.dumps(answers.to_dict(orient="records")))
"""


def test_it_loads_and_answers_where_the_repository_is_not(exported: Exported) -> None:
    script = LOAD.format(
        libraries=sysconfig.get_paths()["purelib"],
        uri=f"models:/textual-entailment@{MODEL}",
        pairs=PAIRS,
    )
    folder = exported.root / "elsewhere"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script],
        cwd=folder,
        env=exported.environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    expected = exported.predicted()
    for answer, line in zip(json.loads(done.stdout), expected, strict=True):
        assert answer == {name: line[name] for name in answer}
        assert list(answer) == list(line)[3:]


class Server:
    """`mlflow models serve` on a free port of this machine."""

    def __init__(self, exported: Exported) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self.log = exported.root / "serve.log"
        uri = f"models:/textual-entailment@{MODEL}"
        command = ["mlflow", "models", "serve", "-m", uri, "--env-manager", "local"]
        folder = exported.root / "served"
        folder.mkdir()
        self.process = subprocess.Popen(
            [BIN / command[0], *command[1:], "-h", "127.0.0.1", "-p", str(port)],
            cwd=folder,
            env=exported.environment,
            stdout=self.log.open("w"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def up(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            with urlopen(f"{self.address}/ping", timeout=30) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def ask(self, body: Any, kind: str = "application/json") -> tuple[int, str]:
        """Status and answer; text is sent as it is."""
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        url, headers = f"{self.address}/invocations", {"Content-Type": kind}
        try:
            with urlopen(Request(url, data, headers), timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def answers(self, body: Any, kind: str = "application/json") -> list[dict[str, Any]]:
        status, text = self.ask(body, kind)
        assert status == 200, text
        return list(json.loads(text)["predictions"])

    def stop(self) -> None:
        os.killpg(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture(scope="module")
def server(exported: Exported) -> Iterator[Server]:
    server = Server(exported)
    try:
        wait_for(server.up, "the server")
        yield server
    finally:
        server.stop()


RECORDS = [{"premise": premise, "hypothesis": hypothesis} for premise, hypothesis in PAIRS]
SPLIT = {"columns": ["premise", "hypothesis"], "data": PAIRS}


def records(premise: object, hypothesis: object) -> dict[str, Any]:
    return {"dataframe_records": [{"premise": premise, "hypothesis": hypothesis}]}


def test_the_server_answers_as_predict_does(exported: Exported, server: Server) -> None:
    expected = exported.predicted()
    names = ("predicted", "neutral", "entailment", "contradiction", "steps", "unknown_words")
    plain = [{name: line[name] for name in names} for line in expected]
    extra = [{**record, "id": 3} for record in RECORDS]
    columns = {name: [record[name] for record in RECORDS] for name in RECORDS[0]}
    for body in (
        {"dataframe_split": SPLIT},
        {"dataframe_records": RECORDS},
        {"dataframe_records": extra},
        {"inputs": RECORDS},
        {"inputs": columns},
        {"instances": RECORDS},
        {"dataframe_records": RECORDS, "params": {"attention": False}},
    ):
        assert server.answers(body) == plain
    (single,) = server.answers({"inputs": RECORDS[1]})
    assert (single["predicted"], single["steps"]) == (plain[1]["predicted"], plain[1]["steps"])
    assert server.answers("premise,hypothesis\nword1,word2\n", "text/csv")[0]["steps"] >= 1
    (words,) = server.answers("premise,id,hypothesis\nNA,7,null\n", "text/csv")
    assert words["unknown_words"] == ["na", "null"]
    assert server.answers({"dataframe_split": SPLIT | {"data": []}}) == []
    found = server.answers({"dataframe_split": SPLIT, "params": {"attention": True}})
    assert found == [{name: line[name] for name in (*names, "attention")} for line in expected]


def test_64_clients_at_once_are_all_answered(server: Server) -> None:
    (expected,) = server.answers({"inputs": RECORDS[:1]})

    def client(_number: int) -> list[float]:
        seconds = []
        for _ in range(4):
            start = time.perf_counter()
            assert server.answers({"inputs": RECORDS[:1]}) == [expected]
            seconds.append(time.perf_counter() - start)
        return seconds

    with ThreadPoolExecutor(64) as clients:
        waited = sorted(second for seconds in clients.map(client, range(64)) for second in seconds)
    print(f"{len(waited)} requests, median {waited[len(waited) // 2]:.3f} s, max {waited[-1]:.3f}")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('{"dataframe_records": [{"premise": ', "Ensure that input is a valid JSON"),
        ("[]", "must be a JSON dictionary with exactly one of the input fields"),
        ({"records": RECORDS}, "must be a JSON dictionary with exactly one of the input fields"),
        ({"dataframe_records": [{"premise": "word1"}]}, "missing inputs ['hypothesis']"),
        (
            {"dataframe_records": [*RECORDS, {"premise": "word1"}]},
            "pair 5 of 5: the hypothesis is missing; expected text",
        ),
        (records("word1", " "), "pair 1 of 1: the hypothesis has no words"),
        (
            {"dataframe_split": {"columns": ["premise", "hypothesis"], "data": [[5, "word1"]]}},
            "pair 1 of 1: the premise is 5; expected text",
        ),
        (records("word1", ["word2"]), "pair 1 of 1: the hypothesis is ['word2']; expected text"),
        (
            records("word1 " * 1001, "word2"),
            "pair 1 of 1: the premise has 1001 tokens; expected at most 1000",
        ),
        (
            {"dataframe_records": RECORDS, "params": {"attention": "yes"}},
            "Can not safely convert",
        ),
        ('{"inputs":' + "[" * 10_000 + "]" * 10_000 + "}", "cannot be read (maximum recursion"),
        ('{"inputs": [{"premise": ' + "1" * 5_000 + "}]}", "cannot be read (Exceeds the limit"),
        ({"dataframe_split": SPLIT | {"columns": [["premise"], 0]}}, "cannot be read (unhashable"),
    ],
)
def test_a_malformed_request_is_told_why_and_the_server_goes_on(
    server: Server, body: Any, sentence: str
) -> None:
    status, text = server.ask(body)
    assert status == 400
    assert sentence in json.loads(text)["message"]
    assert "Traceback" not in text
    assert server.ask({"dataframe_records": RECORDS})[0] == 200


@pytest.mark.parametrize(
    ("body", "kind", "status", "sentence"),
    [
        ("premise\nword1\n", "text/csv", 400, "expected either the columns 'premise' and"),
        ("premise,hypothesis\na,b,c\n", "text/csv", 400, "request, line 2: 3 fields; the header"),
        ("PAR1", "application/vnd.apache.parquet", 400, "Failed to parse input"),
        ("{}", "", 415, "only supports the following content types"),
        ("premise,hypothesis\na,b\n", "text/csv; charset=latin-1", 415, "only supports UTF-8"),
    ],
)
def test_so_is_one_in_another_form(
    server: Server, body: str, kind: str, status: int, sentence: str
) -> None:
    found, text = server.ask(body, kind)
    assert (found, sentence in text, "Traceback" in text) == (status, True, False), text


def test_mlflow_reads_malformed_requests_as_the_security_page_says(server: Server) -> None:
    body = '{{"inputs": [{{"hypothesis": "word1", "premise": {}}}]}}'
    five, text, twice = (server.answers(body.format(p)) for p in ("5", '"5"', '6, "premise": 5'))
    assert five == text == twice
    repeated = server.answers({"dataframe_split": SPLIT | {"data": PAIRS[:1], "index": [0, 1]}})
    assert repeated == 2 * server.answers({"inputs": RECORDS[:1]})
