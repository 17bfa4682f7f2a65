"""Load the artifacts of the earlier stages, and check their files and columns."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd

from actmodels.errors import ArtifactError
from actmodels.records import TIMING_FIELDS, EpochRecord
from actmodels.registry import is_adaptive
from actmodels.tables import COLUMNS
from actmodels.trial_config import TrialConfig, setting_types

STUDIES = "studies"  # folder of the studies' folders
LIMITS = ("max_epochs", "patience")  # settings of every trial in addition to its model's own
UNLISTED = (*TIMING_FIELDS, "replaces")
EPOCH = [each.name for each in fields(EpochRecord) if each.name not in UNLISTED]
METRICS = [name for name in EPOCH[1:] if name != "ponder_weight"]  # in trials.csv it is a setting
TRIAL = ["key", "model", "seed", "parameters", "epochs", "diverged", "stopped", "best_epoch"]
TRIAL += METRICS
TABLES = {
    "sweep/trials.csv": TRIAL,
    "sweep/history.csv": ["key", "model", "seed", *EPOCH],
    "retrain/trials.csv": TRIAL,
    "retrain/history.csv": ["key", "model", "seed", *EPOCH],
    **{file: columns.split() for file, columns in COLUMNS.items()},
}
DOCUMENTS = (
    *("corpus/summary.json", "vectors/summary.json", "tensors/manifest.json"),
    *("sweep/summary.json", "sweep/environment.json", "retrain/environment.json"),
    *("select_best/best.json", "trace/summary.json"),
)
TEXT_COLUMNS = dict.fromkeys(
    ("key", "pair_id", "model", "run", "variant", "changes", "kind", "point"), str
)


@dataclass(frozen=True)
class Artifacts:
    """Loaded files by path without suffix: `data["evaluate/results"]` is a table.

    The path of a study's file begins with its name: "STUDY/timings". Fractions in tables are in
    [0, 1]. `lines` has traced pairs, and the JSON lists of studies.
    """

    tables: Mapping[str, pd.DataFrame]
    documents: Mapping[str, dict[str, Any]]
    lines: Mapping[str, Sequence[dict[str, Any]]]

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self.tables[name]

    def select(self, name: str, **values: Any) -> pd.DataFrame:
        """Return the rows of a table with these values in these columns."""
        table = self.tables[name]
        for column, value in values.items():
            table = table[table[column] == value]
        return table

    @property
    def classes(self) -> list[str]:
        """The classes of the pairs, in the order of the models' outputs."""
        return list(self.documents["tensors/manifest"]["classes"])

    @property
    def is_own(self) -> bool:
        """Whether the pairs are the user's, so that no published result is of their kind."""
        return bool(self.documents["corpus/summary"]["source"] == "files")

    @property
    def models(self) -> list[str]:
        """Evaluated models, in file order."""
        return list(dict.fromkeys(self["evaluate/results"]["model"]))

    @property
    def adaptive(self) -> list[str]:
        """Evaluated models that choose the number of steps for each pair."""
        return [model for model in self.models if is_adaptive(model)]

    @property
    def diverged(self) -> dict[str, str]:
        """The retrained seeds that diverged, by model; they are in no mean."""
        rows = self.select("retrain/trials", diverged=True)
        texts = "seed " + rows["seed"].astype(str) + " (epoch " + rows["epochs"].astype(str) + ")"
        return texts.groupby(rows["model"], sort=False).agg(", ".join).to_dict()

    @property
    def best_on_dev(self) -> str:
        """The retrained model with the highest mean dev accuracy."""
        means = self["evaluate/results"].groupby("model", sort=False)["dev_accuracy"].mean()
        return str(means.idxmax())


def load(root: Path, studies: Mapping[str, Mapping[str, str]]) -> Artifacts:
    """Load `root`, which has one folder per stage.

    Args:
        studies: files of each study and their columns, names between blanks.

    Raises:
        ArtifactError: a file or a column is missing, or the evaluated models are not the
            retrained ones.
    """
    tables = {_stem(file): _table(root, file, columns) for file, columns in TABLES.items()}
    models = tables["sweep/trials"]["model"]
    optional = {name for model in set(models) for name in TrialConfig.optional_settings(model)}
    required = [name for name in settings_of(models) if name not in optional]
    _check_columns(root, "sweep/trials.csv", tables["sweep/trials"], required)
    retrained = tables["retrain/trials"]
    if set(tables["evaluate/results"]["key"]) != set(retrained[~retrained["diverged"]]["key"]):
        raise ArtifactError(
            f"{root.name}/evaluate/results.csv: keys differ from those of retrain/trials.csv; "
            "run: dvc repro evaluate"
        )
    documents = {_stem(file): json.loads(_read(root, file)) for file in DOCUMENTS}
    traces = _read(root, "trace/traces.jsonl").splitlines()
    lines = {"trace/traces": [json.loads(line) for line in traces]}
    for study, files in studies.items():
        for file, columns in files.items():
            key, path = _stem(f"{study}/{file}"), f"{STUDIES}/{study}/{file}"
            if file.endswith(".json"):
                lines[key] = json.loads(_read(root, path))
            else:
                tables[key] = _table(root, path, columns.split())
    return Artifacts(tables, documents, lines)


def settings_of(models: Iterable[str]) -> list[str]:
    """Return the setting names of all models, without duplicates."""
    names = (name for model in dict.fromkeys(models) for name in (*setting_types(model), *LIMITS))
    return list(dict.fromkeys(names))


def _stem(file: str) -> str:
    return file.rpartition(".")[0]


def _stage(file: str) -> str:
    """Return the stage that writes a file."""
    folder, name, *_ = file.split("/")
    return f"study@{name}" if folder == STUDIES else folder


def _read(root: Path, file: str) -> str:
    path = root / file
    if not path.is_file():
        raise ArtifactError(f"{root.name}/{file} is missing; run: dvc repro {_stage(file)}")
    return path.read_text(encoding="utf-8")


def _table(root: Path, file: str, columns: Sequence[str]) -> pd.DataFrame:
    """Read a CSV file; only an empty cell is a missing value."""
    text = StringIO(_read(root, file))
    table = pd.read_csv(text, dtype=TEXT_COLUMNS, keep_default_na=False, na_values=[""])
    _check_columns(root, file, table, columns)
    return table


def _check_columns(root: Path, file: str, table: pd.DataFrame, columns: Sequence[str]) -> None:
    if missing := [name for name in columns if name not in table.columns]:
        command = f"dvc repro -f -s {_stage(file)}"
        raise ArtifactError(
            f"{root.name}/{file} has no column {', '.join(missing)}; run: {command}"
        )
