"""How problems of params.yaml are worded: each names its key, its value and what is expected."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, get_args, get_origin

from pydantic_core import ErrorDetails

from actmodels.errors import shown
from pipeline.parameters.renamed import RENAMED
from pipeline.parameters.section import UNSET, Keys, Section

KeyPath = tuple[int | str, ...]
LISTED = 20  # of the keys that there are, where none is near a mistyped one
EXPECTED = {  # by pydantic's name of the problem
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "text",
    "string_unicode": "text",
    "list_type": "a list",
    "dict_type": "a mapping of names to values",
    "model_type": "a mapping of names to values",
    "model_attributes_type": "a mapping of names to values",
    "literal_error": "{expected}",
    "must_be": "{wording}",
    "greater_than_equal": "at least {ge:,.16g}",
    "greater_than": "above {gt:,.16g}",
    "less_than_equal": "at most {le:,.16g}",
    "less_than": "below {lt:,.16g}",
    "multiple_of": "a multiple of {multiple_of}",
}


def dotted(path: KeyPath) -> str:
    """The path of a key as people write it: `sweep.models.x.grid.dropout[1]`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def unknown(path: KeyPath, known: Sequence[str]) -> str:
    """Sentence for a key that is none of `known`, with its new name or the nearest of them."""
    if RENAMED.get(str(path[-1])) in known:
        return f"{dotted(path)} is now {RENAMED[str(path[-1])]}; rename it"
    nearest = get_close_matches(str(path[-1]), known, n=1)
    if nearest:
        return f"{dotted(path)} is unknown; did you mean {dotted((*path[:-1], nearest[0]))}?"
    listed = ", ".join([*known[:LISTED], *["…"] * (len(known) > LISTED)])
    return f"{dotted(path)} is unknown; must be one of {listed}"


def sentence(details: ErrorDetails, schema: Any) -> str:
    """One problem that pydantic reports, as a sentence; `schema` is the type that it checks."""
    path, problem, value = details["loc"], details["type"], details["input"]
    if path[-1:] == ("[key]",):
        path = path[:-1]
    key, context = dotted(path) or "the line", details.get("ctx", {})
    if problem == "missing":
        return f"{key} is missing"
    if value == UNSET:
        return f"{key} is not set; the preset needs it on the command line: -S '{key}=...'"
    if problem in ("extra_forbidden", "invalid_key"):
        return unknown(path, list(_types(_type_at(schema, path[:-1]))))
    if problem == "too_short":
        return f"{key} is empty; must have at least one value"
    if problem == "too_long":
        return f"{key} has {len(value):,} values; must be at most {context['max_length']:,}"
    if problem not in EXPECTED:
        return f"{key} is {shown(value)}; {details['msg']}"
    return f"{key} is {shown(value)}; must be {EXPECTED[problem].format(**context)}"


def _type_at(kind: Any, path: KeyPath) -> Any:
    """The type at a path."""
    for part in path:
        types = _types(kind)
        kind = types.get(part) or types[None]
    return kind


def _types(kind: Any) -> dict[Any, Any]:
    """The keys of a type, with the type of each; None is any key."""
    if isinstance(kind, Keys):
        return dict(kind.types)
    if isinstance(kind, type) and issubclass(kind, Section):
        return {name: of.rebuild_annotation() for name, of in kind.model_fields.items()}
    parts = get_args(kind)
    if get_origin(kind) in (dict, list):
        return {None: parts[-1]}
    # Annotated, with Keys behind the type that they belong to; or a section that may be null
    return next((found for part in reversed(parts) if (found := _types(part))), {})
