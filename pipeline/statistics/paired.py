"""Test the difference between two models on the same pairs, over seeds and pairs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from actmodels.errors import ArtifactError
from actmodels.training import Evaluation
from pipeline.runtime.results import TableRow
from pipeline.statistics.aggregate import grouped, mean, over_seeds

Hits = NDArray[np.float64]
Groups = NDArray[np.int64]
HitsBySeed = dict[int, Hits]  # seed -> [pairs]: 1 correct, 0 wrong, nan not scored


class PairedTest(NamedTuple):
    """The difference of a model from a reference, in accuracy in [0, 1]; or another mean.

    difference: mean accuracy minus the reference's, over the pairs that both scored.
    low, high: its 95 % confidence interval; with one seed, over pairs alone.
    p: two-sided p-value of no difference; None with one seed, or without variance.
    pairs: the number of pairs that both scored.
    """

    difference: float
    low: float
    high: float
    p: float | None
    pairs: int


def compare(
    reference: Hits, other: Hits, groups: Groups, *, seeds_paired: bool = True
) -> PairedTest:
    """Compare replicates of two models, paired by pair and optionally by seed; see estimate.

    Args:
        reference, other: 1 correct, 0 wrong, nan not scored [seeds, pairs]; rows with the same
            index have the same seed.
        groups: the group number of each pair [pairs].
        seeds_paired: whether runs with the same seed have the same initialization, as for variants
            of one model. Otherwise each model has its own variance over seeds.
    """
    scored = ~np.isnan(reference + other).any(axis=0)
    gain = (other - reference)[:, scored]
    runs = [gain] if seeds_paired else [reference[:, scored], other[:, scored]]
    return estimate(gain, groups[scored], runs)


def estimate(values: Hits, groups: Groups, runs: Sequence[Hits] | None = None) -> PairedTest:
    """Estimate a mean over pairs by Student's t, with its variance over seeds and over pairs.

    The variance of the mean is the sum of the variances over seeds and over groups of pairs. Their
    interaction counts in both, which is conservative. Degrees of freedom are those of Welch and
    Satterthwaite. tests/pipeline/statistics/test_simulated.py checks that at most 6 % of the
    intervals exclude zero if there is no difference.

    Args:
        values: [seeds, pairs].
        groups: the group number of each pair [pairs]. Pairs of a group share their premise or
            article, so their values are not independent.
        runs: whose variances over seeds are summed, each [seeds, pairs]; by default the values'.
    """
    mean, (seeds, pairs) = float(values.mean()), values.shape
    # variances of the mean, with their degrees of freedom
    parts = [_over_groups(values.mean(axis=0), groups)]
    for run in [values] if runs is None else runs:
        if seeds > 1:
            parts.append((float(run.mean(axis=1).var(ddof=1)) / seeds, seeds - 1))
    variance = sum(part for part, _ in parts)
    if variance == 0:
        p, margin = None, 0.0
    else:
        freedom = variance**2 / sum(part**2 / degrees for part, degrees in parts)
        error = variance**0.5
        margin = float(stdtrit(freedom, 0.975)) * error
        p = 2 * float(stdtr(freedom, -abs(mean) / error))
    return PairedTest(mean, mean - margin, mean + margin, p if seeds > 1 else None, pairs)


def _over_groups(gain: Hits, groups: Groups) -> tuple[float, int]:
    """Return the variance of the mean of `gain` [pairs] over groups, and its degrees of freedom.

    With a single group, each pair is its own group.
    """
    _, group = np.unique(groups, return_inverse=True)
    sums = np.bincount(group, gain - gain.mean())
    if len(sums) == 1:
        sums = gain - gain.mean()
    count = len(sums)
    return float((sums**2).sum()) * count / max(count - 1, 1) / len(gain) ** 2, max(count - 1, 1)


def split_hits(result: Evaluation, pairs: int) -> Hits:
    """Return the hits of a model on a split [pairs]: 1 correct, 0 wrong, nan not scored."""
    hits = np.full(pairs, np.nan)
    hits[result.rows.numpy()] = (result.predictions == result.labels).double().numpy()
    return hits


def prediction_hits(predictions: Iterable[TableRow], pair_ids: Sequence[str]) -> Hits:
    """Return the hits of a run in the order of `pair_ids` [pairs]; nan where not scored.

    Args:
        predictions: rows with model, pair_id, label and predicted.

    Raises:
        ArtifactError: a row has a pair_id that is not in `pair_ids`.
    """
    indices = {pair_id: index for index, pair_id in enumerate(pair_ids)}
    hits = np.full(len(pair_ids), np.nan)
    for row in predictions:
        if (index := indices.get(row["pair_id"])) is None:
            message = f"{row['model']} was scored on pair {row['pair_id']}, which is no test pair"
            raise ArtifactError(f"{message}; run: dvc repro lexical_baseline evaluate")
        hits[index] = row["label"] == row["predicted"]
    return hits


def paired_rows(models: Mapping[str, HitsBySeed], reference: str, groups: Groups) -> list[TableRow]:
    """Return one row for each model but the reference, with its difference from the reference.

    Runs are matched by seed but not paired: in different models a seed has no common meaning. A
    deterministic model (one run, seed 0) is matched with each seed of the reference.
    """
    rows = []
    base = models[reference]
    for model, hits in models.items():
        if model == reference:
            continue
        seeds = sorted(base.keys() & hits.keys())
        if not seeds and len(hits) == 1:
            hits = dict.fromkeys(base, next(iter(hits.values())))
            seeds = sorted(base)
        if not seeds:
            message = f"{model} and {reference} share no seed, so they cannot be compared"
            raise ArtifactError(f"{message}; run: dvc repro retrain evaluate")
        one, two = (np.stack([runs[seed] for seed in seeds]) for runs in (base, hits))
        test = compare(one, two, groups, seeds_paired=False)
        rows.append({"model": model, "reference": reference, "seeds": len(seeds), **test._asdict()})
    return rows


def against_first(
    rows: Sequence[TableRow],
    outer: str,
    inner: str,
    groups: Mapping[Any, Groups],
    *kept: str,
    seeds_paired: bool,
) -> list[TableRow]:
    """Compare each run with the first run of its group.

    Args:
        rows: one row per run and seed; `hits` is [pairs].
        outer, inner: the columns of the group, and of the run in the group.
        groups: of the pairs, by the value of `outer`; see compare.
        kept: further columns of a run, equal for all seeds.
        seeds_paired: see compare.

    Returns:
        A row for each run: its columns, mean and sd over seeds, and the fields of PairedTest.
    """
    first: dict[Any, Hits] = {}
    results = []
    for (group, run), replicates in grouped(rows, outer, inner).items():
        hits = np.stack([row["hits"] for row in replicates])
        reference = first.setdefault(group, hits)
        paired = seeds_paired or reference is hits
        results.append(
            {outer: group, inner: run}
            | {name: replicates[0][name] for name in kept}
            | {"seeds": len(replicates), **over_seeds(replicates, "dev_accuracy", "test_accuracy")}
            | {"test_mean_steps": mean(replicates, "test_mean_steps")}
            | compare(reference, hits, groups[group], seeds_paired=paired)._asdict()
        )
    return results
