"""Everything the report is made from: loaded, checked, and never changed."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd

from actmodels.config import setting_types
from actmodels.records import TIMING_FIELDS, EpochRecord
from actmodels.registry import MODELS
from actmodels.settings import FixedStepsConfig
from reports.characters_files import BYTES as GRAVES_BYTES
from reports.characters_files import PASSAGE as GRAVES_PASSAGE
from reports.characters_files import check_characters
from reports.example_files import Examples, check_traced, read_examples
from reports.graves_files import DIFFICULTY as GRAVES_DIFFICULTY
from reports.graves_files import HISTORY as GRAVES_HISTORY
from reports.graves_files import RESULTS as GRAVES
from reports.graves_files import TIMINGS as GRAVES_TIMINGS
from reports.graves_files import check_graves
from reports.nse_files import Nse, read_nse
from reports.reading import (
    Kind,
    Source,
    flag,
    name,
    number,
    optional_number,
    read_json,
    read_table,
    share,
    whole,
)
from reports.study_files import (
    CORRELATIONS,
    FIDELITY,
    FIDELITY_TIMINGS,
    HALTING,
    HALTING_TIMINGS,
    LENGTHS,
    PAIRED,
    PREDICTIONS,
    check_fidelity,
    check_halting,
    check_history,
    check_paired,
    check_steps,
)

TRIAL: dict[str, Kind] = {"key": name, "model": name, "seed": whole}
# The measured fields of an epoch; a loss that is not a number is stored empty.
EPOCH: dict[str, Kind] = {
    f.name: share if f.name.endswith("_accuracy") else optional_number
    for f in fields(EpochRecord)
    if f.name not in ("epoch", *TIMING_FIELDS)
}
SIZES: dict[str, Kind] = {"parameters": whole, "epochs": whole, "best_epoch": whole}
# In a table of trials `ponder_weight` is the setting, and settings stay text.
BEST_EPOCH = {name: kind for name, kind in EPOCH.items() if name != "ponder_weight"}
TRIALS = TRIAL | SIZES | {"diverged": flag} | BEST_EPOCH
HISTORY = TRIAL | {"epoch": whole} | EPOCH
TIMINGS = TRIAL | {"epoch": whole, "seconds": number, "examples_per_second": number}
RESULTS = (
    TRIAL
    | SIZES
    | {"dev_accuracy": share, "test_accuracy": share, "test_pairs": whole}
    | {"test_mean_steps": optional_number, "test_sd_steps": optional_number}
)
RUN: dict[str, Kind] = {"model": name, "seed": whole}
DEPTH = RUN | {"depth": whole, "pairs": whole, "accuracy": share, "mean_steps": optional_number}
ABLATION = RUN | {
    "reading": name,
    "steps": optional_number,
    "accuracy": share,
    "mean_steps": optional_number,
}
LEXICALISED = RUN | {
    "parameters": whole,
    "dev_accuracy": share,
    "test_accuracy": share,
    "test_pairs": whole,
}
LIMITS = ("max_epochs", "patience")  # settings of every trial besides its model's own
ENVIRONMENT = ("provenance", "data_digest", "machine", "trials", "reused", "wall_seconds")
READINGS = ("state", "capped", "adaptive")


@dataclass(frozen=True)
class Artefacts:
    """What the earlier stages wrote; one field per file that the report reads.

    trials, results and ablations have one row per trained model; accuracies are in [0, 1].
    settings: names of the settings in `trials`, in the order of TrialConfig; cells stay text.
    paired: one row per model that was compared with the reference.
    predictions: one row per trained model and test pair.
    sweep_environment, retrain_environment: code, machine and duration of a stage's last run.
    lexicalised: one row per run of the classifier on features of words.
    examples: test pairs that were followed through the steps of a model.
    """

    corpus: dict[str, Any]
    vectors: dict[str, Any]
    tensors: dict[str, Any]
    sweep: dict[str, Any]
    settings: tuple[str, ...]
    trials: pd.DataFrame
    sweep_timings: pd.DataFrame
    best: dict[str, Any]
    retrained: pd.DataFrame
    history: pd.DataFrame
    retrain_timings: pd.DataFrame
    results: pd.DataFrame
    depth: pd.DataFrame
    ablation_dev: pd.DataFrame
    ablation_test: pd.DataFrame
    sweep_history: pd.DataFrame
    lengths: pd.DataFrame
    correlations: pd.DataFrame
    paired: pd.DataFrame
    predictions: pd.DataFrame
    sweep_environment: dict[str, Any]
    retrain_environment: dict[str, Any]
    fidelity: pd.DataFrame
    fidelity_timings: pd.DataFrame
    halting: pd.DataFrame
    halting_timings: pd.DataFrame
    graves: pd.DataFrame
    graves_difficulty: pd.DataFrame
    graves_passage: pd.DataFrame
    graves_bytes: pd.DataFrame
    graves_history: pd.DataFrame
    graves_timings: pd.DataFrame
    nse: Nse
    lexicalised: pd.DataFrame
    examples: Examples

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the evaluated models, in stored order."""
        return tuple(dict.fromkeys(self.results["model"]))

    @property
    def ablated(self) -> str | None:
        """The model whose steps were fixed, or None if none was."""
        return None if self.ablation_test.empty else str(self.ablation_test["model"].iloc[0])

    def runs(self, model: str) -> pd.DataFrame:
        """The test results of a model, one row per seed."""
        return self.results[self.results["model"] == model]

    def halts(self, model: str) -> bool:
        """Whether a model takes steps: as many as it chooses, or a fixed number."""
        return bool(self.runs(model)["test_mean_steps"].notna().all())

    def adapts(self, model: str) -> bool:
        """Whether a model chooses its number of steps for each pair."""
        halting = MODELS[model].halting if model in MODELS else None
        return halting is not None and halting.settings is not FixedStepsConfig


