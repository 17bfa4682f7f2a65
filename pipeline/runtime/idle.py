"""Stages of which nothing is asked write empty results before imports that take seconds."""

from functools import partial
from typing import Any

from actmodels.errors import ArtifactError, UserError
from actmodels.files import write_text
from actmodels.tables import COLUMNS, UNREPORTED
from pipeline.parameters.load import load_params
from pipeline.runtime.results import write_json, write_table
from pipeline.runtime.stage import artifacts, clean_dir, run_stage

# stage -> the key of its section that is empty, or "none", where nothing is asked
ASKED = {
    **{"fidelity": "models", "sizes": "models", "halting": "kinds", "sequences": "tasks"},
    **{"cloze": "kinds", "cloze_data": "source"},
}
MANIFEST: dict[str, Any] = {"source": "none", "kinds": {}}  # of no questions


def end_if_idle(stage: str) -> None:
    """Write empty results and exit if params.yaml asks nothing of a stage."""
    if is_idle(stage):
        run_stage(partial(write_nothing, stage), stage)


def is_idle(stage: str) -> bool:
    """Return whether nothing is asked of a stage; parameters with mistakes are for its own run."""
    try:
        return getattr(getattr(load_params(), stage), ASKED[stage]) in ({}, [], "none")
    except UserError:
        return False


def write_nothing(stage: str) -> None:
    """Write tables without rows and an empty summary."""
    if not is_idle(stage):
        raise ArtifactError(f"{stage}: params.yaml changed as it began; run dvc repro again")
    folder = artifacts(stage)
    with clean_dir(folder):
        for place in COLUMNS | UNREPORTED:
            if place.startswith(f"{stage}/"):
                write_table(artifacts(place), [])
        if stage == "cloze":
            write_text(folder / "queries.jsonl", "")
        if stage == "cloze_data":
            write_json(folder / "manifest.json", MANIFEST, indent=1)
        else:
            write_json(folder / "summary.json", {})
