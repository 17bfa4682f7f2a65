"""What stage `nse` tells of trained readers: rows of its tables, and how a query is rewritten."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from actmodels.figures import mean_and_sd
from actmodels.reader.config import ReaderTrialConfig
from actmodels.reader.evaluation import QueryTrace, ReaderEvaluation, trace_query
from actmodels.reader.model import Reader
from actmodels.reader.questions import (
    FIRST_WORD,
    PLACEHOLDER,
    UNKNOWN,
    QuestionTensors,
    most_frequent_accuracy,
)
from actmodels.records import TrialRecord
from pipeline.measures.over_seeds import Row
from pipeline.measures.paired import Groups, Hits, against_first
from pipeline.sources.question import BLANK
from pipeline.sources.tokens import read_words
from pipeline.studies.study import Run, result_row

ReaderRun = Run[ReaderTrialConfig]
ATTENDED = 3  # most attended words that are named, as in the paper's appendix A
DIGITS = 4


def reader_result(run: ReaderRun, record: TrialRecord, test: ReaderEvaluation) -> Row:
    """What training says of a reader, and what the test split says."""
    reader, (mean_steps, _) = run.config.reader, mean_and_sd(test.steps)
    return result_row(run, record) | {
        "strategy": reader.strategy,
        "steps": reader.steps,
        "test_accuracy": test.accuracy,
        "test_questions": len(test.answers),
        "test_mean_steps": mean_steps,
    }


def step_rows(seeded: Mapping[str, Any], dev: ReaderEvaluation) -> list[Row]:
    """One line per step: what it counts in the answers to dev, and how good its own are."""
    right = dev.step_predictions == dev.answers[:, None]
    weights, accuracies = dev.weights.double().mean(dim=0), right.double().mean(dim=0)
    return [
        {**seeded, "step": step, "weight": weight, "accuracy": accuracy}
        for step, (weight, accuracy) in enumerate(
            zip(weights.tolist(), accuracies.tolist(), strict=True), start=1
        )
    ]


def baseline_rows(kind: str, source: str, splits: Mapping[str, QuestionTensors]) -> list[Row]:
    """One line per split: what needs no reading."""
    return [
        {
            "questions": kind,
            "source": source,
            "split": split,
            "count": len(questions),
            "candidates": questions.candidate_counts.double().mean().item(),
            "random": (1 / questions.candidate_counts.double()).mean().item(),
            "most_frequent": most_frequent_accuracy(questions),
        }
        for split, questions in splits.items()
    ]


def compare_runs(
    rows: Sequence[Row], hits: Sequence[Hits], articles: Mapping[str, Groups]
) -> list[Row]:
    """One line per run: mean and sd over seeds, and the difference from the first of its kind.

    Seeds are not paired: runs of one seed begin with the same words' rows, but with other numbers
    of steps they soon have nothing else in common.

    Args:
        articles: which test questions of each kind are of one article.
    """
    found = against_first(rows, hits, "questions", "run", articles, seeds_paired=False)
    labels = ("questions", "run", "strategy", "steps")
    return [{name: own[0][name] for name in labels} | together for own, together in found]


@dataclass(frozen=True)
class Wording:
    """The words behind the tensors of the dev split.

    words: by token id. candidates: of each question.
    """

    words: list[str]
    candidates: list[list[str]]

    @classmethod
    def load(cls, folder: Path) -> "Wording":
        """Read what the stage `questions` wrote for one kind."""
        special = [""] * FIRST_WORD
        special[UNKNOWN], special[PLACEHOLDER] = "<unknown>", BLANK
        lines = (folder / "dev_candidates.tsv").read_text(encoding="utf-8").split("\n")[:-1]
        words = special + read_words(folder / "words.tsv")
        return cls(words, [line.split("\t") for line in lines])

    def text(self, ids: Tensor) -> list[str]:
        """Words of token ids."""
        return [self.words[i] for i in ids.tolist()]


def query_trace(
    reader: Reader, questions: QuestionTensors, number: int, wording: Wording
) -> dict[str, Any]:
    """What the reader does with dev question `number`; in words and numbers.

    Returns:
        document, query and candidates as words, the right answer and the reader's; attended, the
        words of the document with most attention, all steps together, each word once; for each
        step z_t as key, g_t as gate and e_t as halting (None where there is none), p_t as weight,
        and the answer that the step would give by itself with its probability.
    """
    found = trace_query(reader, questions, number)
    at = slice(*questions.document_offsets[number : number + 2].tolist())
    asked = slice(*questions.query_offsets[number : number + 2].tolist())
    document = wording.text(questions.document_ids[at])
    candidates = wording.candidates[number]
    return {
        "number": number,
        "document": document,
        "query": wording.text(questions.query_ids[asked]),
        "candidates": candidates,
        "answer": candidates[int(questions.answers[number])],
        "predicted": candidates[int(found.probabilities.argmax())],
        "attended": attended(document, found.attention.sum(dim=0)),
        "steps": [step(found, place, candidates) for place in range(len(found.weights))],
    }


def attended(document: list[str], weights: Tensor) -> list[str]:
    """The words with most attention, wherever they stand."""
    sums: dict[str, float] = {}
    for word, weight in zip(document, weights.tolist(), strict=True):
        sums[word] = sums.get(word, 0.0) + weight
    return sorted(sums, key=lambda word: -sums[word])[:ATTENDED]


def step(found: QueryTrace, place: int, candidates: list[str]) -> dict[str, Any]:
    """One step; the last one writes nothing, so it has neither gate nor chance to halt."""

    def listed(values: Tensor | None) -> list[float] | None:
        if values is None or place >= len(values):
            return None
        return [round(value, DIGITS) for value in values[place].tolist()]

    halting = None
    if found.halting is not None and place < len(found.halting):
        halting = found.halting[place].item()
    best = int(found.step_probabilities[place].argmax())
    return {
        "key": listed(found.keys),
        "gate": listed(found.gates),
        "halting": halting,
        "weight": found.weights[place].item(),
        "answer": candidates[best],
        "probability": found.step_probabilities[place, best].item(),
    }
