"""What the stage `nse` stores: read whole, and checked file against file."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from reports.nse_checks import (
    PLACE,
    check_baselines,
    check_best,
    check_places,
    check_results,
    check_runs,
    check_steps,
    check_summary,
    places_of,
)
from reports.nse_queries import Traced, read_queries
from reports.reading import (
    Kind,
    Source,
    flag,
    name,
    number,
    optional_number,
    read_table,
    share,
    whole,
)
from reports.study_files import check_once

PLACED: dict[str, Kind] = {"questions": name, "run": name, "seed": whole}
READER: dict[str, Kind] = {"strategy": name, "steps": whole}
RESULTS: dict[str, Kind] = {
    **PLACED,
    **READER,
    **{"key": name, "parameters": whole, "epochs": whole, "best_epoch": whole, "diverged": flag},
    **{"dev_accuracy": share, "dev_loss": optional_number},
    **{"dev_mean_steps": optional_number, "dev_sd_steps": optional_number},
    **{"test_accuracy": share, "test_questions": whole, "test_mean_steps": optional_number},
}
RUNS: dict[str, Kind] = {
    **{"questions": name, "run": name, **READER, "seeds": whole},
    **{"dev_accuracy_mean": share, "dev_accuracy_sd": optional_number},
    **{"test_accuracy_mean": share, "test_accuracy_sd": optional_number},
    **{"test_mean_steps": optional_number, "difference": number, "low": number, "high": number},
    **{"largest_p": share, "pairs": whole},
}
BASELINES: dict[str, Kind] = {
    **{"questions": name, "source": name, "split": name, "count": whole},
    **{"candidates": number},
    **{"random": share, "most_frequent": share},
}
HISTORY: dict[str, Kind] = {
    **PLACED,
    **{"epoch": whole, "train_loss": optional_number, "train_accuracy": share},
    **{"dev_loss": optional_number, "dev_accuracy": share, "dev_mean_steps": optional_number},
}
STEPS: dict[str, Kind] = {**PLACED, "step": whole, "weight": share, "accuracy": share}
TIMINGS: dict[str, Kind] = {**PLACED, "epochs": whole, "seconds": number}


@dataclass(frozen=True)
class Nse:
    """Readers of cloze questions: one field per file, and the traced dev questions."""

    results: pd.DataFrame
    runs: pd.DataFrame
    baselines: pd.DataFrame
    history: pd.DataFrame
    steps: pd.DataFrame
    timings: pd.DataFrame
    traced: tuple[Traced, ...]


def read_nse(root: Path) -> Nse:
    """Read artefacts/nse/.

    Raises:
        ArtefactError: a file is missing, damaged, or does not fit another one.
    """
    results, runs, baselines, history, steps, timings = (
        read_table(Source(root, "nse", f"{file}.csv"), columns)
        for file, columns in (
            *(("results", RESULTS), ("runs", RUNS), ("baselines", BASELINES)),
            *(("history", HISTORY), ("steps", STEPS), ("timings", TIMINGS)),
        )
    )
    check_results(Source(root, "nse", "results.csv"), results)
    others = (
        ("history.csv", history, ("epoch",)),
        ("steps.csv", steps, ("step",)),
        ("timings.csv", timings, ()),
    )
    lost = places_of(results[results["diverged"]], PLACE)
    for file, table, more in others:
        source = Source(root, "nse", file)
        check_places(source, places_of(table, PLACE), places_of(results, PLACE), lost)
        check_once(source, table, *PLACE, *more)
    check_runs(Source(root, "nse", "runs.csv"), runs, results)
    check_baselines(Source(root, "nse", "baselines.csv"), baselines, results)
    check_best(Source(root, "nse", "history.csv"), history, results)
    check_steps(Source(root, "nse", "steps.csv"), steps, results)
    check_summary(Source(root, "nse", "summary.json"), runs)
    readers = {
        (row["questions"], row["run"], row["seed"]): (row["strategy"], row["steps"])
        for row in results.to_dict("records")
    }
    traced = read_queries(Source(root, "nse", "queries.jsonl"), readers)
    return Nse(results, runs, baselines, history, steps, timings, traced)
