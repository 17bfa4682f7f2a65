"""What a registered model needs: the code that answers, without training, and its signature."""

import hashlib
import json
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

from actmodels.configs import LABELS
from actmodels.provenance import files_behind, sources, without_prose
from actmodels.registry import MODELS
from pipeline.datasets.parses import folded
from pipeline.datasets.tokenizer import tokenize

ROOT = Path(__file__).parents[2]
PACKAGES = ("actmodels", "pipeline")
LOADER = "pipeline.inference.loader"
LIBRARIES = ("torch", "safetensors", "numpy", "pandas")  # MLflow adds itself
EXAMPLE = {
    "premise": ["A man plays a guitar on the street.", "Two dogs run across a field."],
    "hypothesis": ["A man is asleep.", "Animals are outdoors."],
}


def example(model: str) -> dict[str, list[str]]:
    """Return columns that meet the signature; parses for a model that reads them."""
    if not MODELS[model].reads_parses:
        return EXAMPLE
    return {part: [folded(tokenize(text, False)) for text in EXAMPLE[part]] for part in EXAMPLE}


def code_files(model: str) -> dict[Path, str]:
    """Return the files that loading and asking `model` imports, with their text.

    Models and halting are found by name (actmodels.registry), so those of `model` are added.
    """
    names = [LOADER, *(name.split(":")[0] for name in MODELS[model].classes)]
    texts = sources(*(ROOT / package for package in PACKAGES))
    return {path: texts[path] for path in files_behind(names, texts, ROOT)}


def copy_code(model: str, folder: Path) -> list[Path]:
    """Copy these files into a folder; return the folders of the packages."""
    for path in code_files(model):
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return [folder / package for package in PACKAGES]


def code_digest(model: str) -> str:
    """Return SHA-256 over these files without comments and the versions of the libraries."""
    digest = hashlib.sha256("\n".join(requirements()).encode())
    for path, text in code_files(model).items():
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(without_prose(text).encode())
    return digest.hexdigest()


def requirements() -> list[str]:
    """Return exact versions of the libraries, without a local suffix such as +cpu."""
    return [f"{name}=={version(name).split('+')[0]}" for name in LIBRARIES]


def signature() -> dict[str, str]:
    """Return inputs, outputs and parameters as MLflow's JSON; see EntailmentModel.predict."""
    text, share, whole = ({"type": name} for name in ("string", "double", "long"))
    probabilities = dict.fromkeys(LABELS, share)
    step = {
        **{"step": whole, "halting_probability": share, "weight": share, "class": text},
        "class_probabilities": _object(probabilities),
        **{"premise_attention": _list(share), "hypothesis_attention": _list(share)},
    }
    tokens = {"premise": _list(text), "hypothesis": _list(text)}
    outputs = {"predicted": text, **probabilities, "unknown_words": _list(text)}
    # without steps a model has neither; attention comes when it is asked for
    optional = {"steps": whole, "attention": _object({**tokens, "trace": _list(_object(step))})}
    params = [{"name": "attention", "type": "boolean", "default": False, "shape": None}]
    return {
        "inputs": json.dumps(_columns({"premise": text, "hypothesis": text}, True)),
        "outputs": json.dumps([*_columns(outputs, True), *_columns(optional, False)]),
        "params": json.dumps(params),
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _object(properties: dict[str, dict[str, Any]]) -> dict[str, Any]:
    required = {name: {**kind, "required": True} for name, kind in properties.items()}
    return {"type": "object", "properties": required}


def _columns(kinds: dict[str, dict[str, Any]], required: bool) -> list[dict[str, Any]]:
    return [{"name": name, **kind, "required": required} for name, kind in kinds.items()]
