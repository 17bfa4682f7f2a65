"""Two models on the same pairs: is the difference more than seeds and pairs explain?"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from actmodels.errors import ArtifactError
from actmodels.evaluation import Evaluation
from pipeline.runtime.results import TableRow
from pipeline.statistics.aggregate import grouped, mean, spread

Hits = NDArray[np.float64]
Groups = NDArray[np.int64]
HitsBySeed = dict[int, Hits]  # seed -> [pairs], 1 right, 0 wrong, nan not scored


class PairedTest(NamedTuple):
    """A model against a reference; accuracies in [0, 1].

    difference: mean accuracy minus the reference's, over the pairs that both scored.
    low, high: its 95 % interval. p: of no difference, two-sided; None with one seed, where the
        interval is that of the pairs alone.
    pairs: the number that both scored.
    """

    difference: float
    low: float
    high: float
    p: float | None
    pairs: int


def compare(
    reference: Hits, other: Hits, groups: Groups, *, seeds_paired: bool = True
) -> PairedTest:
    """Compare replicates of two models, seed by seed and pair by pair, by Student's t.

    The variance of the difference is that over seeds plus that over groups of pairs, as if the two
    were independent; their interaction is in both, which errs on the safe side. Its degrees of
    freedom are Welch's and Satterthwaite's. Where nothing differs, 5 % of the intervals should
    leave out zero: tests/pipeline/statistics/test_simulated.py counts them.

    Args:
        reference, other: 1 right, 0 wrong, nan not scored, [seeds, pairs]; row i of both was
            trained from the same seed.
        groups: a number for each pair [pairs]; pairs of one group share their premise or article,
            so that their hits are not independent.
        seeds_paired: whether the same seed means the same start, as for variants of one model.
            Otherwise each model has a variance of its own.
    """
    scored = ~np.isnan(reference + other).any(axis=0)
    reference, other = reference[:, scored], other[:, scored]
    seeds, pairs = reference.shape
    gain = other - reference
    difference = float(gain.mean())
    # variances of the mean, each with its degrees of freedom
    parts = [_over_groups(gain.mean(axis=0), groups[scored])]
    for runs in [gain] if seeds_paired else [reference, other]:
        if seeds > 1:
            parts.append((float(runs.mean(axis=1).var(ddof=1)) / seeds, seeds - 1))
    variance = sum(of for of, _ in parts)
    if variance == 0:
        p, margin = float(difference == 0), 0.0
    else:
        freedom = variance**2 / sum(of**2 / own for of, own in parts)
        error = variance**0.5
        margin = float(stdtrit(freedom, 0.975)) * error
        p = 2 * float(stdtr(freedom, -abs(difference) / error))
    low, high = difference - margin, difference + margin
    return PairedTest(difference, low, high, p if seeds > 1 else None, pairs)


def _over_groups(gain: Hits, groups: Groups) -> tuple[float, int]:
    """Return the variance of the mean of `gain` [pairs] over random groups, and its freedom.

    With one group for all, pairs are taken one by one.
    """
    _, group = np.unique(groups, return_inverse=True)
    sums = np.bincount(group, gain - gain.mean())
    if len(sums) == 1:
        sums = gain - gain.mean()
    count = len(sums)
    return float((sums**2).sum()) * count / (count - 1) / len(gain) ** 2, count - 1


def split_hits(result: Evaluation, pairs: int) -> Hits:
    """Return which pairs of a split a model has right [pairs]; nan where it scored none."""
    hits = np.full(pairs, np.nan)
    hits[result.rows.numpy()] = (result.predictions == result.labels).double().numpy()
    return hits


def hits_by_model(predictions: Iterable[TableRow], pair_ids: list[str]) -> dict[str, HitsBySeed]:
    """Return the hits of each run, in the order of `pair_ids`; models in the order of the rows.

    Args:
        predictions: rows with model, seed, pair_id, label and predicted.

    Raises:
        ArtifactError: a row is about a pair that is not among `pair_ids`.
    """
    places = {pair_id: place for place, pair_id in enumerate(pair_ids)}
    found: dict[str, HitsBySeed] = {}
    for row in predictions:
        seeds = found.setdefault(str(row["model"]), {})
        hits = seeds.setdefault(int(row["seed"]), np.full(len(pair_ids), np.nan))
        if (place := places.get(str(row["pair_id"]))) is None:
            message = f"{row['model']} was scored on pair {row['pair_id']}, which is no test pair"
            raise ArtifactError(f"{message}; run: dvc repro lexical_baseline evaluate")
        hits[place] = row["label"] == row["predicted"]
    return found


def paired_rows(found: Mapping[str, HitsBySeed], reference: str, groups: Groups) -> list[TableRow]:
    """Return each model's difference from `reference`, with its interval; it has no row itself.

    Runs are matched by seed, which means nothing else in different models. A model without
    randomness (one run, seed 0) is matched with each seed of the reference.
    """
    rows = []
    theirs = found[reference]
    for model, ours in found.items():
        if model == reference:
            continue
        seeds = sorted(theirs.keys() & ours.keys())
        if not seeds and len(ours) == 1:
            ours = dict.fromkeys(theirs, next(iter(ours.values())))
            seeds = sorted(theirs)
        if not seeds:
            message = f"{model} and {reference} share no seed, so they cannot be compared"
            raise ArtifactError(f"{message}; run: dvc repro retrain evaluate")
        one, two = (np.stack([hits[seed] for seed in seeds]) for hits in (theirs, ours))
        test = compare(one, two, groups, seeds_paired=False)
        rows.append({"model": model, "reference": reference, "seeds": len(seeds), **test._asdict()})
    return rows


def against_first(
    rows: Sequence[TableRow],
    outer: str,
    inner: str,
    groups: Mapping[Any, Groups],
    *,
    seeds_paired: bool,
) -> dict[tuple[Any, Any], TableRow]:
    """Compare each run with the first run of its group.

    Args:
        rows: with their hits [pairs]. groups: of the pairs, by the value of `outer`; see compare.
        seeds_paired: runs of one seed have something in common.

    Returns:
        by the values of outer and inner; mean and sd over seeds, and the fields of `PairedTest`.
    """
    first: dict[Any, Hits] = {}
    found = {}
    for (group, run), own in grouped(rows, outer, inner).items():
        hits = np.stack([row["hits"] for row in own])
        reference = first.setdefault(group, hits)
        paired = seeds_paired or reference is hits
        found[group, run] = {
            "seeds": len(own),
            **spread(own, "dev_accuracy"),
            **spread(own, "test_accuracy"),
            "test_mean_steps": mean(own, "test_mean_steps"),
            **compare(reference, hits, groups[group], seeds_paired=paired)._asdict(),
        }
    return found
