"""The JSON Schema of params.yaml, which editors read: that of pydantic, without repetition."""

import hashlib
import json
from typing import Any

from pipeline.parameters.studies import params_type, study_names

SHARED = 110  # characters: a longer schema has a definition


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of params.yaml, in which the section of each study is optional."""
    names, definitions = study_names(), dict[str, Any]()

    def shared(node: Any, *, whole: bool = False) -> Any:
        """Return a schema without titles, or a reference to its definition."""
        if isinstance(node, list):
            return [shared(item) for item in node]
        if not isinstance(node, dict):
            return node
        node = {k: shared(v) for k, v in node.items() if not (k == "title" and type(v) is str)}
        text = json.dumps(node)
        if whole or len(text) < SHARED or not isinstance(node.get("type"), str):
            return node
        name = hashlib.sha256(text.encode()).hexdigest()[:8]
        definitions[name] = node
        return {"$ref": f"#/$defs/{name}"}

    schema = params_type(*names).model_json_schema()
    definitions |= {name: shared(of, whole=True) for name, of in schema.pop("$defs").items()}
    required = [name for name in schema["required"] if name not in names]
    return shared(schema, whole=True) | {"required": required, "$defs": definitions}
