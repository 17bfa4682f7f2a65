"""The JSON Schema of params.yaml, which editors read."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pipeline.parameters.studies import params_type, study_names

SHARED = 110  # characters: a definition that occurs twice is worth a reference from here on


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of params.yaml, in which the section of each study is optional.

    Models share their settings: what occurs more than once has one definition.
    """
    names = study_names()
    schema = params_type(*names).model_json_schema()
    schema["required"] = [name for name in schema["required"] if name not in names]
    places = list(_schemas(schema))
    for inner, _, _ in places:
        inner.pop("title", None)
    texts = [json.dumps(inner) for inner, _, _ in places]
    counts, definitions = Counter(texts), {}
    for (inner, parent, key), text in zip(places, texts, strict=True):
        if counts[text] > 1 and len(text) > SHARED:
            name = hashlib.sha256(text.encode()).hexdigest()[:8]
            definitions[name] = inner
            parent[key] = {"$ref": f"#/$defs/{name}"}
    return schema | {"$defs": schema["$defs"] | definitions}


def _schemas(schema: dict[str, Any]) -> Iterator[tuple[dict[str, Any], Any, Any]]:
    """Yield each schema within a schema, its parent and its key; the innermost first."""
    places = [
        (parent, key)
        for name in ("properties", "$defs", "anyOf", "oneOf")
        for parent in [schema.get(name, {})]
        for key in (parent if isinstance(parent, dict) else range(len(parent)))
    ]
    places += [(schema, name) for name in ("items", "additionalProperties")]
    for parent, key in places:
        inner = parent.get(key) if isinstance(parent, dict) else parent[key]
        if isinstance(inner, dict):
            yield from _schemas(inner)
            yield inner, parent, key
