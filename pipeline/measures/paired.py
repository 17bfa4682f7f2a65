"""Two models on the same pairs: is the difference more than seeds and pairs can explain?"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from actmodels.errors import ArtefactError
from pipeline.measures.over_seeds import Row, grouped, mean, spread

Hits = NDArray[np.float64]
CHUNK = 100  # resamples at a time, which bounds memory to CHUNK x pairs numbers
HitsBySeed = dict[int, Hits]  # seed -> [pairs], 1 right, 0 wrong, nan not scored


class Comparison(NamedTuple):
    """A model against a reference; accuracies in [0, 1].

    difference: mean accuracy minus the reference's, over the pairs that both scored.
    low, high: 95 % interval of the paired bootstrap over seeds and pairs.
    largest_p: of the exact McNemar tests, one per seed, the largest p-value.
    pairs: how many both scored.
    """

    difference: float
    low: float
    high: float
    largest_p: float
    pairs: int


def compare(
    reference: Hits, other: Hits, resamples: int, seed: int, *, seeds_paired: bool = True
) -> Comparison:
    """Compare replicates of two models, seed by seed and pair by pair.

    Args:
        reference, other: 1 right, 0 wrong, nan not scored, [seeds, pairs]; row i of both was
            trained from the same seed.
        resamples: of the bootstrap, which draws seeds and pairs anew, both with replacement:
            few seeds give a wide interval, as they should.
        seed: of the bootstrap's own random numbers.
        seeds_paired: whether the same seed means the same start, as it does for variants of one
            model. Of models that share nothing but the number, each has its seeds drawn by itself.
    """
    scored = ~np.isnan(reference + other).any(axis=0)
    reference, other = reference[:, scored], other[:, scored]
    seeds, pairs = reference.shape
    generator = np.random.default_rng(seed)

    def drawn(places: int, count: int) -> Hits:
        """How often each place is drawn, as a share: [count, places]."""
        return generator.multinomial(places, np.full(places, 1 / places), size=count) / places

    means = []
    for start in range(0, resamples, CHUNK):
        count = min(CHUNK, resamples - start)
        of_pairs, of_seeds = drawn(pairs, count), drawn(seeds, count)
        of_others = of_seeds if seeds_paired else drawn(seeds, count)
        ours = ((of_pairs @ other.T) * of_others).sum(axis=1)
        means.append(ours - ((of_pairs @ reference.T) * of_seeds).sum(axis=1))
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    largest = max(mcnemar(reference[i], other[i]) for i in range(seeds))
    return Comparison(float((other - reference).mean()), float(low), float(high), largest, pairs)


def mcnemar(one: Hits, two: Hits) -> float:
    """The exact two-sided p-value of McNemar's test: only pairs that one got right count."""
    first, second = int(((one == 1) & (two == 0)).sum()), int(((one == 0) & (two == 1)).sum())
    if first + second == 0:
        return 1.0
    return float(binomtest(first, first + second, 0.5).pvalue)


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
    found: Mapping[str, HitsBySeed], reference: str, resamples: int
) -> list[dict[str, Any]]:
    """Each model's difference from `reference`, with its interval; the reference has no row.

    Runs stand beside each other by seed, which joins nothing else in different models: the
    bootstrap draws the seeds of each by itself, and pairs for both at once. What draws nothing at
    random (one run, seed 0, of a model that is not retrained) stands beside each seed of the
    reference.
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
        comparison = compare(one, two, resamples, seed=0, seeds_paired=False)
        name = {"model": model, "reference": reference, "seeds": len(seeds)}
        rows.append(name | comparison._asdict())
    return rows


def against_first(
    rows: Sequence[Row],
    hits: Sequence[Hits],
    outer: str,
    inner: str,
    resamples: int,
    *,
    seeds_paired: bool,
) -> list[tuple[list[Row], Row]]:
    """Each run's rows, and a row of what they say together, beside the first run of its group.

    Args:
        hits: [pairs] of each row. seeds_paired: runs of one seed have something in common.

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
        comparison = compare(reference, these, resamples, seed=0, seeds_paired=paired)
        together = {
            "seeds": len(own),
            **spread(own, "dev_accuracy"),
            **spread(own, "test_accuracy"),
            "test_mean_steps": mean(own, "test_mean_steps"),
            **comparison._asdict(),
        }
        found.append((own, together))
    return found
