"""Everything that the report is made from: the files that the earlier stages wrote."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from actmodels.configs import FixedStepsConfig
from actmodels.errors import ArtifactError
from actmodels.records import TIMING_FIELDS, EpochRecord
from actmodels.registry import MODELS
from actmodels.tables import COLUMNS
from actmodels.trial_config import setting_types

LIMITS = ("max_epochs", "patience")  # settings of every trial in addition to its model's own
EPOCH = [name for name in EpochRecord.__dataclass_fields__ if name not in TIMING_FIELDS]
TRIAL = ["key", "model", "seed", "parameters", "epochs", "diverged", "best_epoch", *EPOCH[1:]]
UNREAD = ("lexical_baseline/predictions.csv", "multihop/history.csv")
TABLES = {
    "sweep/trials.csv": TRIAL,
    "sweep/history.csv": ["key", "model", "seed", *EPOCH],
    "retrain/trials.csv": TRIAL,
    "retrain/history.csv": ["key", "model", "seed", *EPOCH],
    **{place: columns for place, columns in COLUMNS.items() if place not in UNREAD},
}
DOCUMENTS = (
    *("corpus/summary.json", "tensors/manifest.json"),
    *("sweep/summary.json", "sweep/environment.json", "retrain/environment.json"),
    *("select_best/best.json", "trace/summary.json"),
)
LINES = ("trace/traces.jsonl", "cloze/queries.jsonl")
NAMES = dict.fromkeys(
    ("key", "pair_id", "model", "run", "variant", "changes", "kind", "point"), str
)


@dataclass(frozen=True)
class Artifacts:
    """What the stages wrote, by its place without ending: `data["evaluate/results"]`.

    In tables shares are in [0, 1]; lines are traced pairs and questions.
    """

    tables: Mapping[str, pd.DataFrame]
    documents: Mapping[str, dict[str, Any]]
    lines: Mapping[str, Sequence[dict[str, Any]]]

    def __getitem__(self, place: str) -> pd.DataFrame:
        return self.tables[place]

    def of(self, place: str, **values: Any) -> pd.DataFrame:
        """Return the rows of a table with these values in these columns."""
        table = self.tables[place]
        for column, value in values.items():
            table = table[table[column] == value]
        return table

    @property
    def models(self) -> list[str]:
        """The evaluated models, in stored order."""
        return list(dict.fromkeys(self["evaluate/results"]["model"]))

    @property
    def adaptive(self) -> list[str]:
        """Those of them that choose their number of steps for each pair."""
        return [model for model in self.models if adapts(model)]

    @property
    def best_on_dev(self) -> str:
        """The retrained model with the highest mean dev accuracy, chosen without test."""
        means = self["evaluate/results"].groupby("model", sort=False)["dev_accuracy"].mean()
        return str(means.idxmax())


def adapts(model: str) -> bool:
    """Return whether a model chooses its number of steps."""
    halting = MODELS[model].halting if model in MODELS else None
    return halting is not None and halting.settings is not FixedStepsConfig


def load(root: Path) -> Artifacts:
    """Load the folder with one folder per stage.

    ArtifactError: a file or a column is missing, or others were evaluated than were retrained.
    """
    tables = {_name(place): _table(root, place, columns) for place, columns in TABLES.items()}
    models = tables["sweep/trials"]["model"]
    _check_columns(root, "sweep/trials.csv", tables["sweep/trials"], settings_of(models))
    if set(tables["evaluate/results"]["key"]) != set(tables["retrain/trials"]["key"]):
        raise ArtifactError(
            f"{root.name}/evaluate/results.csv is not of the models in retrain/trials.csv; "
            "run: dvc repro evaluate"
        )
    documents = {_name(place): json.loads(_read(root, place)) for place in DOCUMENTS}
    lines = {
        _name(place): [json.loads(line) for line in _read(root, place).splitlines()]
        for place in LINES
    }
    return Artifacts(tables, documents, lines)


def settings_of(models: Iterable[str]) -> list[str]:
    """Return the names of the settings of models, each once."""
    names = (name for model in dict.fromkeys(models) for name in (*setting_types(model), *LIMITS))
    return list(dict.fromkeys(names))


def _name(place: str) -> str:
    return place.rpartition(".")[0]


def _read(root: Path, place: str) -> str:
    path = root / place
    if not path.is_file():
        stage = place.split("/")[0]
        raise ArtifactError(f"{root.name}/{place} is missing; run: dvc repro {stage}")
    return path.read_text(encoding="utf-8")


def _table(root: Path, place: str, columns: Sequence[str]) -> pd.DataFrame:
    """Read a table; an empty cell is a missing number."""
    text = StringIO(_read(root, place))
    table = pd.read_csv(text, dtype=NAMES, keep_default_na=False, na_values=[""])
    _check_columns(root, place, table, columns)
    return table


def _check_columns(root: Path, place: str, table: pd.DataFrame, columns: Sequence[str]) -> None:
    if absent := [name for name in columns if name not in table.columns]:
        stage = place.split("/")[0]
        raise ArtifactError(
            f"{root.name}/{place} has no column {', '.join(absent)}; run: dvc repro -f -s {stage}"
        )
