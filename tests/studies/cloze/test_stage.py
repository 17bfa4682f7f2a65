"""Study `cloze`: its runs, and the tables of trained readers."""

import json
from pathlib import Path

import pytest
import torch

from actmodels.records import TrialRecord
from pipeline.datasets.tokens import write_words
from pipeline.trials.study import Run, history_rows
from studies.cloze import stage as cloze
from studies.cloze.section import ReadingStudy, Study
from studies.cloze.tables import COLUMNS
from studies.cloze.training import ReaderTraining, evaluate, trace_query
from tests.studies.cloze.samples import WORDS, make, questions, reader_data, reader_trial
from tests.studies.test_sections import READING

Trained = tuple[cloze.ReaderRun, ReaderTraining, TrialRecord]


def test_each_strategy_with_its_steps_and_every_seed() -> None:
    types = {"NE": ReadingStudy(**READING)}
    runs = cloze.plan(Study.model_construct(seeds=[1, 2], question_types=types))
    assert [(run.labels["run"], run.config.seed) for run in runs[::2]] == [
        ("one step", 1),
        ("query gating, 2 steps", 1),
        ("adaptive computation, 2 steps", 1),
        ("adaptive computation, 3 steps", 1),
    ]
    assert [run.config.seed for run in runs] == [1, 2] * 4
    assert [run.config.reader.steps for run in runs[::2]] == [1, 2, 2, 3]
    assert {run.config.questions for run in runs} == {"NE"}
    assert runs[-1].config.model == "nse_adaptive_computation"


@pytest.fixture(scope="module")
def read() -> Trained:
    """A trained reader of three steps."""
    config = reader_trial(strategy="adaptive_computation", steps=3, max_epochs=3)
    training = ReaderTraining(config, reader_data())
    history = tuple(training.epochs())
    record = TrialRecord("k", config.as_dict(), training.parameters, history, {})
    return Run({"questions": "NE", "run": "three steps"}, config), training, record


def test_rows_are_those_of_the_best_epoch(read: Trained) -> None:
    run, training, record = read
    test = evaluate(training.model, questions(9, 3), 4)
    row = cloze.reader_result(run, record, test)
    assert set(COLUMNS["results.csv"].split()) <= set(row)
    assert row["dev_accuracy"] == max(epoch.dev_accuracy for epoch in record.history)
    assert row["test_accuracy"] == (test.predictions == test.answers).sum().item() / 9
    assert (row["test_questions"], row["steps"], row["questions"]) == (9, 3, "NE")
    lines = history_rows([(run, record)])
    assert set(COLUMNS["history.csv"].split()) <= set(lines[0])
    assert [line["epoch"] for line in lines] == [1, 2, 3]


def test_weights_and_answers_of_steps(read: Trained) -> None:
    run, training, _ = read
    dev = evaluate(training.model, training.dev, 4)
    lines = cloze.step_rows(run.seeded, dev)
    assert list(lines[0]) == COLUMNS["steps.csv"].split()
    assert [line["step"] for line in lines] == [1, 2, 3]
    assert sum(line["weight"] for line in lines) == pytest.approx(1)
    mean_step = sum(line["step"] * line["weight"] for line in lines)
    assert mean_step == pytest.approx(dev.steps.double().mean().item(), rel=1e-6)
    for line in lines:
        alone = dev.step_predictions[:, line["step"] - 1]
        assert line["accuracy"] == (alone == dev.answers).double().mean().item()


def test_baselines() -> None:
    (line,) = cloze.baseline_rows("cbt", {"NE": {"dev": questions(20)}})
    assert list(line) == COLUMNS["baselines.csv"].split() and line["count"] == 20
    assert 2 <= line["candidates"] <= 4
    assert line["random"] >= 1 / line["candidates"]  # the mean of reciprocals
    assert 0 < line["most_frequent"] <= 1


def wording(folder: Path, count: int) -> cloze.Wording:
    """Write words w0, w1, ... and the candidates of the sample questions."""
    write_words(folder / "words.tsv", [(f"w{n}", 1) for n in range(WORDS)])
    counts = questions(count).candidate_counts.tolist()
    lines = ["\t".join(f"c{n}" for n in range(of)) + "\n" for of in counts]
    (folder / "dev_candidates.tsv").write_text("".join(lines))
    return cloze.load_wording(folder)


@pytest.mark.parametrize("strategy", ["query_gating", "adaptive_computation"])
def test_a_trace_in_words(tmp_path: Path, strategy: str) -> None:
    reader, split = make(strategy=strategy, steps=3), questions(5)
    words = wording(tmp_path, 5)
    for number in range(5):
        result = cloze.query_trace(reader, split, number, words)
        known = trace_query(reader, split, number)
        assert json.loads(json.dumps(result)) == result
        assert result["query"].count("XXXXX") == 1
        assert len(result["steps"]) == 3
        assert {result["answer"], result["predicted"]} <= set(result["candidates"])
        assert result["answer"] == f"c{int(split.answers[number])}"
        assert set(result["attended"]) <= set(result["document"])
        for place, step in enumerate(result["steps"]):
            assert step["key"] == pytest.approx(known.keys[place].tolist(), abs=1e-4)
            assert len(step["key"]) == len(result["query"])
            assert step["probability"] == known.step_probabilities[place].max().item()
            last = place == 2
            assert (step["gate"] is None) is (last or strategy != "query_gating")
            assert (step["halting"] is None) is (last or strategy == "query_gating")
        assert sum(step["weight"] for step in result["steps"]) == pytest.approx(1)


def test_attention_is_summed_over_occurrences() -> None:
    weights = torch.tensor([0.3, 0.2, 0.4, 0.1, 0.0])
    assert cloze.attended(["b", "a", "c", "b", "d"], weights) in (["b", "c", "a"], ["c", "b", "a"])
    assert cloze.attended(["a", "b", "a"], torch.tensor([0.3, 0.4, 0.3])) == ["a", "b"]
