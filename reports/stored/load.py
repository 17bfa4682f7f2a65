"""Load the artefacts of one run of the pipeline: what belongs together has the same rows."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from actmodels.errors import ArtefactError
from reports.stored.artefacts import READINGS, Artefacts, read_fields, settings_of
from reports.stored.reading import Source
from reports.studies.graves.tasks import CHARACTERS

RUN = ("model", "seed")
RESULTS = "which results.csv has"
Error = Callable[[str], ArtefactError]


def load(root: Path) -> Artefacts:
    """Load the folder `artefacts/`.

    Raises:
        ArtefactError: a file is missing, damaged, or from another run than its neighbours.
    """
    stored = read_fields(Artefacts, root)
    settings = settings_of(Source(root, "sweep", "trials.csv"), stored["trials"])
    loaded = Artefacts(settings=settings, **stored)
    check_runs(root, loaded)
    check_studies(root, loaded)
    return loaded


def places(table: pd.DataFrame, *columns: str) -> set[Any]:
    """What the rows of a table are of."""
    return set(zip(*(table[column] for column in columns), strict=True))


def check_same(
    error: Error,
    found: Iterable[Any],
    wanted: Iterable[Any],
    lacking: str = RESULTS,
    more: str = f"{RESULTS} not",
    lost: Iterable[Any] = (),
) -> None:
    """A table has what is wanted, but perhaps for what is lost, and no more.

    Args:
        error: makes one of a sentence.
        lacking, more: why what the table lacks should be there, and what it has should not.
    """
    for place in sorted(set(wanted) - set(found) - set(lost)):
        raise error(f"lacks {_said(place)}, {lacking}")
    for place in sorted(set(found) - set(wanted)):
        raise error(f"has {_said(place)}, {more}")


def _said(place: Any) -> str:
    *names, last = place
    return f"seed {last} of {', '.join(names)}" if isinstance(last, int) else ", ".join(place)


def check_runs(root: Path, loaded: Artefacts) -> None:
    """What was swept, retrained and measured are the same trials and models."""
    trials, results = (
        Source(root, *place) for place in (("sweep", "trials.csv"), ("evaluate", "results.csv"))
    )
    for source, table in ((trials, loaded.trials), (results, loaded.results)):
        if table.empty:
            raise source.damaged("has no rows")
    if len(loaded.trials) != (count := loaded.sweep["trials"]):
        raise trials.damaged(f"has {len(loaded.trials)} trials where summary.json has {count}")
    history = Source(root, "sweep", "history.csv")
    found, swept = places(loaded.sweep_history, "key"), places(loaded.trials, "key")
    check_same(history.damaged, found, swept, *(f"which trials.csv has{no}" for no in ("", " not")))
    retrained = ("which was retrained", "which was not retrained")
    runs = places(loaded.retrained, *RUN)
    check_same(results.stale, places(loaded.results, *RUN), runs, *retrained)
    predictions = Source(root, "evaluate", "predictions.csv")
    check_same(predictions.stale, places(loaded.predictions, *RUN), runs, *retrained)
    for file, table in (("dev.csv", loaded.ablation_dev), ("test.csv", loaded.ablation_test)):
        ablated = {run for run in runs if run[0] in set(table["model"])}
        for reading in READINGS:
            rows = table[table["reading"] == reading]
            check_same(Source(root, "ablate", file).stale, places(rows, *RUN), ablated, *retrained)
    traced = {(run.model, run.seed) for run in loaded.examples.counted}
    check_same(Source(root, "trace", "traces.jsonl").stale, traced, traced & runs, *retrained)
    stepping = places(loaded.results[loaded.results["test_mean_steps"].notna()], *RUN)
    why = ("which was evaluated", "which took no steps on test")
    for file, table in (("lengths.csv", loaded.lengths), ("correlations.csv", loaded.correlations)):
        check_same(Source(root, "evaluate", file).stale, places(table, *RUN), stepping, *why)
    if absent := [model for model in loaded.models if model not in loaded.best]:
        raise Source(root, "select_best", "best.json").stale(f"has no model {', '.join(absent)}")
    _check_paired(root, loaded)


def _check_paired(root: Path, loaded: Artefacts) -> None:
    """Every tested model and the classifier on words stand beside one reference."""
    words, references = set(loaded.lexicalised["model"]), set(loaded.paired["reference"])
    if len(words) != 1:
        raise Source(root, "lexicalised", "results.csv").damaged("must have rows of one model")
    source = Source(root, "evaluate", "paired.csv")
    if len(references) != 1 or not references <= set(loaded.models):
        several = ", ".join(sorted(references)) or "none"
        raise source.stale(f"must have one tested model as reference, not {several}")
    found, wanted = sorted(loaded.paired["model"]), sorted({*loaded.models, *words} - references)
    if found != wanted:
        raise source.stale(f"compares {', '.join(found)}; must compare {', '.join(wanted)}")


def check_studies(root: Path, loaded: Artefacts) -> None:
    """The files of each study are of the same runs; one that diverged may have left its out."""
    for model in dict.fromkeys(loaded.fidelity["model"]):
        if model not in set(loaded.trials["model"]):
            variants = Source(root, "fidelity", "variants.csv")
            raise variants.stale(f"has the model {model}, which was not swept")
    for stage, file, table, timings, by in (
        ("fidelity", "variants.csv", loaded.fidelity, loaded.fidelity_timings, "variant"),
        ("halting", "points.csv", loaded.halting, loaded.halting_timings, "point"),
    ):
        of = ("model" if by == "variant" else "kind", by)
        why = (f"which {file} has", f"which {file} has not")
        timed = Source(root, stage, "timings.csv")
        check_same(timed.damaged, places(timings, *of), places(table, *of), *why)
    _check_sequences(root, loaded)
    _check_readers(root, loaded)


def _check_sequences(root: Path, loaded: Artefacts) -> None:
    by, results = ("task", "run", "seed"), loaded.graves
    of = dict.fromkeys(("reading.csv", "bytes.csv"), results[results["task"] == CHARACTERS])
    of["difficulty.csv"] = results[results["task"] != CHARACTERS]
    lost = places(results[results["diverged"]], *by)
    for file, table in (
        ("difficulty.csv", loaded.graves_difficulty),
        ("history.csv", loaded.graves_history),
        ("timings.csv", loaded.graves_timings),
        ("reading.csv", loaded.graves_passage),
        ("bytes.csv", loaded.graves_bytes),
    ):
        wanted = places(of.get(file, results), *by)
        untold = wanted if file == "reading.csv" else lost  # the first seeds that halt are told
        source = Source(root, "graves", file)
        check_same(source.damaged, places(table, *by), wanted, lost=untold)


def _check_readers(root: Path, loaded: Artefacts) -> None:
    by, nse = ("questions", "run", "seed"), loaded.nse
    wanted, lost = (
        places(rows, *by) for rows in (nse.results, nse.results[nse.results["diverged"]])
    )
    for file, table in (
        ("history.csv", nse.history),
        ("steps.csv", nse.steps),
        ("timings.csv", nse.timings),
    ):
        check_same(Source(root, "nse", file).damaged, places(table, *by), wanted, lost=lost)
    runs = Source(root, "nse", "runs.csv")
    check_same(runs.damaged, places(nse.runs, *by[:2]), {run[:2] for run in wanted})
    splits = {(kind, split) for kind, *_ in wanted for split in ("train", "dev", "test")}
    baselines = Source(root, "nse", "baselines.csv")
    check_same(baselines.damaged, places(nse.baselines, "questions", "split"), splits)
    traced = {(one.kind, one.run, one.seed) for one in nse.traced}
    queries = Source(root, "nse", "queries.jsonl")
    check_same(queries.damaged, traced, traced & wanted)
