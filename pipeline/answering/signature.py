"""What MLflow states about a model and checks of a request, in the JSON forms that it stores."""

import json
from typing import Any

from actmodels.data.labels import LABELS

EXAMPLE = {
    "premise": ["A man plays a guitar on the street.", "Two dogs run across a field."],
    "hypothesis": ["A man is asleep.", "Animals are outdoors."],
}


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
