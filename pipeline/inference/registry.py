"""Register the exported models in MLflow: after `export`, and for results that DVC restored.

A model is packaged with its inference code, requirements, signature and example.
"""

import json
import shutil
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from actmodels.registry import MODELS
from pipeline.datasets.tokenizer import right_branching_parse, tokenize
from pipeline.runtime.results import read_json
from pipeline.runtime.stage import artifacts, require_artifact, state_folder
from tune.tracking.exported_model import ExportedModel
from tune.tracking.results import register
from tune.trials.provenance import code_digest, files_behind, provenance_tags, sources

DESCRIPTION = "Sentence pairs: premise and hypothesis to class, probabilities and steps taken."
ROOT = Path(__file__).parents[2]
PACKAGES = ("actmodels", "pipeline")
LOADER = "pipeline.inference.loader"
LIBRARIES = ("torch", "safetensors", "numpy", "pandas")  # MLflow adds itself
EXAMPLE = {
    "premise": ["A man plays a guitar on the street.", "Two dogs run across a field."],
    "hypothesis": ["A man is asleep.", "Animals are outdoors."],
}


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
    libraries, files = requirements(), code_files(name)
    labels = json.loads((folder / "config.json").read_text(encoding="utf-8"))["labels"]
    of_code = code_digest(files, ROOT, requirements=libraries)
    card = (folder / "README.md").read_text(encoding="utf-8")
    return ExportedModel(
        alias=name,
        run=f"{name}-seed{stored['seed']}",
        digest=f"{stored['digest'][:16]}-{of_code[:16]}",
        data=folder,
        code=copy_code(name, code),
        loader=LOADER,
        requirements=libraries,
        signature=signature(labels),
        example=example(name),
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


def example(model: str) -> dict[str, list[str]]:
    """Return an input example for the signature; binary parses if the model reads parses."""
    if not MODELS[model].reads_parses:
        return EXAMPLE
    return {
        part: [right_branching_parse(tokenize(text, False)) for text in texts]
        for part, texts in EXAMPLE.items()
    }


def code_files(model: str) -> dict[Path, str]:
    """Return the source files that inference with `model` imports, with their text.

    The registry loads classes by name, so the classes of `model` are added.
    """
    names = [LOADER, *(name.split(":")[0] for name in MODELS[model].references)]
    texts = sources(*(ROOT / package for package in PACKAGES))
    return {path: texts[path] for path in files_behind(names, texts, ROOT)}


def copy_code(model: str, folder: Path) -> list[Path]:
    """Copy the source files into a folder; return the folders of the packages."""
    for path in code_files(model):
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return [folder / package for package in PACKAGES]


def requirements() -> list[str]:
    """Return pinned versions without local suffixes such as +cpu."""
    return [f"{name}=={version(name).split('+')[0]}" for name in LIBRARIES]


def signature(classes: Sequence[str]) -> dict[str, str]:
    """Return inputs, outputs and params as JSON of MLflow; see EntailmentModel.predict."""
    text, real, integer = ({"type": name} for name in ("string", "double", "long"))
    texts, weights = ({"type": "array", "items": items} for items in (text, real))
    probabilities = dict.fromkeys(classes, real)
    step = {
        **{"step": integer, "halting_probability": real, "weight": real, "class": text},
        "class_probabilities": _object(probabilities),
        **{"premise_attention": weights, "hypothesis_attention": weights},
    }
    trace = {"type": "array", "items": _object(step)}
    attention = _object({"premise": texts, "hypothesis": texts, "trace": trace})
    outputs = {"unknown_words": texts, "reliable": {"type": "boolean"}}
    # null in a refusal; models without steps return neither; attention is returned on request
    optional = {"predicted": text, **probabilities, "refusal": text}
    optional |= {"steps": integer, "attention": attention}
    params = [{"name": "attention", "type": "boolean", "default": False, "shape": None}]
    return {
        "inputs": json.dumps(_columns({"premise": text, "hypothesis": text}, True)),
        "outputs": json.dumps([*_columns(outputs, True), *_columns(optional, False)]),
        "params": json.dumps(params),
    }


def _object(properties: dict[str, dict[str, Any]]) -> dict[str, Any]:
    required = {name: {**kind, "required": True} for name, kind in properties.items()}
    return {"type": "object", "properties": required}


def _columns(types: dict[str, Any], required: bool) -> list[dict[str, Any]]:
    return [{"name": name, **kind, "required": required} for name, kind in types.items()]
