"""The tested models against one of them, pair by pair: rows of artefacts/evaluate/paired.csv."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from actmodels.errors import ArtefactError
from pipeline.measures.paired import Hits, compare

HitsBySeed = dict[int, Hits]  # seed -> [pairs], 1 right, 0 wrong, nan not scored


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
