"""What goes along with a registered model: the code that answers, and what MLflow states about it.

The code is what its answers need, and no training.
"""

import hashlib
import json
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

from actmodels.data.labels import LABELS
from actmodels.imports import files_behind, sources, without_prose
from actmodels.registry import MODELS
from pipeline.sources.parses import folded
from pipeline.sources.treebank import tokenise

ROOT = Path(__file__).parents[2]
PACKAGES = ("actmodels", "pipeline")
LOADER = "pipeline.answering.loader"
LIBRARIES = ("torch", "safetensors", "numpy", "pandas")  # MLflow adds itself
EXAMPLE = {
    "premise": ["A man plays a guitar on the street.", "Two dogs run across a field."],
    "hypothesis": ["A man is asleep.", "Animals are outdoors."],
}


def example(model: str) -> dict[str, list[str]]:
    """Columns that meet the signature; of parses for a model that reads them."""
    if not MODELS[model].reads_parses:
        return EXAMPLE
    return {part: [folded(tokenise(text, False)) for text in EXAMPLE[part]] for part in EXAMPLE}


def code() -> dict[Path, str]:
    """The text of each module that may go along."""
    return sources(*(ROOT / package for package in PACKAGES))


def code_files(model: str) -> list[Path]:
    """The files that loading and asking `model` imports, found by following imports.

    Models and halting are found by name (actmodels.registry), so those of `model` are added.
    """
    names = [LOADER, *(name.split(":")[0] for name in MODELS[model].classes)]
    return files_behind(names, code(), ROOT)


def copy_code(model: str, folder: Path) -> list[Path]:
    """Copy these files, packages as they are, into a folder; gives the packages' folders."""
    for path in code_files(model):
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return [folder / package for package in PACKAGES]


def code_digest(model: str) -> str:
    """SHA-256 over these files without comments, and over the versions of the libraries."""
    digest = hashlib.sha256("\n".join(requirements()).encode())
    texts = code()
    for path in code_files(model):
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(without_prose(texts[path]).encode())
    return digest.hexdigest()


def requirements() -> list[str]:
    """Exact versions of the libraries; without a local suffix such as +cpu, which no index has."""
    return [f"{name}=={version(name).split('+')[0]}" for name in LIBRARIES]


def signature() -> dict[str, str]:
    """Inputs, outputs and parameters of a model; see EntailmentModel.predict."""
    probabilities = {label: _of("double") for label in LABELS}
    step = {
        "step": _of("long"),
        "halting_probability": _of("double"),
        "weight": _of("double"),
        "class": _of("string"),
        "class_probabilities": _object(probabilities),
        "premise_attention": _list(_of("double")),
        "hypothesis_attention": _list(_of("double")),
    }
    attention = {
        "premise": _list(_of("string")),
        "hypothesis": _list(_of("string")),
        "trace": _list(_object(step)),
    }
    inputs = {"premise": _of("string"), "hypothesis": _of("string")}
    unknown = {"unknown_words": _list(_of("string"))}
    outputs = {"predicted": _of("string"), **probabilities, **unknown}
    # a model that takes no steps has neither; attention comes when it is asked for
    optional = {"steps": _of("long"), "attention": _object(attention)}
    params = [{"name": "attention", "type": "boolean", "default": False, "shape": None}]
    return {
        "inputs": json.dumps(_columns(inputs, required=True)),
        "outputs": json.dumps(
            [*_columns(outputs, required=True), *_columns(optional, required=False)]
        ),
        "params": json.dumps(params),
    }


def _of(name: str) -> dict[str, Any]:
    return {"type": name}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _object(properties: dict[str, dict[str, Any]]) -> dict[str, Any]:
    required = {name: {**kind, "required": True} for name, kind in properties.items()}
    return {"type": "object", "properties": required}


def _columns(kinds: dict[str, dict[str, Any]], *, required: bool) -> list[dict[str, Any]]:
    return [{"name": name, **kind, "required": required} for name, kind in kinds.items()]
