"""Everything the report is made from: loaded, and never changed.

Each file is declared once, a table with its columns.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import pandas as pd

from actmodels.config import setting_types
from actmodels.errors import ArtefactError
from actmodels.records import TIMING_FIELDS, EpochRecord
from actmodels.registry import MODELS
from actmodels.rows import pairs, readers, sequences
from actmodels.rows.multihop import AtHops, MultihopResult, MultihopTime
from actmodels.settings import FixedStepsConfig
from reports.spread import LEVEL
from reports.stored.reading import check_columns, read_json, read_table, types
from reports.stored.traces import Examples, Traced, read_examples, read_queries

LIMITS = ("max_epochs", "patience")  # settings of every trial besides its model's own
# The measured fields of an epoch; a loss that is not a number is stored empty.
EPOCH = {f.name: "float64" for f in fields(EpochRecord) if f.name not in ("epoch", *TIMING_FIELDS)}
# In a table of trials `ponder_weight` is the setting, and settings stay text.
BEST_EPOCH = {name: kind for name, kind in EPOCH.items() if name != "ponder_weight"}
TRIALS = types(pairs.TrialName) | types(pairs.TrialSize) | BEST_EPOCH
HISTORY = types(pairs.TrialName) | {"epoch": "int64"} | EPOCH


def _read_by(read: Callable[[Path], Any]) -> Any:
    return field(metadata={"read": read})


def _table(place: str, columns: dict[str, str] | type) -> Any:
    of = types(columns) if isinstance(columns, type) else columns
    return _read_by(lambda root: read_table(root, place, of))


def _document(place: str) -> Any:
    return _read_by(lambda root: read_json(root, place))


def read_fields(of: type, root: Path) -> dict[str, Any]:
    """The fields of a dataclass that say how they are read.

    Raises:
        ArtefactError: a file is missing or damaged.
    """
    return {f.name: f.metadata["read"](root) for f in fields(of) if "read" in f.metadata}


@dataclass(frozen=True)
class Nse:
    """Readers of cloze questions, and the traced dev questions."""

    results: pd.DataFrame = _table("nse/results.csv", readers.ReaderResult)
    runs: pd.DataFrame = _table("nse/runs.csv", readers.ReaderMeans)
    baselines: pd.DataFrame = _table("nse/baselines.csv", readers.Baseline)
    history: pd.DataFrame = _table("nse/history.csv", readers.ReaderEpoch)
    steps: pd.DataFrame = _table("nse/steps.csv", readers.ReaderStep)
    timings: pd.DataFrame = _table("nse/timings.csv", readers.ReaderTime)
    traced: tuple[Traced, ...] = _read_by(read_queries)


@dataclass(frozen=True)
class Artefacts:
    """What the earlier stages wrote; one field per file that the report reads.

    trials, results and ablations have one row per trained model; accuracies are in [0, 1].
    settings: names of the settings in `trials`, in the order of TrialConfig; cells stay text.
    level: at which the claims of this report are clear, of their number (tables.claims).
    paired: one row per model that was compared with the reference.
    predictions: one row per trained model and test pair.
    sweep_environment, retrain_environment: code, machine and duration of a stage's last run.
    lexicalised: one row per run of the classifier on features of words.
    examples: test pairs that were followed through the steps of a model.
    """

    settings: tuple[str, ...]
    corpus: dict[str, Any] = _document("corpus/summary.json")
    vectors: dict[str, Any] = _document("vectors/summary.json")
    tensors: dict[str, Any] = _document("tensors/manifest.json")
    sweep: dict[str, Any] = _document("sweep/summary.json")
    trials: pd.DataFrame = _table("sweep/trials.csv", TRIALS)
    sweep_history: pd.DataFrame = _table("sweep/history.csv", HISTORY)
    sweep_timings: pd.DataFrame = _table("sweep/timings.csv", pairs.EpochTime)
    sweep_environment: dict[str, Any] = _document("sweep/environment.json")
    best: dict[str, Any] = _document("select_best/best.json")
    retrained: pd.DataFrame = _table("retrain/trials.csv", TRIALS)
    history: pd.DataFrame = _table("retrain/history.csv", HISTORY)
    retrain_timings: pd.DataFrame = _table("retrain/timings.csv", pairs.EpochTime)
    retrain_environment: dict[str, Any] = _document("retrain/environment.json")
    results: pd.DataFrame = _table("evaluate/results.csv", pairs.Result)
    depth: pd.DataFrame = _table("evaluate/depth.csv", pairs.AtDepth)
    lengths: pd.DataFrame = _table("evaluate/lengths.csv", pairs.Lengths)
    correlations: pd.DataFrame = _table("evaluate/correlations.csv", pairs.Correlations)
    paired: pd.DataFrame = _table("evaluate/paired.csv", pairs.Paired)
    predictions: pd.DataFrame = _table("evaluate/predictions.csv", pairs.Prediction)
    ablation_dev: pd.DataFrame = _table("ablate/dev.csv", pairs.Ablation)
    ablation_test: pd.DataFrame = _table("ablate/test.csv", pairs.Ablation)
    adaptive_gains: pd.DataFrame = _table("ablate/gains.csv", pairs.AdaptiveGain)
    lexicalised: pd.DataFrame = _table("lexicalised/results.csv", pairs.Lexicalised)
    examples: Examples = _read_by(read_examples)
    fidelity: pd.DataFrame = _table("fidelity/variants.csv", pairs.Variant)
    fidelity_timings: pd.DataFrame = _table("fidelity/timings.csv", pairs.VariantTime)
    sizes: pd.DataFrame = _table("sizes/points.csv", pairs.AtSize)
    laws: pd.DataFrame = _table("sizes/laws.csv", pairs.Law)
    law_curves: pd.DataFrame = _table("sizes/curves.csv", pairs.LawPoint)
    sizes_timings: pd.DataFrame = _table("sizes/timings.csv", pairs.SizeTime)
    halting: pd.DataFrame = _table("halting/points.csv", pairs.HaltingPoint)
    halting_depth: pd.DataFrame = _table("halting/depth.csv", pairs.HaltingAtDepth)
    halting_timings: pd.DataFrame = _table("halting/timings.csv", pairs.HaltingTime)
    graves: pd.DataFrame = _table("graves/results.csv", sequences.SequenceResult)
    graves_difficulty: pd.DataFrame = _table("graves/difficulty.csv", sequences.AtDifficulty)
    graves_passage: pd.DataFrame = _table("graves/reading.csv", sequences.ByteRead)
    graves_bytes: pd.DataFrame = _table("graves/bytes.csv", sequences.BytesOfKind)
    graves_history: pd.DataFrame = _table("graves/history.csv", sequences.SequenceEpoch)
    graves_timings: pd.DataFrame = _table("graves/timings.csv", sequences.SequenceTime)
    multihop: pd.DataFrame = _table("multihop/results.csv", MultihopResult)
    multihop_hops: pd.DataFrame = _table("multihop/hops.csv", AtHops)
    multihop_timings: pd.DataFrame = _table("multihop/timings.csv", MultihopTime)
    nse: Nse = _read_by(lambda root: Nse(**read_fields(Nse, root)))
    level: float = LEVEL

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
        ArtefactError: a file or a column is missing, or a model was evaluated that is not the one
            that was retrained.
    """
    read = read_fields(Artefacts, root)
    trials = read["trials"]
    models = dict.fromkeys(trials["model"])
    settings = dict.fromkeys(name for model in models for name in (*setting_types(model), *LIMITS))
    check_columns(root, "sweep/trials.csv", trials, settings)
    if set(read["results"]["key"]) != set(read["retrained"]["key"]):
        raise ArtefactError(
            f"{root.name}/evaluate/results.csv is not of the models in retrain/trials.csv; "
            "run: dvc repro evaluate"
        )
    return Artefacts(settings=tuple(settings), **read)