def load(root: Path) -> Artefacts:
    """Load the folder `artefacts/`.

    Raises:
        ArtefactError: a file is missing, damaged, or from another run than its neighbours.
    """

    def table(stage: str, file: str, columns: Mapping[str, Kind]) -> pd.DataFrame:
        return read_table(Source(root, stage, file), columns)

    def document(stage: str, file: str, *keys: str) -> dict[str, Any]:
        return read_json(Source(root, stage, file), keys)

    trials = table("sweep", "trials.csv", TRIALS)
    loaded = Artefacts(
        corpus=document("corpus", "summary.json", "source", "splits"),
        vectors=document("vectors", "summary.json"),
        tensors=document("tensors", "manifest.json", "digest", "pairs"),
        sweep=document("sweep", "summary.json", "grid_hash", "trials"),
        settings=_settings(Source(root, "sweep", "trials.csv"), trials),
        trials=trials,
        sweep_timings=table("sweep", "timings.csv", TIMINGS),
        best=document("select_best", "best.json"),
        retrained=table("retrain", "trials.csv", TRIALS),
        history=table("retrain", "history.csv", HISTORY),
        retrain_timings=table("retrain", "timings.csv", TIMINGS),
        results=table("evaluate", "results.csv", RESULTS),
        depth=table("evaluate", "depth.csv", DEPTH),
        ablation_dev=table("ablate", "dev.csv", ABLATION),
        ablation_test=table("ablate", "test.csv", ABLATION),
        sweep_history=table("sweep", "history.csv", HISTORY),
        lengths=table("evaluate", "lengths.csv", LENGTHS),
        correlations=table("evaluate", "correlations.csv", CORRELATIONS),
        paired=table("evaluate", "paired.csv", PAIRED),
        predictions=table("evaluate", "predictions.csv", PREDICTIONS),
        sweep_environment=document("sweep", "environment.json", *ENVIRONMENT),
        retrain_environment=document("retrain", "environment.json", *ENVIRONMENT),
        fidelity=table("fidelity", "variants.csv", FIDELITY),
        fidelity_timings=table("fidelity", "timings.csv", FIDELITY_TIMINGS),
        halting=table("halting", "points.csv", HALTING),
        halting_timings=table("halting", "timings.csv", HALTING_TIMINGS),
        graves=table("graves", "results.csv", GRAVES),
        graves_difficulty=table("graves", "difficulty.csv", GRAVES_DIFFICULTY),
        graves_passage=table("graves", "reading.csv", GRAVES_PASSAGE),
        graves_bytes=table("graves", "bytes.csv", GRAVES_BYTES),
        graves_history=table("graves", "history.csv", GRAVES_HISTORY),
        graves_timings=table("graves", "timings.csv", GRAVES_TIMINGS),
        nse=read_nse(root),
        lexicalised=table("lexicalised", "results.csv", LEXICALISED),
        examples=read_examples(root),
    )
    _check(root, loaded)
    return loaded


