"""The demo with its committed settings: its accuracies, and its predictions for plain pairs."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.end_to_end.project import ROOT, Project

pytestmark = [pytest.mark.slow(minutes=6), pytest.mark.timeout(1700)]

PAIRS = Path(__file__).parent / "plain_pairs.jsonl"  # in the demo's vocabulary, labeled by hand


def test_the_demo_reaches_its_accuracies(tmp_path: Path) -> None:
    project = Project(tmp_path / "demo")
    one = {"retrain.seeds": [1], "multihop.seeds": [1]}  # a third of the time
    project.configure({"cluster.dashboard": False, **one})
    status, output = project.run("dvc", "repro", timeout=1500)
    assert status == 0, output

    def read(name: str) -> dict[str, dict[str, float]]:
        path = project.folder / "artifacts" / name / "summary.json"
        summary: dict[str, dict[str, float]] = json.loads(path.read_text())
        return summary

    plain = read("lexical_baseline")["lexical_baseline"]["test_accuracy"]
    models = read("evaluate")
    assert set(models) == {
        *("decomposable_attention", "adaptive_attention", "compare_adaptive_attention")
    }
    for model, summary in models.items():
        assert summary["seeds"] == 1
        assert summary["test_accuracy_mean"] >= max(0.85, plain), (model, summary, plain)
    report = (project.folder / "artifacts" / "report" / "report.md").read_text()
    assert "Hops solved" in report

    predict = ("-m", "pipeline.predict")
    status, answers = project.run(sys.executable, *predict, str(PAIRS), "--format", "jsonl")
    assert status == 0, answers
    assert "\naccuracy: " in answers, answers
    rows = [json.loads(line) for line in answers.splitlines() if line.startswith("{")]
    assert [row["unknown_words"] for row in rows] == [[]] * 20
    wrong = [row for row in rows if row["predicted"] != row["gold_label"]]
    assert len(wrong) <= 2, wrong

    readme = (ROOT / "README.md").read_text()
    example = re.search(r'predict --premise "([^"]+)" --hypothesis "([^"]+)"', readme)
    assert example
    pair = ("--premise", example[1], "--hypothesis", example[2])
    status, answer = project.run(sys.executable, *predict, *pair)
    assert status == 0, answer
    assert answer.startswith("contradiction"), answer
    assert "unknown words" not in answer
