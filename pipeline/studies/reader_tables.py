"""The tables of the stage `nse`: what trained readers did, row by row."""

from collections.abc import Mapping, Sequence
from typing import Any

from actmodels.figures import mean_and_sd
from actmodels.reader.config import ReaderTrialConfig
from actmodels.reader.evaluation import ReaderEvaluation
from actmodels.reader.questions import QuestionTensors, most_frequent_accuracy
from actmodels.records import TrialRecord
from pipeline.measures.over_seeds import Row, mean, spread
from pipeline.measures.paired import Hits
from pipeline.studies.against_first import compared
from pipeline.studies.study import Run, result_row

ReaderRun = Run[ReaderTrialConfig]


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


def compare_runs(rows: Sequence[Row], hits: Sequence[Hits], resamples: int) -> list[Row]:
    """One line per run: mean and sd over seeds, and the difference from the first of its kind.

    Seeds are drawn apart for the two: runs of one seed begin with the same words' rows, but with
    other numbers of steps they soon have nothing else in common.
    """
    found = compared(rows, hits, "questions", "run", resamples, seeds_paired=False)
    return [
        {
            **{name: own[0][name] for name in ("questions", "run", "strategy", "steps")},
            "seeds": len(own),
            **spread(own, "dev_accuracy"),
            **spread(own, "test_accuracy"),
            "test_mean_steps": mean(own, "test_mean_steps"),
            **comparison._asdict(),
        }
        for own, comparison in found
    ]