def _settings(source: Source, trials: pd.DataFrame) -> tuple[str, ...]:
    """Names of the settings of all swept models, wherever their columns stand."""
    models = dict.fromkeys(trials["model"])
    if unknown := [model for model in models if model not in MODELS]:
        raise source.damaged(f"model is {unknown[0]!r}; must be one of {', '.join(MODELS)}")
    names = dict.fromkeys(name for model in models for name in (*setting_types(model), *LIMITS))
    if absent := [name for name in names if name not in trials.columns]:
        raise source.damaged(f"has no column {', '.join(absent)}", 1)
    return tuple(names)


def _check(root: Path, loaded: Artefacts) -> None:
    """The files agree with one another."""
    trials = Source(root, "sweep", "trials.csv")
    if loaded.trials.empty:
        raise trials.damaged("has no rows")
    if len(loaded.trials) != loaded.sweep["trials"]:
        count = loaded.sweep["trials"]
        raise trials.damaged(f"has {len(loaded.trials)} trials where summary.json has {count}")
    results = Source(root, "evaluate", "results.csv")
    _check_runs(results, _runs(loaded.results), _runs(loaded.retrained))
    if loaded.results.empty:
        raise results.damaged("has no rows")
    predictions = Source(root, "evaluate", "predictions.csv")
    _check_runs(predictions, _runs(loaded.predictions), _runs(loaded.results))
    _check_means(Source(root, "evaluate", "summary.json"), loaded.results)
    best = Source(root, "select_best", "best.json")
    if absent := [model for model in loaded.models if model not in loaded.best]:
        raise best.stale(f"has no model {', '.join(absent)}")
    for file, table in (("dev.csv", loaded.ablation_dev), ("test.csv", loaded.ablation_test)):
        source = Source(root, "ablate", file)
        if unknown := sorted(set(table["reading"]) - set(READINGS)):
            raise source.damaged(f"has the reading {unknown[0]!r}; must be {', '.join(READINGS)}")
        if len(set(table["model"])) > 1:
            raise source.damaged("has more than one model")
        ablated = loaded.results[loaded.results["model"].isin(table["model"])]
        for reading in READINGS:
            rows = table[table["reading"] == reading]
            _check_runs(source, _runs(rows), _runs(ablated))
    if len(set(loaded.lexicalised["model"])) != 1:
        raise Source(root, "lexicalised", "results.csv").damaged("must have rows of one model")
    check_traced(root, loaded.examples, _runs(loaded.retrained))
    check_history(root, loaded.sweep_history, loaded.trials)
    check_steps(root, loaded.lengths, loaded.correlations, loaded.results)
    check_paired(root, loaded.paired, loaded.models, str(loaded.lexicalised["model"].iloc[0]))
    check_fidelity(root, loaded.fidelity, loaded.fidelity_timings, list(loaded.trials["model"]))
    check_halting(root, loaded.halting, loaded.halting_timings)
    graves = (loaded.graves, loaded.graves_difficulty, loaded.graves_history)
    check_graves(root, *graves, loaded.graves_timings)
    check_characters(root, loaded.graves, loaded.graves_passage, loaded.graves_bytes)


def _check_means(source: Source, results: pd.DataFrame) -> None:
    """The stage's own means are those of its rows: two figures for one thing must not appear."""
    stored = read_json(source, tuple(dict.fromkeys(results["model"])))
    for model, rows in results.groupby("model", sort=False):
        mean = fmean(rows["test_accuracy"])
        if abs(mean - stored[str(model)]["test_accuracy_mean"]) > 1e-9:
            raise source.damaged(
                f"test_accuracy_mean of {model} is not {mean!r}, as results.csv has"
            )


def _runs(table: pd.DataFrame) -> set[tuple[str, int]]:
    return set(zip(table["model"], table["seed"], strict=True))


def _check_runs(source: Source, found: set[tuple[str, int]], wanted: set[tuple[str, int]]) -> None:
    """Every retrained model was measured, and nothing else was."""
    for model, seed in sorted(wanted - found):
        raise source.stale(f"lacks seed {seed} of {model}, which was retrained")
    for model, seed in sorted(found - wanted):
        raise source.stale(f"has seed {seed} of {model}, which was not retrained")
