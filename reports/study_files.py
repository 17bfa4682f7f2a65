"""What the studies and the stage `evaluate` store about steps: columns, and what must hold."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from actmodels.registry import HALTINGS
from reports.reading import (
    Kind,
    Source,
    coefficient,
    name,
    number,
    optional_number,
    share,
    text,
    whole,
)

FIDELITY: dict[str, Kind] = {
    **{"model": name, "variant": name, "changes": text, "seeds": whole},
    **{"dev_accuracy_mean": share, "dev_accuracy_sd": optional_number},
    **{"test_accuracy_mean": share, "test_accuracy_sd": optional_number},
    **{"test_mean_steps": optional_number, "difference": number, "low": number, "high": number},
    **{"largest_p": share, "pairs": whole},
}
HALTING: dict[str, Kind] = {
    **{"kind": name, "point": name, "seeds": whole},
    **{"dev_accuracy_mean": share, "dev_accuracy_sd": optional_number},
    **{"mean_steps_mean": number, "mean_steps_sd": optional_number},
    **{"collapsed": share, "ponder_weight_end_mean": optional_number},
}
SECONDS: dict[str, Kind] = {"seed": whole, "epochs": whole, "seconds": number}
FIDELITY_TIMINGS: dict[str, Kind] = {"model": name, "variant": name, **SECONDS}
HALTING_TIMINGS: dict[str, Kind] = {"kind": name, "point": name, **SECONDS}
RUN: dict[str, Kind] = {"model": name, "seed": whole}
LENGTHS = RUN | {"mean_length": number, "steps": whole, "pairs": whole}
CORRELATIONS = RUN | {
    "steps_against": name,
    "pairs": whole,
    "pearson": coefficient,
    "spearman": coefficient,
}
PAIRED: dict[str, Kind] = {
    **{"model": name, "reference": name, "seeds": whole, "difference": number},
    **{"low": number, "high": number, "largest_p": share, "pairs": whole},
}
PREDICTIONS: dict[str, Kind] = {
    **{"model": name, "seed": whole, "pair_id": name},
    **{"label": name, "predicted": name, "steps": optional_number},
}
LABELS = {
    "entailment": "entailments",
    "neutral": "neutral pairs",
    "contradiction": "contradictions",
}  # each with what its pairs are called
AGAINST: Mapping[str, str] = {
    "mean_length": "mean sentence length",
    "depth": "recorded depth",
}


def check_paired(root: Path, paired: pd.DataFrame, models: Sequence[str], words: str) -> None:
    """Every tested model and the classifier on words stand beside one reference, once."""
    source = Source(root, "evaluate", "paired.csv")
    references = set(paired["reference"])
    if len(references) != 1 or not references <= set(models):
        several = ", ".join(sorted(references)) or "none"
        raise source.stale(f"must have one tested model as reference, not {several}")
    found, wanted = sorted(paired["model"]), sorted({*models, words} - references)
    if found != wanted:
        raise source.stale(f"compares {', '.join(found)}; must compare {', '.join(wanted)}")


def check_history(root: Path, history: pd.DataFrame, trials: pd.DataFrame) -> None:
    """The sweep's epochs are those of its trials."""
    source = Source(root, "sweep", "history.csv")
    found, wanted = set(history["key"]), set(trials["key"])
    for key in sorted(wanted - found):
        raise source.damaged(f"lacks trial {key}")
    for key in sorted(found - wanted):
        raise source.damaged(f"has trial {key}, which trials.csv has not")


def check_fidelity(
    root: Path, variants: pd.DataFrame, timings: pd.DataFrame, swept: Sequence[str]
) -> None:
    """Every variant is there once, and the first of each model is the reference."""
    source = Source(root, "fidelity", "variants.csv")
    check_once(source, variants, "model", "variant")
    for model, rows in variants.groupby("model", sort=False):
        if model not in swept:
            raise source.stale(f"has the model {model}, which was not swept")
        first = rows.iloc[0]
        if first["difference"] != 0:
            raise source.damaged(
                f"{model}: {first['variant']}, its first variant, differs by "
                f"{first['difference']}; must be 0, as the others are compared with it"
            )
    for _, row in variants[variants["low"] > variants["high"]].iterrows():
        raise source.damaged(f"{row['model']}, {row['variant']}: low is above high")
    _check_timings(Source(root, "fidelity", "timings.csv"), timings, variants, "model", "variant")


def check_halting(root: Path, points: pd.DataFrame, timings: pd.DataFrame) -> None:
    """Every point is there once, and its kind is known."""
    source = Source(root, "halting", "points.csv")
    if unknown := sorted(set(points["kind"]) - set(HALTINGS)):
        raise source.damaged(f"has the kind {unknown[0]!r}; must be one of {', '.join(HALTINGS)}")
    check_once(source, points, "kind", "point")
    _check_timings(Source(root, "halting", "timings.csv"), timings, points, "kind", "point")


def check_once(source: Source, table: pd.DataFrame, *columns: str) -> None:
    """No two rows are of the same."""
    for _, row in table[table.duplicated(list(columns))].iterrows():
        raise source.damaged(f"has {', '.join(str(row[column]) for column in columns)} twice")


def _check_timings(source: Source, timings: pd.DataFrame, table: pd.DataFrame, *by: str) -> None:
    """As many runs were timed as are in the table."""
    timed = Counter(zip(*(timings[column] for column in by), strict=True))
    wanted = dict(zip(zip(*(table[c] for c in by), strict=True), table["seeds"], strict=True))
    for place in sorted(set(timed) | set(wanted)):
        found, count = timed[place], wanted.get(place, 0)
        if found != count:
            raise source.damaged(f"has {found} runs of {', '.join(place)}; must be {count}")


def check_steps(
    root: Path, lengths: pd.DataFrame, correlations: pd.DataFrame, results: pd.DataFrame
) -> None:
    """Each evaluated model that takes steps is there, and its steps are those of results.csv."""
    measured = results[results["test_mean_steps"].notna()]
    columns = (measured[name] for name in ("model", "seed", "test_pairs", "test_mean_steps"))
    known = {(model, seed): figures for model, seed, *figures in zip(*columns, strict=True)}
    for file, table in (("lengths.csv", lengths), ("correlations.csv", correlations)):
        source = Source(root, "evaluate", file)
        found = set(zip(table["model"], table["seed"], strict=True))
        for model, seed in sorted(set(known) - found):
            raise source.stale(f"lacks seed {seed} of {model}, which was evaluated")
        for model, seed in sorted(found - set(known)):
            raise source.stale(f"has seed {seed} of {model}, which took no steps on test")
    source = Source(root, "evaluate", "lengths.csv")
    for (model, seed), (pairs, mean) in known.items():
        rows = lengths[(lengths["model"] == model) & (lengths["seed"] == seed)]
        where, counted = f"{model}, seed {seed}", int(rows["pairs"].sum())
        if counted != pairs:
            raise source.damaged(f"{where}: has {counted} pairs where results.csv has {pairs}")
        taken = float((rows["steps"] * rows["pairs"]).sum()) / counted
        if abs(taken - mean) > 1e-9:
            raise source.damaged(f"{where}: {taken!r} mean steps where results.csv has {mean!r}")
    source = Source(root, "evaluate", "correlations.csv")
    if unknown := sorted(set(correlations["steps_against"]) - set(AGAINST)):
        allowed = ", ".join(AGAINST)
        raise source.damaged(f"steps_against is {unknown[0]!r}; must be one of {allowed}")
    check_once(source, correlations, "model", "seed", "steps_against")
