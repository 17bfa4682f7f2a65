"""Training of a reader, its runs, and the tables of trained readers."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from actmodels.errors import DataError
from actmodels.records import TrialRecord
from pipeline.datasets.tokens import write_words
from pipeline.trials.study import Run, history_rows
from studies.cloze import stage as cloze
from studies.cloze.data import (
    NO_CANDIDATE,
    PLACEHOLDER,
    ClozeVectors,
    collate,
    initial_embeddings,
    most_frequent_accuracy,
    occurrences,
    pooled_batches,
)
from studies.cloze.model import Reader
from studies.cloze.section import ReadingStudy, Study
from studies.cloze.tables import COLUMNS
from studies.cloze.training import ReaderTraining, evaluate, trace_query
from tests.studies.cloze.samples import (
    WORDS,
    as_tensors,
    make,
    questions,
    reader_data,
    reader_trial,
)
from tests.studies.test_sections import READING


def training(**changes: Any) -> ReaderTraining:
    return ReaderTraining(reader_trial(**changes), reader_data())


def test_records_equal_an_evaluation() -> None:
    run = training(strategy="adaptive_computation", max_epochs=1)
    (record,) = run.epochs()
    result = evaluate(run.model, run.dev, 3)
    assert record.dev_loss == pytest.approx(result.loss, rel=1e-5)
    right = (result.predictions == run.dev.answers).sum().item()
    assert record.dev_accuracy == result.accuracy == right / 11
    assert 1 < record.dev_mean_steps < 3 and record.dev_sd_steps > 0
    assert record.train_ponder_cost is None and record.dev_ponder_cost is None
    assert result.step_predictions.shape == (11, 3)


def test_dropout_is_for_training_only() -> None:
    """Without dropout and without learning, the training loss equals that of an evaluation."""
    plain = training(dropout=0.0, max_epochs=1, learning_rate=1e-12)
    (record,) = plain.epochs()
    assert record.train_loss == pytest.approx(evaluate(plain.model, plain.train, 7).loss, rel=1e-5)
    (dropped,) = training(dropout=0.5, max_epochs=1, learning_rate=1e-12).epochs()
    assert dropped.train_loss != pytest.approx(record.train_loss, rel=1e-4)
    assert dropped.dev_loss == pytest.approx(record.dev_loss, rel=1e-5)


def test_a_pool_that_cannot_be_filled() -> None:
    wording = r"30 training questions fill no pool of 31; lower pool_size or set keep_last"
    with pytest.raises(DataError, match=wording):
        training(pool_size=31, keep_last=False)
    assert training(pool_size=30, keep_last=False)


@pytest.mark.parametrize("keep_last", [False, True])
def test_each_question_at_most_once_and_batches_in_order_of_length(keep_last: bool) -> None:
    def drawn(lengths: torch.Tensor, pool: int) -> list[list[int]]:
        batches = pooled_batches(lengths, 4, pool, keep_last, torch.Generator().manual_seed(1))
        return [batch.tolist() for batch in batches]

    lengths = torch.randint(300, 500, (47,))
    batches = drawn(lengths, pool=10)
    seen = [row for batch in batches for row in batch]
    # 47 - 4 n < 10 after n = 10 batches: 7 are left
    assert len(seen) == len(set(seen)) == (47 if keep_last else 40)
    assert all(sorted(lengths[b].tolist()) == lengths[b].tolist() for b in batches)
    of_everything = drawn(torch.tensor([7, 3, 9, 1, 5, 8]), pool=6)
    assert of_everything == [[3, 1, 4, 0], *([[5, 2]] if keep_last else [])]


def test_collate_by_hand() -> None:
    split = as_tensors(
        [([(5, 0), (6, 1)], [2, 9], 2, 1), ([(7, NO_CANDIDATE), (8, 0), (9, 2)], [2], 3, 2)]
    )
    batch = collate(split, torch.tensor([1, 0]))
    assert batch.document.tolist() == [[7, 8, 9], [5, 6, 0]]
    assert batch.document_mask.tolist() == [[True] * 3, [True, True, False]]
    assert batch.candidate_at.tolist() == [[-1, 0, 2], [0, 1, NO_CANDIDATE]]
    assert batch.query.tolist() == [[2, 0], [2, 9]]
    assert batch.query_mask.tolist() == [[True, False], [True, True]]
    assert batch.candidate_mask.tolist() == [[True] * 3, [True, True, False]]
    assert batch.answers.tolist() == [2, 1]


def test_embedding_rows() -> None:
    known, config = torch.arange(2000) % 2 == 0, reader_trial(embedding_range=0.1)
    words = ClozeVectors(torch.full((2000, 3), 7.0), known)
    rows = initial_embeddings(config, words)
    assert rows[0].tolist() == [0.0] * 3
    assert bool((rows[3:][known] == 7.0).all())
    drawn = torch.cat([rows[1:3], rows[3:][~known]])
    assert drawn.min() >= -0.1 and drawn.max() < 0.1
    assert drawn.std().item() == pytest.approx(0.1 / 3**0.5, rel=0.05)
    assert torch.equal(rows, initial_embeddings(config, words))
    assert not torch.equal(rows, initial_embeddings(replace(config, seed=2), words))
    # the weights of a reader are no copies of its word vectors, although both are uniform
    reader = Reader(config.reader, rows, config.seed)
    values = torch.cat([parameter.detach().flatten() for parameter in reader.drawn])
    pair = torch.stack([values[3:300], rows.flatten()[3:300]])[:, rows.flatten()[3:300] != 7]
    assert abs(torch.corrcoef(pair)[0, 1]) < 0.3


def test_the_most_frequent_candidate_by_hand() -> None:
    """Correct; wrong; tie of two; tie of three, padded to four candidates."""
    documents = ([1, 1, 0, NO_CANDIDATE], [0, 0, 2], [0, 1, NO_CANDIDATE], [2, 1, 0])
    split = as_tensors(
        ([(9, at) for at in places], [2], candidates, answer)
        for places, candidates, answer in zip(documents, (2, 4, 2, 3), (1, 2, 0, 1), strict=True)
    )
    assert occurrences(split).tolist() == [[1, 2, 0, 0], [2, 0, 1, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
    assert most_frequent_accuracy(split) == pytest.approx((1 + 0 + 1 / 2 + 1 / 3) / 4)
    (line,) = cloze.baseline_rows("cbt", {"NE": {"dev": split}})
    assert list(line) == COLUMNS["baselines.csv"].split() and line["count"] == 4
    assert line["random"] == pytest.approx((1 / 2 + 1 / 4 + 1 / 2 + 1 / 3) / 4)
    assert line["most_frequent"] == most_frequent_accuracy(split)
    assert line["candidates"] == (2 + 4 + 2 + 3) / 4


def test_each_strategy_with_its_steps_and_every_seed() -> None:
    types = {"NE": ReadingStudy(**READING)}
    runs = cloze.plan(Study.model_construct(seeds=[1, 2], question_types=types))
    names = ["one step", "query gating, 2 steps"]
    names += [f"adaptive computation, {steps} steps" for steps in (2, 3)]
    assert [run.labels["run"] for run in runs[::2]] == names
    assert [run.config.seed for run in runs] == [1, 2] * 4
    assert [run.config.reader.steps for run in runs[::2]] == [1, 2, 2, 3]
    assert {run.config.questions for run in runs} == {"NE"}
    assert runs[-1].config.model == "nse_adaptive_computation"


def test_rows_of_a_trained_reader() -> None:
    config = reader_trial(strategy="adaptive_computation", steps=3, max_epochs=3)
    trained = ReaderTraining(config, reader_data())
    history = tuple(trained.epochs())
    record = TrialRecord("k", config.as_dict(), trained.parameters, history, {})
    run = Run({"questions": "NE", "run": "three steps"}, config)
    test = evaluate(trained.model, questions(9, 3), 4)
    row = cloze.reader_result(run, record, test)
    assert set(COLUMNS["results.csv"].split()) <= set(row)
    assert row["dev_accuracy"] == max(epoch.dev_accuracy for epoch in record.history)
    assert row["test_accuracy"] == (test.predictions == test.answers).sum().item() / 9
    assert (row["test_questions"], row["steps"], row["questions"]) == (9, 3, "NE")
    lines = history_rows([(run, record)])
    assert set(COLUMNS["history.csv"].split()) <= set(lines[0])
    assert [line["epoch"] for line in lines] == [1, 2, 3]
    dev = evaluate(trained.model, trained.dev, 4)
    lines = cloze.step_rows(run.seeded, dev)
    assert list(lines[0]) == COLUMNS["steps.csv"].split()
    assert [line["step"] for line in lines] == [1, 2, 3]
    assert sum(line["weight"] for line in lines) == pytest.approx(1)
    mean_step = sum(line["step"] * line["weight"] for line in lines)
    assert mean_step == pytest.approx(dev.steps.double().mean().item(), rel=1e-6)
    for number, line in enumerate(lines):
        right = dev.step_predictions[:, number] == dev.answers
        assert line["accuracy"] == right.double().mean().item()


@pytest.mark.parametrize("strategy", ["query_gating", "adaptive_computation"])
def test_a_trace_in_words(tmp_path: Path, strategy: str) -> None:
    reader, split = make(strategy=strategy, steps=3), questions(5)
    write_words(tmp_path / "words.tsv", [(f"w{n}", 1) for n in range(WORDS)])
    candidates = [[f"c{n}" for n in range(of)] for of in split.candidate_counts.tolist()]
    lines = ["\t".join(one) + "\n" for one in candidates]
    (tmp_path / "dev_candidates.tsv").write_text("".join(lines))
    words = cloze.load_wording(tmp_path)
    for number in range(5):
        result = cloze.query_trace(reader, split, number, words)
        trace = trace_query(reader, split, number)
        ids = split.query_ids[slice(*split.query_offsets[number : number + 2])].tolist()
        assert result["query"] == ["XXXXX" if i == PLACEHOLDER else f"w{i - 3}" for i in ids]
        assert result["candidates"] == candidates[number]
        assert result["answer"] == f"c{int(split.answers[number])}"
        assert result["predicted"] == f"c{int(trace.probabilities.argmax())}"
        attention = trace.attention.sum(dim=0)
        assert result["attended"] == cloze.attended(result["document"], attention)
        assert [step["weight"] for step in result["steps"]] == trace.weights.tolist()
        for place, step in enumerate(json.loads(json.dumps(result["steps"]))):
            assert step["key"] == pytest.approx(trace.keys[place].tolist(), abs=1e-4)
            probabilities = trace.step_probabilities[place]
            assert step["answer"] == f"c{int(probabilities.argmax())}"
            assert step["probability"] == probabilities.max().item()
            last = place == 2
            assert (step["gate"] is None) is (last or strategy != "query_gating")
            assert (step["halting"] is None) is (last or strategy == "query_gating")


def test_attention_is_summed_over_occurrences() -> None:
    weights = torch.tensor([0.3, 0.2, 0.4, 0.1, 0.0])
    assert cloze.attended(["b", "a", "c", "b", "d"], weights) in (["b", "c", "a"], ["c", "b", "a"])
    assert cloze.attended(["a", "b", "a"], torch.tensor([0.3, 0.4, 0.3])) == ["a", "b"]
