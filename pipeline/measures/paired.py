"""Two models on the same pairs: is the difference more than seeds and pairs can explain?"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from actmodels.errors import ArtefactError
from pipeline.measures.over_seeds import Row, grouped, mean, spread

Hits = NDArray[np.float64]
Groups = NDArray[np.int64]
HitsBySeed = dict[int, Hits]  # seed -> [pairs], 1 right, 0 wrong, nan not scored


class Comparison(NamedTuple):
    """A model against a reference; accuracies in [0, 1].

    difference: mean accuracy minus the reference's, over the pairs that both scored.
    low, high: its 95 % interval. p: of no difference, two-sided; None with one seed, which says
        nothing about others (the interval is then that of the pairs alone).
    pairs: how many both scored.
    """

    difference: float
    low: float
    high: float
    p: float | None
    pairs: int


class Part(NamedTuple):
    """A part of the variance of a mean, with its degrees of freedom."""

    variance: float
    freedom: int


def compare(
    reference: Hits, other: Hits, groups: Groups, *, seeds_paired: bool = True
) -> Comparison:
    """Compare replicates of two models, seed by seed and pair by pair, by Student's t.

    The variance of the difference is that over seeds plus that over groups of pairs, as if the two
    were independent; what seeds and pairs do together is in both, which errs on the safe side. Its
    degrees of freedom are Welch's and Satterthwaite's. Where nothing differs, 5 % of the intervals
    should leave out zero: tests/pipeline/measures/test_simulated.py counts them.

    Args:
        reference, other: 1 right, 0 wrong, nan not scored, [seeds, pairs]; row i of both was
            trained from the same seed.
        groups: a number for each pair [pairs]; pairs of one group have something in common (their
            premise, their article), so that their hits are not independent.
        seeds_paired: whether the same seed means the same start, as it does for variants of one
            model. Of models that share nothing but the number, each has a variance of its own.
    """
    scored = ~np.isnan(reference + other).any(axis=0)
    reference, other = reference[:, scored], other[:, scored]
    seeds, pairs = reference.shape
    gain = other - reference
    difference = float(gain.mean())
    parts = [_over_groups(gain.mean(axis=0), groups[scored])]
    for replicates in [gain] if seeds_paired else [reference, other]:
        parts += _over_seeds(replicates)
    variance = sum(part.variance for part in parts)
    if variance == 0:
        p, margin = float(difference == 0), 0.0
    else:
        freedom = variance**2 / sum(part.variance**2 / part.freedom for part in parts)
        error = variance**0.5
        margin = float(stdtrit(freedom, 0.975)) * error
        p = 2 * float(stdtr(freedom, -abs(difference) / error))
    low, high = difference - margin, difference + margin
    return Comparison(difference, low, high, p if seeds > 1 else None, pairs)


def _over_seeds(replicates: Hits) -> list[Part]:
    """That of the mean over seeds [seeds, pairs]; none with one seed."""
    of_seeds = replicates.mean(axis=1)
    if (seeds := len(of_seeds)) == 1:
        return []
    return [Part(float(of_seeds.var(ddof=1)) / seeds, seeds - 1)]


def _over_groups(gain: Hits, groups: Groups) -> Part:
    """That of the mean of `gain` [pairs] over groups drawn at random, each with all its pairs.

    With one group for all, which says nothing about others, pairs are taken one by one.
    """
    _, group = np.unique(groups, return_inverse=True)
    sums = np.bincount(group, gain - gain.mean())
    if len(sums) == 1:
        sums = gain - gain.mean()
    count = len(sums)
    return Part(float((sums**2).sum()) * count / (count - 1) / len(gain) ** 2, count - 1)


def hits_by_model(
    predictions: Iterable[Mapping[str, Any]], pair_ids: list[str]
) -> dict[str, HitsBySeed]:
    """Whether each run was right, in the order of `pair_ids`; models in the order of the rows.

    Args:
        predictions: rows with model, seed, pair_id, label and predicted.

    Raises:
        ArtefactError: a row is about a pair that is not among `pair_ids`.
    """
    places = {pair_id: place for place, pair_id in enumerate(pair_ids)}
    found: dict[str, HitsBySeed] = {}
    for row in predictions:
        seeds = found.setdefault(str(row["model"]), {})
        hits = seeds.setdefault(int(row["seed"]), np.full(len(pair_ids), np.nan))
        if (place := places.get(str(row["pair_id"]))) is None:
            message = f"{row['model']} was scored on pair {row['pair_id']}, which is no test pair"
            raise ArtefactError(f"{message}; run: dvc repro lexicalised evaluate")
        hits[place] = row["label"] == row["predicted"]
    return found


def paired_rows(
    found: Mapping[str, HitsBySeed], reference: str, groups: Groups
) -> list[dict[str, Any]]:
    """Each model's difference from `reference`, with its interval; the reference has no row.

    Runs stand beside each other by seed, which joins nothing else in different models. What draws
    nothing at random (one run, seed 0, of a model that is not retrained) stands beside each seed
    of the reference.
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
            raise ArtefactError(f"{message}; run: dvc repro retrain evaluate")
        one, two = (np.stack([hits[seed] for seed in seeds]) for hits in (theirs, ours))
        comparison = compare(one, two, groups, seeds_paired=False)
        name = {"model": model, "reference": reference, "seeds": len(seeds)}
        rows.append(name | comparison._asdict())
    return rows


def against_first(
    rows: Sequence[Row],
    hits: Sequence[Hits],
    outer: str,
    inner: str,
    groups: Mapping[Any, Groups],
    *,
    seeds_paired: bool,
) -> list[tuple[list[Row], Row]]:
    """Each run's rows, and a row of what they say together, beside the first run of its group.

    Args:
        hits: [pairs] of each row. groups: of the pairs, by the value of `outer`; see compare.
        seeds_paired: runs of one seed have something in common.

    Returns:
        the row has mean and sd over seeds, and the columns of `Comparison`.
    """
    of_row = {id(row): hit for row, hit in zip(rows, hits, strict=True)}
    first: dict[Any, Hits] = {}
    found = []
    for (group, _), own in grouped(rows, outer, inner).items():
        these = np.stack([of_row[id(row)] for row in own])
        reference = first.setdefault(group, these)
        paired = seeds_paired or reference is these
        comparison = compare(reference, these, groups[group], seeds_paired=paired)
        together = {
            "seeds": len(own),
            **spread(own, "dev_accuracy"),
            **spread(own, "test_accuracy"),
            "test_mean_steps": mean(own, "test_mean_steps"),
            **comparison._asdict(),
        }
        found.append((own, together))
    return found
