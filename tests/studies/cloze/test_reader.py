"""The reader: the equations, invariances, parameters, training, runs and tables."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import pad

from actmodels.errors import DataError
from actmodels.records import TrialRecord
from pipeline.datasets.tokens import write_words
from pipeline.trials.study import Run, history_rows
from studies.cloze import stage as cloze
from studies.cloze.data import (
    NO_CANDIDATE,
    PLACEHOLDER,
    UNKNOWN,
    ClozeVectors,
    QuestionBatch,
    collate,
    initial_embeddings,
    most_frequent_accuracy,
    occurrences,
    pooled_batches,
)
from studies.cloze.memory import AdaptiveComputation, mix_steps, pointer_sum
from studies.cloze.model import Reader
from studies.cloze.section import ReadingStudy, Study
from studies.cloze.tables import COLUMNS
from studies.cloze.training import ReaderTraining, evaluate, trace_query
from tests.model_checks import without_gradient
from tests.studies.cloze import slow_reader
from tests.studies.cloze.samples import (
    WORDS,
    as_tensors,
    make,
    questions,
    reader_data,
    reader_trial,
)
from tests.studies.test_sections import READING

STRATEGIES = ["query_gating", "adaptive_computation"]
BOTH = pytest.mark.parametrize("strategy", STRATEGIES)


def close(result: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(result, expected, rtol=0, atol=1e-12)


def batch_of(count: int) -> QuestionBatch:
    return collate(questions(count), torch.arange(count))


@pytest.mark.parametrize("steps", [1, 2, 4])
@BOTH
def test_equals_the_equations(strategy: str, steps: int) -> None:
    """A batch and, question by question, its trace."""
    reader, split = make(strategy=strategy, steps=steps), questions(5)
    batch = collate(split, torch.arange(5))
    answer = reader(batch)
    for row in range(5):
        document = batch.document[row][batch.document_mask[row]]
        query = batch.query[row][batch.query_mask[row]]
        at = batch.candidate_at[row][batch.document_mask[row]].tolist()
        count = int(split.candidate_counts[row])
        expected, weights, slow = slow_reader.answer(reader, document, query, at, count)
        close(answer.log_probabilities[row, :count].exp(), expected)
        assert bool((answer.log_probabilities[row, count:] == float("-inf")).all())
        close(answer.weights[row], weights)
        mean_step = weights @ torch.arange(1, steps + 1, dtype=torch.float64)
        close(answer.steps[row], mean_step)
        trace = trace_query(reader, split, row)
        close(trace.keys, torch.stack([step.key for step in slow]))
        close(trace.attention, torch.stack([step.attention for step in slow]))
        close(trace.step_probabilities, torch.stack([step.answer for step in slow]))
        close(trace.weights, weights)
        close(trace.probabilities, expected)
        gates = [step.gate for step in slow if step.gate is not None]
        halting = [step.halting for step in slow if step.halting is not None]
        assert len(gates) + len(halting) == steps - 1
        for values, reference in ((trace.gates, gates), (trace.halting, halting)):
            assert (values is None) == (not reference)
            if values is not None:
                close(values, torch.stack(reference))


def test_parameters_by_arithmetic() -> None:
    """Published size: two BiLSTMs of 2 x 218 units, read 872 -> 436, compose, write, o."""
    k, half, words = 436, 218, 5

    def parameters(**changes: Any) -> int:
        return ReaderTraining(reader_trial(memory_size=k, **changes), reader_data()).parameters

    contexts = 2 * 2 * 4 * half * (words + half + 1)
    read, write = 4 * k * (2 * k + k + 1), 4 * k * (k + k + 1)
    compose = 3 * k * k + k
    assert parameters(steps=1) == contexts + read
    assert parameters() == contexts + read + write + compose
    adaptive = parameters(strategy="adaptive_computation")
    assert adaptive == contexts + read + write + compose + k


@BOTH
@pytest.mark.parametrize(
    ("steps", "missing"),
    [(3, []), (2, ["test.recurrence.cell.weight_hh"]), (1, ["read.recurrence.cell.weight_hh"])],
)
def test_every_parameter_gets_a_gradient(strategy: str, steps: int, missing: list[str]) -> None:
    """The read LSTM takes T steps, the write LSTM T - 1; one step has no recurrent gradient."""
    reader, batch = make(strategy=strategy, steps=steps), batch_of(12)
    objective = reader.objective(reader(batch), batch.answers)
    assert without_gradient(reader, objective) == missing


@BOTH
@pytest.mark.parametrize("training", [False, True])
def test_padding_changes_nothing(strategy: str, training: bool) -> None:
    """Neither its length nor its content, even with dropout, whose masks depend on the position."""
    reader, batch = make(strategy=strategy, steps=3).train(training), batch_of(6)
    longer = QuestionBatch(
        pad(batch.document, (0, 5), value=UNKNOWN),
        pad(batch.document_mask, (0, 5)),
        pad(batch.query, (0, 3), value=UNKNOWN),
        pad(batch.query_mask, (0, 3)),
        pad(batch.candidate_at, (0, 5), value=NO_CANDIDATE),
        pad(batch.candidate_mask, (0, 2)),
        batch.answers,
    )
    results = []
    for one in (batch, longer):
        reader.dropout_stream.restart(torch.tensor(7, dtype=torch.int32))
        reader.zero_grad()
        answer = reader(one)
        reader.objective(answer, one.answers).backward()
        gradients = [p.grad.clone() for p in reader.parameters() if p.grad is not None]
        results.append([answer.log_probabilities[:, : batch.candidate_mask.shape[1]], *gradients])
    torch.testing.assert_close(*results)


def test_scores_far_apart_keep_their_gradient() -> None:
    """Single precision: a probability of exp(-400) is 0, its logarithm is -400."""
    scores = torch.tensor([[400.0, 0.0]], requires_grad=True)
    result = pointer_sum(scores, torch.tensor([[True, True]]), torch.tensor([[0, 1]]), 2)
    assert result[0, 1].item() == -400.0
    result[0, 1].backward()
    assert scores.grad.tolist() == [[-1.0, 1.0]]


def test_a_weight_of_zero_and_an_absent_candidate_have_finite_gradients() -> None:
    probabilities = [[[0.5, 0.3, 0.0], [0.1, 0.7, 0.0]]]
    steps = torch.tensor(probabilities, dtype=torch.float64).log().requires_grad_()
    weights = torch.tensor([[0.0, 1.0]], dtype=torch.float64, requires_grad=True)
    result = mix_steps(steps, weights)
    assert result[0, 0].item() == pytest.approx(math.log(0.1), abs=1e-12)
    result[0, :2].sum().backward()
    assert all(bool(one.grad.isfinite().all()) for one in (steps, weights))


@pytest.mark.parametrize(("chance", "weights"), [(0.0, [0.0, 0.0, 1.0]), (1.0, [1.0, 0.0, 0.0])])
def test_sure_to_halt_and_sure_not_to(chance: float, weights: list[float]) -> None:
    halting = [torch.tensor([chance], requires_grad=True) for _ in range(2)]
    step_logs = torch.tensor([[[0.2], [0.6], [0.9]]]).log()
    answer, taken = AdaptiveComputation(2).answer(step_logs, halting)
    assert taken.tolist() == [weights]
    answer.sum().backward()
    assert all(bool(h.grad.isfinite().all()) for h in halting if h.grad is not None)


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
