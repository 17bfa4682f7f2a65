"""Study `cloze`: train hypothesis-testing readers on cloze questions (Munkhdalai & Yu 2017).

Readers with one or more steps, with query gating and with adaptive computation. Dev accuracy
selects the epoch; each reader is tested once.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from actmodels.files import write_text
from actmodels.records import TrialRecord
from pipeline.datasets.tokens import read_words
from pipeline.parameters.load import load_params
from pipeline.parameters.section import SPLITS
from pipeline.parameters.studies import study_section
from pipeline.runtime.results import TableRow, write_json
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.statistics.aggregate import summarize
from pipeline.statistics.paired import against_first
from pipeline.trials.execution import execution_settings
from pipeline.trials.study import Run, history_rows, result_row, train, with_weights, write_study
from studies.cloze.config import ReaderTrialConfig
from studies.cloze.data import (
    FIRST_WORD,
    PLACEHOLDER,
    UNKNOWN,
    ClozeVectors,
    QuestionTensors,
    most_frequent_accuracy,
)
from studies.cloze.model import Reader, load_reader
from studies.cloze.question import ARTICLES, BLANK
from studies.cloze.questions import write_questions
from studies.cloze.section import Study, reader_trials
from studies.cloze.tables import COLUMNS
from studies.cloze.training import ReaderEvaluation, evaluate, trace_query

ReaderRun = Run[ReaderTrialConfig]
ATTENDED = 3  # most attended words per question, as in the paper's appendix A
DIGITS = 4
RUN = ("questions", "run")  # columns that identify a run


def plan(study: Study) -> list[ReaderRun]:
    """Return the one-step runs if configured, then each strategy and number of steps, by seed."""
    runs = []
    for question_type, settings in study.question_types.items():
        for point, config in reader_trials(question_type, settings, study.seeds):
            name = f"{point['strategy'].replace('_', ' ')}, {point['steps']} steps"
            name = name if point["steps"] > 1 else "one step"
            runs.append(Run({"questions": question_type, "run": name}, config))
    return runs


def reader_result(run: ReaderRun, record: TrialRecord, test: ReaderEvaluation) -> TableRow:
    """Return a reader's dev metrics at its best epoch, and its test metrics."""
    return result_row(run, record) | {
        "test_accuracy": test.accuracy,
        "test_questions": len(test.answers),
        "test_mean_steps": test.metrics.mean_steps,
        "hits": (test.predictions == test.answers).double().numpy(),
    }


def step_rows(seeded: TableRow, dev: ReaderEvaluation) -> list[TableRow]:
    """Return the mean weight of each step on dev, and the accuracy of the step's own answers."""
    right = dev.step_predictions == dev.answers[:, None]
    weights, accuracies = dev.weights.double().mean(dim=0), right.double().mean(dim=0)
    pairs = zip(weights.tolist(), accuracies.tolist(), strict=True)
    return [
        {**seeded, "step": step, "weight": weight, "accuracy": accuracy}
        for step, (weight, accuracy) in enumerate(pairs, start=1)
    ]


def baseline_rows(
    source: str, questions_by_type: Mapping[str, Mapping[str, QuestionTensors]]
) -> list[TableRow]:
    """Return the accuracy of guessing without reading, for each question type and split."""
    return [
        {
            **{"questions": question_type, "source": source, "split": split},
            "count": len(questions),
            "candidates": questions.candidate_counts.double().mean().item(),
            "tokens": questions.document_offsets.diff().double().mean().item(),
            "random": (1 / questions.candidate_counts.double()).mean().item(),
            "most_frequent": most_frequent_accuracy(questions),
        }
        for question_type, splits in questions_by_type.items()
        for split, questions in splits.items()
    ]


class Wording(NamedTuple):
    """The text of the dev split: words by token id, candidates by question."""

    words: list[str]
    candidates: list[list[str]]


def load_wording(folder: Path) -> Wording:
    """Read the wording that `write_questions` wrote for one question type."""
    special = [""] * FIRST_WORD
    special[UNKNOWN], special[PLACEHOLDER] = "<unknown>", BLANK
    lines = (folder / "dev_candidates.tsv").read_text(encoding="utf-8").split("\n")[:-1]
    return Wording(special + read_words(folder / "words.tsv"), [line.split("\t") for line in lines])


