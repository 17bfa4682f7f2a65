"""Everything the report is made from: loaded, and never changed.

Each table is declared once, with its file, its columns and those that tell its rows apart.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import pandas as pd

from actmodels.config import setting_types
from actmodels.records import TIMING_FIELDS, EpochRecord
from actmodels.registry import HALTINGS, MODELS
from actmodels.rows import pairs, readers, sequences, studies
from actmodels.settings import FixedStepsConfig
from reports.stored.examples import Examples, read_examples
from reports.stored.queries import Traced, read_queries
from reports.stored.reading import (
    Kind,
    Source,
    kinds,
    one_of,
    optional_number,
    read_json,
    read_table,
    share,
    whole,
)
from reports.studies.graves.tasks import BYTE_KINDS, CHARACTERS, TASKS
from reports.studies.graves.tasks import HALTINGS as SEQUENCE_HALTINGS
from reports.studies.nse.published import KINDS, SOURCES, STRATEGIES

LIMITS = ("max_epochs", "patience")  # settings of every trial besides its model's own
READINGS = ("state", "capped", "adaptive")
AGAINST = {"mean_length": "mean sentence length", "depth": "recorded depth"}


def _source(cell: str) -> str:
    if cell not in SOURCES and not cell.startswith("text "):
        raise ValueError
    return cell


SOURCE = Kind(_source, f"one of {', '.join((*SOURCES, 'text NAME'))}")
# The measured fields of an epoch; a loss that is not a number is stored empty.
EPOCH: dict[str, Kind] = {
    f.name: share if f.name.endswith("_accuracy") else optional_number
    for f in fields(EpochRecord)
    if f.name not in ("epoch", *TIMING_FIELDS)
}
# In a table of trials `ponder_weight` is the setting, and settings stay text.
BEST_EPOCH = {name: kind for name, kind in EPOCH.items() if name != "ponder_weight"}
TRIALS = kinds(pairs.TrialName) | kinds(pairs.TrialSize) | BEST_EPOCH
TRIALS |= {"model": one_of(*MODELS)}
HISTORY = kinds(pairs.TrialName) | {"epoch": whole} | EPOCH
TIMINGS = kinds(pairs.EpochTime)
ENVIRONMENT = ("provenance", "data_digest", "machine", "trials", "reused", "wall_seconds")
RUN, KEY = ("model", "seed"), ("key",)
SEQUENCE, READER = ("task", "run", "seed"), ("questions", "run", "seed")


def _read_by(read: Callable[[Path], Any]) -> Any:
    return field(metadata={"read": read})


def _table(place: str, columns: dict[str, Kind] | type, *key: str, **known: Kind) -> Any:
    """A table with the row or the columns that are given; `known`: names that it may have."""
    of = (kinds(columns) if isinstance(columns, type) else columns) | known

    def read(root: Path) -> pd.DataFrame:
        source = Source(root, *place.split("/"))
        table = read_table(source, of)
        for _, row in table[table.duplicated(list(key))].iterrows() if key else ():
            raise source.damaged(f"has {', '.join(str(row[column]) for column in key)} twice")
        return table

    return _read_by(read)


def _document(place: str, *keys: str) -> Any:
    return _read_by(lambda root: read_json(Source(root, *place.split("/")), keys))


def read_fields(of: type, root: Path) -> dict[str, Any]:
    """The fields of a dataclass that say how they are read.

    Raises:
        ArtefactError: a file is missing or damaged.
    """
    return {f.name: f.metadata["read"](root) for f in fields(of) if "read" in f.metadata}


@dataclass(frozen=True)
class Nse:
    """Readers of cloze questions, and the traced dev questions."""

    results: pd.DataFrame = _table(
        *("nse/results.csv", readers.ReaderResult, *READER),
        questions=one_of(*KINDS),
        strategy=one_of(*STRATEGIES),
    )
    runs: pd.DataFrame = _table("nse/runs.csv", readers.ReaderMeans, "questions", "run")
    baselines: pd.DataFrame = _table(
        "nse/baselines.csv", readers.Baseline, "questions", "split", source=SOURCE
    )
    history: pd.DataFrame = _table("nse/history.csv", readers.ReaderEpoch, *READER, "epoch")
    steps: pd.DataFrame = _table("nse/steps.csv", readers.ReaderStep, *READER, "step")
    timings: pd.DataFrame = _table("nse/timings.csv", readers.ReaderTime, *READER)
    traced: tuple[Traced, ...] = _read_by(
        lambda root: read_queries(Source(root, "nse", "queries.jsonl"))
    )


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

    settings: tuple[str, ...]
    corpus: dict[str, Any] = _document("corpus/summary.json", "source", "splits")
    vectors: dict[str, Any] = _document("vectors/summary.json")
    tensors: dict[str, Any] = _document("tensors/manifest.json", "digest", "pairs")
    sweep: dict[str, Any] = _document("sweep/summary.json", "grid_hash", "trials")
    trials: pd.DataFrame = _table("sweep/trials.csv", TRIALS, *KEY)
    sweep_history: pd.DataFrame = _table("sweep/history.csv", HISTORY, *KEY, "epoch")
    sweep_timings: pd.DataFrame = _table("sweep/timings.csv", TIMINGS, *KEY, "epoch")
    sweep_environment: dict[str, Any] = _document("sweep/environment.json", *ENVIRONMENT)
    best: dict[str, Any] = _document("select_best/best.json")
    retrained: pd.DataFrame = _table("retrain/trials.csv", TRIALS, *RUN)
    history: pd.DataFrame = _table("retrain/history.csv", HISTORY, *RUN, "epoch")
    retrain_timings: pd.DataFrame = _table("retrain/timings.csv", TIMINGS, *RUN, "epoch")
    retrain_environment: dict[str, Any] = _document("retrain/environment.json", *ENVIRONMENT)
    results: pd.DataFrame = _table("evaluate/results.csv", pairs.Result, *RUN)
    depth: pd.DataFrame = _table("evaluate/depth.csv", pairs.AtDepth, *RUN, "depth")
    lengths: pd.DataFrame = _table("evaluate/lengths.csv", pairs.Lengths)
    correlations: pd.DataFrame = _table(
        *("evaluate/correlations.csv", pairs.Correlations, *RUN, "steps_against"),
        steps_against=one_of(*AGAINST),
    )
    paired: pd.DataFrame = _table("evaluate/paired.csv", pairs.Paired, "model")
    predictions: pd.DataFrame = _table(
        "evaluate/predictions.csv", pairs.Prediction, *RUN, "pair_id"
    )
    ablation_dev: pd.DataFrame = _table(
        "ablate/dev.csv", pairs.Ablation, *RUN, "reading", "steps", reading=one_of(*READINGS)
    )
    ablation_test: pd.DataFrame = _table(
        "ablate/test.csv", pairs.Ablation, *RUN, "reading", "steps", reading=one_of(*READINGS)
    )
    lexicalised: pd.DataFrame = _table("lexicalised/results.csv", pairs.Lexicalised, *RUN)
    examples: Examples = _read_by(read_examples)
    fidelity: pd.DataFrame = _table("fidelity/variants.csv", studies.Variant, "model", "variant")
    fidelity_timings: pd.DataFrame = _table(
        "fidelity/timings.csv", studies.VariantTime, "model", "variant", "seed"
    )
    halting: pd.DataFrame = _table(
        "halting/points.csv", studies.HaltingPoint, "kind", "point", kind=one_of(*HALTINGS)
    )
    halting_timings: pd.DataFrame = _table(
        "halting/timings.csv", studies.HaltingTime, "kind", "point", "seed"
    )
    graves: pd.DataFrame = _table(
        *("graves/results.csv", sequences.SequenceResult, *SEQUENCE),
        task=one_of(*TASKS, CHARACTERS),
        halting=one_of(*SEQUENCE_HALTINGS),
    )
    graves_difficulty: pd.DataFrame = _table(
        *("graves/difficulty.csv", sequences.AtDifficulty, *SEQUENCE, "difficulty"),
        task=one_of(*TASKS),
    )
    graves_passage: pd.DataFrame = _table(
        *("graves/reading.csv", sequences.ByteRead, *SEQUENCE, "position"), task=one_of(CHARACTERS)
    )
    graves_bytes: pd.DataFrame = _table(
        *("graves/bytes.csv", sequences.BytesOfKind, *SEQUENCE, "kind"),
        task=one_of(CHARACTERS),
        kind=one_of(*BYTE_KINDS),
    )
    graves_history: pd.DataFrame = _table(
        "graves/history.csv", sequences.SequenceEpoch, *SEQUENCE, "epoch"
    )
    graves_timings: pd.DataFrame = _table("graves/timings.csv", sequences.SequenceTime, *SEQUENCE)
    nse: Nse = _read_by(lambda root: Nse(**read_fields(Nse, root)))

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


def settings_of(source: Source, trials: pd.DataFrame) -> tuple[str, ...]:
    """Names of the settings of all swept models, wherever their columns stand.

    Raises:
        ArtefactError: one has no column.
    """
    models = dict.fromkeys(trials["model"])
    names = dict.fromkeys(name for model in models for name in (*setting_types(model), *LIMITS))
    if absent := [name for name in names if name not in trials.columns]:
        raise source.damaged(f"has no column {', '.join(absent)}", 1)
    return tuple(names)
