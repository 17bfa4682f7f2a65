"""Stage `cloze`: readers of cloze questions that test hypotheses (Munkhdalai & Yu 2017).

Readers of one and of more steps, with query gating and with adaptive computation, each with every
seed. Dev chooses the epoch; the test split is read once, by the readers so chosen.
"""

from pipeline.runtime.idle import SUMMARY, end_if_idle

if __name__ == "__main__":
    end_if_idle("cloze.question_types", {**SUMMARY, "queries.jsonl": ""})

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor
from tqdm import tqdm

from actmodels.cloze.config import ReaderTrialConfig
from actmodels.cloze.data import WordRows, load_reader
from actmodels.cloze.evaluation import ReaderEvaluation, evaluate, trace_query
from actmodels.cloze.model import Reader
from actmodels.cloze.questions import (
    FIRST_WORD,
    PLACEHOLDER,
    UNKNOWN,
    QuestionTensors,
    most_frequent_accuracy,
)
from actmodels.files import write_text
from actmodels.metrics import mean_and_sd
from actmodels.records import TrialRecord
from pipeline.datasets.question import ARTICLES, BLANK
from pipeline.datasets.tokens import read_words
from pipeline.parameters.load import load_params
from pipeline.parameters.section import SPLITS
from pipeline.parameters.study_sections import Cloze
from pipeline.parameters.trials import reader_trials
from pipeline.runtime.results import TableRow, read_json
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.statistics.aggregate import summarise
from pipeline.statistics.paired import Groups, against_first
from pipeline.studies.study import Run, history_rows, result_row, train, write_study
from pipeline.trials.execution import execution_settings
from tune.store import TrialStore

ReaderRun = Run[ReaderTrialConfig]
ATTENDED = 3  # most attended words that are named, as in the paper's appendix A
DIGITS = 4


def plan(study: Cloze) -> list[ReaderRun]:
    """Return one step, if asked for, then each strategy with its numbers of steps, by seed."""
    runs = []
    for questions, kind in study.question_types.items():
        for changes, config in reader_trials(questions, kind, study.seeds):
            name = f"{changes['strategy'].replace('_', ' ')}, {changes['steps']} steps"
            run = name if changes["steps"] > 1 else "one step"
            runs.append(Run({"questions": questions, "run": run}, config))
    return runs


def reader_result(run: ReaderRun, record: TrialRecord, test: ReaderEvaluation) -> TableRow:
    """Return the figures of a reader's best epoch and of the test split."""
    mean_steps, _ = mean_and_sd(test.steps)
    return (
        result_row(run, record)
        | {"strategy": run.config.reader.strategy, "steps": run.config.reader.steps}
        | {"test_accuracy": test.accuracy, "test_questions": len(test.answers)}
        | {"test_mean_steps": mean_steps}
        | {"hits": (test.predictions == test.answers).double().numpy()}
    )


def step_rows(seeded: TableRow, dev: ReaderEvaluation) -> list[TableRow]:
    """Return the weight of each step in the answers to dev, and the accuracy of its own answers."""
    right = dev.step_predictions == dev.answers[:, None]
    weights, accuracies = dev.weights.double().mean(dim=0), right.double().mean(dim=0)
    pairs = zip(weights.tolist(), accuracies.tolist(), strict=True)
    return [
        {**seeded, "step": step, "weight": weight, "accuracy": accuracy}
        for step, (weight, accuracy) in enumerate(pairs, start=1)
    ]


def baseline_rows(kind: str, source: str, splits: Mapping[str, QuestionTensors]) -> list[TableRow]:
    """Return the accuracies of guesses without reading, for each split."""
    return [
        {
            **{"questions": kind, "source": source, "split": split, "count": len(questions)},
            "candidates": questions.candidate_counts.double().mean().item(),
            "random": (1 / questions.candidate_counts.double()).mean().item(),
            "most_frequent": most_frequent_accuracy(questions),
        }
        for split, questions in splits.items()
    ]


def compare_runs(rows: Sequence[TableRow], articles: Mapping[str, Groups]) -> list[TableRow]:
    """Return mean and sd of each run, and its difference from the first of its kind.

    Seeds are not paired: runs of one seed begin with the same words' rows, but with other numbers
    of steps they soon have nothing else in common.

    Args:
        articles: which test questions of each kind are of one article.
    """
    found = against_first(rows, "questions", "run", articles, seeds_paired=False)
    labels = {(row["questions"], row["run"]): row for row in rows}
    names = ("questions", "run", "strategy", "steps")
    return [{name: labels[key][name] for name in names} | row for key, row in found.items()]


class Wording(NamedTuple):
    """The words behind the tensors of the dev split.

    words: by token id. candidates: of each question.
    """

    words: list[str]
    candidates: list[list[str]]


