"""Load the artefacts of one run of the pipeline."""

from pathlib import Path

from actmodels.config import setting_types
from actmodels.errors import ArtefactError
from reports.stored.artefacts import LIMITS, Artefacts, read_fields
from reports.stored.reading import check_columns


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
