"""The part of the fixture that the studies and the steps are: called by write_fixture.

Differences and steps are chosen by hand; 12 variants, so that the figure is as full as a real one.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from actmodels.rows.columns import columns
from actmodels.rows.pairs import (
    Correlations,
    HaltingAtDepth,
    HaltingPoint,
    HaltingTime,
    Lengths,
    Prediction,
    Variant,
    VariantTime,
)
from tests.reports.write_characters import with_characters
from tests.reports.write_graves import graves

Table = tuple[list[str], list[list[Any]]]
DA, AA = "decomposable_attention", "adaptive_attention"
BOTH = "scrambled_alignment: True, no_mask: True"
ALL = f"{BOTH}, file_order_batches: True, dropped_last_batches: True"
REMAINDER = "batch_remainder: True"
# variant: changes, test accuracy, difference, low, high, largest p
VARIANTS: dict[str, dict[str, tuple[str, float, float, float, float, float]]] = {
    DA: {
        "corrected": ("", 0.81, 0.0, 0.0, 0.0, 1.0),
        "scrambled": ("scrambled_alignment: True", 0.785, -0.025, -0.034, -0.015, 0.0004),
        "unmasked": ("no_mask: True", 0.805, -0.005, -0.014, 0.004, 0.41),
        "scrambled and unmasked": (BOTH, 0.779, -0.031, -0.041, -0.02, 0.00001),
        "siblings": ("file_order_batches: True", 0.807, -0.003, -0.012, 0.007, 0.7),
        "dropped batches": ("dropped_last_batches: True", 0.811, 0.001, -0.007, 0.008, 1.0),
        "as published": (ALL, 0.77, -0.04, -0.052, -0.027, 0.00001),
        "unit vectors": ("unit_norm: True", 0.816, 0.006, -0.001, 0.013, 0.2),
        "raw vectors": ("unit_norm: False", 0.81, 0.0, 0.0, 0.0, 1.0),
        "small normal start": ("init: normal, init_std: 0.01", 0.8, -0.01, -0.017, -0.002, 0.04),
        "converged": ("max_epochs: 100, patience: 10", 0.832, 0.022, 0.012, 0.031, 0.002),
        "word types": ("oov_rule: own", 0.812, 0.002, -0.006, 0.01, 0.8),
    },
    AA: {
        "corrected": ("", 0.82, 0.0, 0.0, 0.0, 1.0),
        "compounding dropout": ("compounding_dropout: True", 0.815, -0.005, -0.015, 0.006, 0.5),
        "remainder on the batch's last state": (REMAINDER, 0.812, -0.008, -0.019, 0.003, 0.3),
        "no ponder cost": ("no_ponder_cost: True", 0.824, 0.004, -0.006, 0.013, 0.6),
        "as published": (ALL, 0.814, -0.006, -0.018, 0.007, 0.4),
    },
}
AA_STEPS = {"corrected": 4.5, "no ponder cost": 9.25}
# kind, point, dev accuracy and its sd, mean steps and their sd, collapsed, ponder weight
POINTS = [
    ("act", "ponder_weight 0.01", 0.70, 0.02, 1.1, 0.1, 1.0, 0.01),
    ("act", "ponder_weight 0.001", 0.74, 0.012, 4.0, 0.9, 0.0, 0.001),
    ("act", "ponder_weight 5e-05", 0.735, 0.015, 9.0, 2.5, 0.0, 5e-05),
    ("supervised_act", "ponder_weight 0.001", 0.745, 0.01, 3.6, 0.3, 0.0, 0.001),
    ("dact", "ponder_weight 0.01", 0.731, 0.011, 2.2, 0.5, 1 / 3, 0.01),
    ("ponder_net", "ponder_weight 0.01, prior_steps 3.0", 0.738, 0.009, 3.1, 0.1, 0.0, 0.01),
    ("ponder_net", "ponder_weight 0.01, prior_steps 6.0", 0.741, 0.013, 6.2, 0.2, 0.0, 0.01),
    ("fixed_steps", "steps 1", 0.705, 0.008, 1.0, 0.0, 1.0, None),
    ("fixed_steps", "steps 3", 0.739, 0.01, 3.0, 0.0, 0.0, None),
    ("fixed_steps", "steps 6", 0.742, 0.012, 6.0, 0.0, 0.0, None),
    ("target_steps", "target_steps 3.0", 0.737, 0.009, 3.06, 0.05, 0.0, 0.0021),
    ("target_steps", "target_steps 6.0", 0.72, 0.006, 5.7, 0.3, 0.0, -0.0004),
]
SEEDS = (1, 2, 3)
# Wrong answers of seeds 1, 2, 3 among each quarter of the test pairs, in the order of their steps.
WRONG = {
    DA: ((5, 5, 5, 5), (5, 5, 5, 4), (5, 5, 4, 4)),
    AA: ((10, 4, 2, 1), (11, 4, 3, 2), (12, 3, 2, 0)),
}
QUARTERS = ("entailment", "entailment", "neutral", "contradiction")  # gold labels


def fidelity() -> dict[str, Table]:
    """variants.csv and timings.csv."""
    rows, seconds = [], []
    for model, variants in VARIANTS.items():
        for name, (changes, test, *comparison) in variants.items():
            steps = AA_STEPS.get(name, 5.0) if model == AA else None
            accuracies = [round(test + 0.015, 4), 0.008, test, 0.011]
            pairs = 96 if "dropped" in changes else 100
            rows.append([model, name, changes, 3, *accuracies, steps, *comparison, pairs])
            seconds += [[model, name, seed, 15, 60.5 + seed] for seed in SEEDS]
    return {
        "variants.csv": (columns(Variant), rows),
        "timings.csv": (columns(VariantTime), seconds),
    }


def halting() -> dict[str, Table]:
    """points.csv, depth.csv and timings.csv; shallow pairs are 10 points easier than deep ones."""
    rows = [[kind, point, 3, *figures] for kind, point, *figures in POINTS]
    deep = [
        [kind, point, seed, depth, 50, round(accuracy + 0.15 - 0.1 * depth + 0.01 * seed, 4), steps]
        for kind, point, accuracy, _, steps, *_ in POINTS
        for seed in SEEDS
        for depth in (1, 2)
    ]
    seconds = [[kind, point, seed, 6, 30.0] for kind, point, *_ in POINTS for seed in SEEDS]
    return {
        "points.csv": (columns(HaltingPoint), rows),
        "depth.csv": (columns(HaltingAtDepth), deep),
        "timings.csv": (columns(HaltingTime), seconds),
    }


def steps(means: dict[int, float], pairs: int) -> dict[str, Table]:
    """lengths.csv and correlations.csv of AA, whose steps have the given mean for each seed."""
    lengths: list[list[Any]] = []
    correlations: list[list[Any]] = []
    for seed, mean in means.items():
        for taken, of in enumerate(_spread(mean, pairs)):
            lengths += [[AA, seed, length, taken, n] for length, n in _lengths(taken, of)]
        correlations.append([AA, seed, "mean_length", pairs, 0.05 * seed, 0.04 * seed])
        correlations.append([AA, seed, "depth", pairs, 0.3 + 0.02 * seed, 0.28 + 0.02 * seed])
    return {
        "lengths.csv": (columns(Lengths), lengths),
        "correlations.csv": (columns(Correlations), correlations),
    }


def predictions(means: dict[int, float], pairs: int) -> Table:
    """predictions.csv: the steps of AA are those of lengths.csv; DA takes none."""
    rows: list[list[Any]] = []
    quarter = pairs // 4
    for model, seeds in WRONG.items():
        for seed, wrong in zip(SEEDS, seeds, strict=True):
            counts = enumerate(_spread(means[seed], pairs))
            steps = [taken if model == AA else None for taken, of in counts for _ in range(of)]
            for at in range(pairs):
                label = QUARTERS[at // quarter]
                missed = "neutral" if label == "entailment" else "entailment"
                predicted = missed if at % quarter < wrong[at // quarter] else label
                rows.append([model, seed, f"test-{at:03d}", label, predicted, steps[at]])
    return columns(Prediction), rows


def _spread(mean: float, pairs: int) -> Sequence[int]:
    """How many pairs take 0, 1, 2 … steps: half of them around the mean, a quarter on each side."""
    half = round(2 * mean)
    low, high = half // 2, half - half // 2
    counts = [0] * (high + 3)
    for at in (low, high):
        counts[at] += pairs // 4
    counts[low - 2] += pairs // 4
    counts[high + 2] += pairs - 3 * (pairs // 4)
    return counts


def _lengths(steps: int, pairs: int) -> list[tuple[float, int]]:
    """Longer sentences with more steps, in halves of a token."""
    at = 7.0 + steps / 2
    parts = [(at, pairs // 2), (at + 1.5, pairs // 5), (at - 1, pairs - pairs // 2 - pairs // 5)]
    return [(length, count) for length, count in sorted(parts) if count]


def studies(means: dict[int, float], pairs: int) -> dict[Path, Table]:
    """All tables by their place under artefacts/."""
    stages = {"fidelity": fidelity(), "halting": halting(), "graves": with_characters(graves())}
    stages["evaluate"] = {**steps(means, pairs), "predictions.csv": predictions(means, pairs)}
    return {
        Path(stage, file): table for stage, part in stages.items() for file, table in part.items()
    }