def load_wording(folder: Path) -> Wording:
    """Read the output of stage `cloze_data` for one kind."""
    special = [""] * FIRST_WORD
    special[UNKNOWN], special[PLACEHOLDER] = "<unknown>", BLANK
    lines = (folder / "dev_candidates.tsv").read_text(encoding="utf-8").split("\n")[:-1]
    return Wording(special + read_words(folder / "words.tsv"), [line.split("\t") for line in lines])


def query_trace(
    reader: Reader, questions: QuestionTensors, number: int, wording: Wording
) -> dict[str, Any]:
    """Follow a reader through dev question `number`.

    Returns:
        document, query and candidates as words, the right answer and the reader's; attended, the
        words of the document with most attention, all steps together, each word once; for each
        step z_t as key, g_t as gate and e_t as halting (None where there is none), p_t as weight,
        and the answer of the step alone with its probability.
    """
    found = trace_query(reader, questions, number)
    candidates = wording.candidates[number]

    def words(ids: Tensor, offsets: Tensor) -> list[str]:
        return [wording.words[i] for i in ids[offsets[number] : offsets[number + 1]].tolist()]

    def at(values: Tensor | None, step: int, digits: int | None = None) -> Any:
        """The last step writes nothing, so it has neither gate nor chance to halt."""
        if values is None or step >= len(values):
            return None
        exact = values[step].tolist()
        return exact if digits is None else [round(value, digits) for value in exact]

    steps = []
    for step, probabilities in enumerate(found.step_probabilities):
        best = int(probabilities.argmax())
        steps.append(
            {
                **{"key": at(found.keys, step, DIGITS), "gate": at(found.gates, step, DIGITS)},
                **{"halting": at(found.halting, step), "weight": at(found.weights, step)},
                **{"answer": candidates[best], "probability": probabilities[best].item()},
            }
        )
    document = words(questions.document_ids, questions.document_offsets)
    return {
        "number": number,
        "document": document,
        "query": words(questions.query_ids, questions.query_offsets),
        "candidates": candidates,
        "answer": candidates[int(questions.answers[number])],
        "predicted": candidates[int(found.probabilities.argmax())],
        "attended": attended(document, found.attention.sum(dim=0)),
        "steps": steps,
    }


def attended(document: list[str], weights: Tensor) -> list[str]:
    """Return the words with most attention, summed over their places."""
    sums: dict[str, float] = {}
    for word, weight in zip(document, weights.tolist(), strict=True):
        sums[word] = sums.get(word, 0.0) + weight
    return sorted(sums, key=lambda word: -sums[word])[:ATTENDED]


def main() -> None:
    """Write artifacts/cloze/."""
    params = load_params()
    study, execution = params.cloze, execution_settings(params)
    execution = replace(execution, data_folder=artifacts("cloze_data"))
    manifest = read_json("cloze_data", "manifest.json")
    asked = manifest["kinds"]
    trained = train("cloze", plan(study), execution, lambda of: str(asked[of.questions]["digest"]))
    folders = {kind: artifacts("cloze_data", kind) for kind in study.question_types}
    splits = {
        kind: {name: QuestionTensors.load(folder / f"{name}.pt") for name in SPLITS}
        for kind, folder in folders.items()
    }
    store, traces = TrialStore(execution.trials), list[str]()
    results: list[TableRow] = []
    steps: list[TableRow] = []
    for run, record in tqdm(trained, "cloze", unit="reader"):
        config, kind = run.config, run.config.questions
        words = WordRows.load(folders[kind] / "vectors.pt")
        reader = load_reader(config, words, BytesIO(store.weights(record.key)))
        dev, test = (
            evaluate(reader, splits[kind][split], config.training.evaluation_batch_size)
            for split in ("dev", "test")
        )
        results.append(reader_result(run, record, test))
        steps += step_rows(run.seeded, dev)
        if config.seed == study.seeds[0] and config.reader.steps > 1:
            wording, questions = load_wording(folders[kind]), splits[kind]["dev"]
            for number in range(min(study.traced, len(questions))):
                line = run.seeded | query_trace(reader, questions, number, wording)
                traces.append(json.dumps(line, ensure_ascii=False) + "\n")
    articles = {k: np.loadtxt(f / ARTICLES, dtype=np.int64, ndmin=1) for k, f in folders.items()}
    runs = compare_runs(results, articles)
    tables = {
        "results": results,
        "runs": runs,
        "steps": steps,
        "baselines": [
            r for k, of in splits.items() for r in baseline_rows(k, manifest["source"], of)
        ],
        "history": history_rows(trained),
    }
    write_text(artifacts("cloze", "queries.jsonl"), "".join(traces))
    kept = ("dev_accuracy_mean", "test_accuracy_mean", "difference")
    write_study("cloze", trained, summarise(runs, "questions", "run", *kept), **tables)


if __name__ == "__main__":
    run_stage(main)
