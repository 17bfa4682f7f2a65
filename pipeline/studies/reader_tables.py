"""The tables of the stage `nse`: what trained readers did, row by row."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from actmodels.comprehension.baseline import most_frequent_accuracy
from actmodels.comprehension.config import ReaderTrialConfig
from actmodels.comprehension.evaluation import ReaderEvaluation
from actmodels.comprehension.questions import QuestionTensors
from actmodels.records import TrialRecord
from actmodels.rows.columns import columns
from actmodels.rows.readers import ReaderEpoch, ReaderResult
from pipeline.measures.paired import Hits, compare
from pipeline.studies.study import trained
from tune.selection import sample_sd

RESULTS, HISTORY = columns(ReaderResult), columns(ReaderEpoch, after="seed")


class Scored(NamedTuple):
    """A line of results.csv, and the answers to the test split behind it."""

    row: dict[str, Any]
    test: ReaderEvaluation

    @property
    def hits(self) -> Hits:
        """1 for a right answer, 0 for a wrong one [questions]."""
        return (self.test.predictions == self.test.answers).double().numpy()


def result_row(
    seeded: Mapping[str, Any], config: ReaderTrialConfig, record: TrialRecord
) -> dict[str, Any]:
    """What training says of a reader: figures of its best dev epoch."""
    best, reader = record.best, config.reader
    return {
        **seeded,
        "strategy": reader.strategy,
        "steps": reader.steps,
        **trained(record),
        **{name: getattr(best, name) for name in RESULTS if name.startswith("dev_")},
    }


def history_rows(seeded: Mapping[str, Any], record: TrialRecord) -> list[dict[str, Any]]:
    """One line per epoch."""
    return [
        {**seeded, **{name: getattr(epoch, name) for name in HISTORY}} for epoch in record.history
    ]


def step_rows(seeded: Mapping[str, Any], dev: ReaderEvaluation) -> list[dict[str, Any]]:
    """One line per step: what it counts in the answers to dev, and how good its own are."""
    right = dev.step_predictions == dev.answers[:, None]
    weights, accuracies = dev.weights.double().mean(dim=0), right.double().mean(dim=0)
    return [
        {**seeded, "step": step, "weight": weight, "accuracy": accuracy}
        for step, (weight, accuracy) in enumerate(
            zip(weights.tolist(), accuracies.tolist(), strict=True), start=1
        )
    ]


def baseline_rows(
    kind: str, source: str, splits: Mapping[str, QuestionTensors]
) -> list[dict[str, Any]]:
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


def compare_runs(scored: Sequence[Scored], resamples: int) -> list[dict[str, Any]]:
    """One line per run: mean and sd over seeds, and the difference from the first of its kind.

    Seeds are drawn apart for the two: runs of one seed begin with the same words' rows, but with
    other numbers of steps they soon have nothing else in common.
    """
    together: dict[tuple[str, str], list[Scored]] = {}
    for one in scored:
        together.setdefault((one.row["questions"], one.row["run"]), []).append(one)
    first: dict[str, Hits] = {}
    table = []
    for (questions, run), found in together.items():
        hits = np.stack([one.hits for one in found])
        reference = first.setdefault(questions, hits)
        comparison = compare(reference, hits, resamples, seed=0, seeds_paired=reference is hits)
        rows = [one.row for one in found]
        dev, test = ([row[f"{split}_accuracy"] for row in rows] for split in ("dev", "test"))
        table.append(
            {
                "questions": questions,
                "run": run,
                "strategy": rows[0]["strategy"],
                "steps": rows[0]["steps"],
                "seeds": len(rows),
                "dev_accuracy_mean": statistics.fmean(dev),
                "dev_accuracy_sd": sample_sd(dev),
                "test_accuracy_mean": statistics.fmean(test),
                "test_accuracy_sd": sample_sd(test),
                "test_mean_steps": statistics.fmean(row["test_mean_steps"] for row in rows),
                **comparison._asdict(),
            }
        )
    return table
