"""End a stage that has nothing to do with empty results, before imports that take seconds."""

from collections.abc import Mapping
from functools import partial

from actmodels.errors import ArtifactError, UserError
from actmodels.files import write_text
from actmodels.tables import COLUMNS, UNREPORTED
from pipeline.parameters.load import load_params
from pipeline.runtime.results import write_table
from pipeline.runtime.stage import artifacts, clean_dir, run_stage

SUMMARY = {"summary.json": "{}\n"}


def end_if_idle(key: str, files: Mapping[str, str] = SUMMARY) -> None:
    """Write empty results and exit if a setting, `stage.name`, is empty or "none".

    Args:
        files: the text of each result file that is not a table, by name.
    """
    if is_idle(key):
        run_stage(partial(write_empty, key, files), key.partition(".")[0])


def is_idle(key: str) -> bool:
    """Return whether the setting is empty; False for invalid parameters: the stage reports them."""
    stage, name = key.split(".")
    try:
        return getattr(getattr(load_params(), stage), name) in ({}, [], "none")
    except UserError:
        return False


def write_empty(key: str, files: Mapping[str, str]) -> None:
    """Write empty results, unless the setting has changed."""
    stage = key.partition(".")[0]
    if not is_idle(key):
        raise ArtifactError(f"{stage}: params.yaml changed as it began; run dvc repro again")
    write_empty_results(stage, files)


def write_empty_results(stage: str, files: Mapping[str, str] = SUMMARY) -> None:
    """Write the stage's tables without rows, and its other files."""
    with clean_dir(artifacts(stage)):
        for table in COLUMNS | UNREPORTED:
            if table.startswith(f"{stage}/"):
                write_table(artifacts(table), [])
        for name, text in files.items():
            write_text(artifacts(stage, name), text)
