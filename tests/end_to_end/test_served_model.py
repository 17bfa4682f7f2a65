"""The registered model without this repository: loaded, and served by MLflow."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.end_to_end.project import wait_for
from tests.pipeline.tiny_export import PAIRS, ROOT, retrained, tiny_trials

pytestmark = [pytest.mark.slow, pytest.mark.smoke]

MODEL = "adaptive_attention"
BIN = Path(sys.executable).parent


class Exported:
    """A project with exported and registered models, without this repository's code."""

    def __init__(self, root: Path) -> None:
        self.root = root
        left_out = ("MLFLOW_", "PYTHONPATH")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(left_out)}
        more = {"MLFLOW_DISABLE_TELEMETRY": "true", "OMP_NUM_THREADS": "1"}
        self.environment = kept | more | {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
        self.store = {"MLFLOW_TRACKING_URI": f"sqlite:///{root}/state/mlflow.db"}
        retrained(root, *tiny_trials())
        self.python("-m", "pipeline.export", PYTHONPATH=str(ROOT))
        pairs = "".join(f"{premise}\t{hypothesis}\n" for premise, hypothesis in PAIRS)
        options = ("--model", MODEL, "--format", "jsonl", "--explain")
        predict = ("-m", "pipeline.predict", *options)
        lines = self.python(*predict, stdin=pairs, PYTHONPATH=str(ROOT)).splitlines()
        self.predicted = [json.loads(line) for line in lines]  # of PAIRS, with attention

    def python(self, *arguments: str, stdin: str = "", **variables: str) -> str:
        """Run Python in the project and return its output."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.root,
            env=self.environment | variables,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return Exported(tmp_path_factory.mktemp("exported"))


# Without site.py, which would make this repository's installation importable.
LOAD = """
import importlib.abc, importlib.util, json, sys
sys.path.append({libraries!r})
for package in ("actmodels", "pipeline", "tune", "reports"):
    assert importlib.util.find_spec(package) is None, package

class Blocker(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("ray", "dvc", "altair", "vl_convert", "markdown_it", "ruamel"):
            raise ImportError(f"{{name}} must not be imported")

sys.meta_path.insert(0, Blocker())
import mlflow.pyfunc
import pandas as pd
model = mlflow.pyfunc.load_model({uri!r})
table = pd.DataFrame({pairs!r}, columns=["premise", "hypothesis"])
answers = model.predict(table, params={{"attention": True}})
import actmodels, pipeline.inference.predictor
for module in (actmodels, pipeline.inference.predictor):
    assert "/code/" in module.__file__, module.__file__
for name in ("actmodels.training", "actmodels.fused", "pipeline.retrain", "tune", "reports"):
    assert importlib.util.find_spec(name) is None, name
print(json.dumps(answers.to_dict(orient="records")))
"""


def assert_same(answers: list[dict[str, Any]], lines: list[dict[str, Any]]) -> None:
    for answer, line in zip(answers, lines, strict=True):
        assert answer == {name: line[name] for name in answer}
        assert list(answer) == list(line)[4:]  # after line, premise, hypothesis, model


def test_it_loads_and_predicts_without_the_repository(exported: Exported) -> None:
    script = LOAD.format(
        libraries=sysconfig.get_paths()["purelib"],
        uri=f"models:/textual-entailment@{MODEL}",
        pairs=PAIRS,
    )
    output = exported.python("-I", "-S", "-c", script, **exported.store)
    assert_same(json.loads(output), exported.predicted)


def test_the_lines_of_the_docs_load_it(exported: Exported) -> None:
    page = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")
    blocks = [
        b for b in re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S) if "predict(" in b
    ]
    assert len(blocks) == 2
    for block in blocks:
        script = block.replace(
            "Path(pipeline.__file__).parents[1]", f"Path({str(exported.root)!r})"
        )
        assert script != block
        assert "refusal" in exported.python("-c", script, PYTHONPATH=str(ROOT))


@pytest.fixture
def address(exported: Exported, tmp_path: Path) -> Iterator[str]:
    """The address of `mlflow models serve`, on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address, log = f"http://127.0.0.1:{port}", tmp_path / "serve.log"
    uri = f"models:/textual-entailment@{MODEL}"
    command = ["models", "serve", "-m", uri, "--env-manager", "local", "-p", str(port)]
    with log.open("w") as out:
        process = subprocess.Popen(
            [BIN / "mlflow", *command],
            cwd=tmp_path,
            env=exported.environment | exported.store,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def up() -> bool:
        assert process.poll() is None, log.read_text()
        try:
            return bool(requests.get(f"{address}/ping", timeout=30).status_code == 200)
        except requests.ConnectionError:
            return False

    try:
        wait_for(up, "the server")
        yield address
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_mlflow_serves_it(exported: Exported, address: str) -> None:
    def post(*records: dict[str, str]) -> requests.Response:
        body = {"dataframe_records": records, "params": {"attention": True}}
        return requests.post(f"{address}/invocations", json=body, timeout=30)

    pairs = [{"premise": premise, "hypothesis": hypothesis} for premise, hypothesis in PAIRS]
    assert_same(post(*pairs).json()["predictions"], exported.predicted)
    for wrong, sentence in (
        ({"premise": "word1", "conclusion": "word2"}, "missing inputs ['hypothesis']"),
        ({"premise": "word1", "hypothesis": " "}, "pair 1 of 1: the hypothesis has no words"),
    ):
        response = post(wrong)
        assert response.status_code == 400
        assert sentence in response.json()["message"]