def query_trace(
    reader: Reader, questions: QuestionTensors, number: int, wording: Wording
) -> dict[str, Any]:
    """Trace a reader on dev question `number`, step by step.

    Returns:
        document, query and candidates as words; the correct and the predicted answer;
        attended: the words with the highest attention, summed over steps;
        steps: for each step key z_t, gate g_t, halting e_t (None if absent), weight p_t, and the
            step's own answer with its probability.
    """
    trace = trace_query(reader, questions, number)
    candidates = wording.candidates[number]

    def words(ids: Tensor, offsets: Tensor) -> list[str]:
        return [wording.words[i] for i in ids[offsets[number] : offsets[number + 1]].tolist()]

    def at(values: Tensor | None, step: int, digits: int | None = None) -> Any:
        if values is None or step >= len(values):  # the last step has no gate and cannot halt
            return None
        exact = values[step].tolist()
        return exact if digits is None else [round(value, digits) for value in exact]

    steps = [
        {
            **{"key": at(trace.keys, step, DIGITS), "gate": at(trace.gates, step, DIGITS)},
            **{"halting": at(trace.halting, step), "weight": at(trace.weights, step)},
            **{"answer": candidates[int(each.argmax())], "probability": each.max().item()},
        }
        for step, each in enumerate(trace.step_probabilities)
    ]
    document = words(questions.document_ids, questions.document_offsets)
    return {
        "number": number,
        "document": document,
        "query": words(questions.query_ids, questions.query_offsets),
        "candidates": candidates,
        "answer": candidates[int(questions.answers[number])],
        "predicted": candidates[int(trace.probabilities.argmax())],
        "attended": attended(document, trace.attention.sum(dim=0)),
        "steps": steps,
    }


def attended(document: list[str], weights: Tensor) -> list[str]:
    """Return the words with the highest attention, summed over their occurrences."""
    sums: dict[str, float] = {}
    for word, weight in zip(document, weights.tolist(), strict=True):
        sums[word] = sums.get(word, 0.0) + weight
    return sorted(sums, key=lambda word: -sums[word])[:ATTENDED]


def main() -> None:
    """Write artifacts/studies/cloze/."""
    params = load_params()
    study, folder = study_section(params, Study), artifacts("studies", "cloze", "data")
    execution = execution_settings(params, data_folder=folder, dataset="cloze")
    manifest = write_questions(study.data, params.vectors, folder)
    write_json(folder / "manifest.json", manifest, indent=1)
    runs = plan(study)
    digests = [str(manifest["kinds"][run.config.questions]["digest"]) for run in runs]
    trained = train("cloze", runs, execution, digests)
    folders = {name: folder / name for name in study.question_types}
    splits = {
        name: {split: QuestionTensors.load(folder / f"{split}.pt") for split in SPLITS}
        for name, folder in folders.items()
    }
    results, steps, traces = list[TableRow](), list[TableRow](), list[TableRow]()
    for run, record, weights in with_weights("cloze", trained, execution):
        config, name = run.config, run.config.questions
        words = ClozeVectors.load(folders[name] / "vectors.pt")
        reader = load_reader(config, words, weights)
        dev, test = (
            evaluate(reader, splits[name][split], config.training.evaluation_batch_size)
            for split in ("dev", "test")
        )
        results.append(reader_result(run, record, test))
        steps += step_rows(run.seeded, dev)
        if config.seed == study.seeds[0] and config.reader.steps > 1:
            wording, dev_questions = load_wording(folders[name]), splits[name]["dev"]
            for number in range(min(study.traced, len(dev_questions))):
                traces.append(run.seeded | query_trace(reader, dev_questions, number, wording))
    articles = {n: np.loadtxt(f / ARTICLES, dtype=np.int64, ndmin=1) for n, f in folders.items()}
    # seeds are not paired: they share initial word vectors, but diverge by their numbers of steps
    labels = ("strategy", "steps")
    compared = against_first(results, *RUN, articles, *labels, seeds_paired=False)
    tables = {"results": results, "runs": compared, "steps": steps}
    tables["baselines"] = baseline_rows(manifest["source"], splits)
    tables["history"] = history_rows(trained)
    text = json.dumps(traces, ensure_ascii=False) + "\n"
    write_text(artifacts("studies", "cloze", "queries.json"), text)
    kept = ("dev_accuracy_mean", "test_accuracy_mean", "difference")
    write_study("cloze", trained, summarize(compared, *RUN, *kept), COLUMNS, **tables)


if __name__ == "__main__":
    run_stage(main)
