"""Every problem of params.yaml that one key shows alone, as sentences that name the key."""

from typing import Any, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from pipeline.parameters.schema import Params
from pipeline.parameters.section import Section
from pipeline.parameters.sentences import KeyPath, dotted, unknown

# What a preset writes for a value that it leaves to the user. Hydra's own mark, ???, will not
# do: merged over a value it keeps that value.
UNSET = "REQUIRED"

EXPECTED = {
    "list_type": "a list",
    "too_short": "not be empty",
    "dict_type": "a mapping of names to values",
    "model_type": "a mapping of names to values",
    "model_attributes_type": "a mapping of names to values",
}


def unset(tree: Any, path: KeyPath = ()) -> dict[KeyPath, str]:
    """Sentences for the values that a preset leaves to the user, by path."""
    if tree == UNSET:
        key = dotted(path)
        return {path: f"{key} is not set; the preset needs it on the command line: -S '{key}=...'"}
    branches: Any = ()
    if isinstance(tree, dict):
        branches = tree.items()
    elif isinstance(tree, list):
        branches = enumerate(tree)
    found: dict[KeyPath, str] = {}
    for key, branch in branches:
        found |= unset(branch, (*path, key))
    return found


def checked(tree: dict[str, Any]) -> tuple[Params | None, dict[KeyPath, str]]:
    """The parameters, or unknown and missing keys, wrong types and ranges, by path."""
    try:
        return Params.model_validate(tree), {}
    except ValidationError as error:
        return None, {details["loc"]: _sentence(details) for details in error.errors()}


def _sentence(details: ErrorDetails) -> str:
    path, kind = details["loc"], details["type"]
    key, value = dotted(path), details["input"]
    if kind == "missing":
        return f"{key} is missing"
    if kind in ("extra_forbidden", "invalid_key"):
        return unknown(path, _known_keys(path[:-1]))
    if kind == "too_short":
        return f"{key} is empty; must have at least one value"
    if kind == "literal_error":
        return f"{key} is {value!r}; must be {details['ctx']['expected']}"
    if kind in EXPECTED:
        return f"{key} is {value!r}; must be {EXPECTED[kind]}"
    return f"{key} is {value!r}; {details['msg']}"


def _known_keys(path: KeyPath) -> list[str]:
    """The keys that the schema has under `path`."""
    kind: Any = Params
    for part in path:
        if get_origin(kind) is dict:
            kind = get_args(kind)[1]
        else:
            kind = kind.model_fields[part].annotation
            # an optional section: `Section | None`
            sections = [k for k in get_args(kind) if isinstance(k, type) and issubclass(k, Section)]
            if sections and get_origin(kind) is not dict:
                kind = sections[0]
    return list(kind.model_fields)
