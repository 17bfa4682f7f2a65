"""Register the exported models in MLflow: after `export`, and for results that DVC restored."""

import json
import tempfile
from pathlib import Path
from typing import Any

from pipeline.inference import packaging
from pipeline.runtime.results import read_json
from pipeline.runtime.stage import artifacts, require_artifact, state_folder
from tune.code_digest import code_digest
from tune.exported_model import ExportedModel
from tune.provenance import provenance_tags
from tune.results import register

DESCRIPTION = "Sentence pairs: premise and hypothesis to class, probabilities and steps taken."


def register_exported(name: str) -> dict[str, str]:
    """Register the models of artifacts/export; return the version of each URI, the best last."""
    require_artifact("export", "models")
    exported = read_json("export", "best.json")
    models = exported["models"]
    with tempfile.TemporaryDirectory() as code:
        new = [exported_model(model, models[model], Path(code) / model) for model in models]
        return register(name, DESCRIPTION, new, exported["best"], state_folder())


def exported_model(name: str, stored: dict[str, Any], code: Path) -> ExportedModel:
    """Return a model for the registry; its code is copied into the empty folder `code`."""
    folder = artifacts("export", "models", name)
    requirements, files = packaging.requirements(), packaging.code_files(name)
    labels = json.loads((folder / "config.json").read_text(encoding="utf-8"))["labels"]
    of_code = code_digest(files, packaging.ROOT, requirements=requirements)
    card = (folder / "README.md").read_text(encoding="utf-8")
    return ExportedModel(
        alias=name,
        run=f"{name}-seed{stored['seed']}",
        digest=f"{stored['digest'][:16]}-{of_code[:16]}",
        data=folder,
        code=packaging.copy_code(name, code),
        loader=packaging.LOADER,
        requirements=requirements,
        signature=packaging.signature(labels),
        example=packaging.example(name),
        description=card.partition("---\n\n")[2],  # without the metadata
        tags={
            **provenance_tags(),
            "model": name,
            "seed": str(stored["seed"]),
            "trial_key": stored["key"],
            "data_digest": stored["data_digest"],
            "dev_accuracy": f"{stored['dev_accuracy']:.6f}",
        },
        metrics={"dev_accuracy": stored["dev_accuracy"], "parameters": stored["parameters"]},
    )
