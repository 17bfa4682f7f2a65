"""Error messages for params.yaml: each has the key, its value and the expected one."""

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Any, get_args, get_origin

from pydantic_core import ErrorDetails

from actmodels.errors import shown
from actmodels.validators import LIMITS, TYPES, Range
from pipeline.parameters.section import TAGS, UNSET, Keys, Section

KeyPath = tuple[int | str, ...]
MAX_LISTED = 20  # known names, where none is close to the unknown one
MAPPING = "a mapping of names to values"
EXPECTED = {  # by pydantic's error type
    **{f"{of.__name__}_type": wording for of, (wording, _) in TYPES.items()},
    "finite_number": "a finite number",
    **dict.fromkeys(("string_type", "string_unicode"), TYPES[str][0]),
    "list_type": "a list",
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), MAPPING),
    "literal_error": "{expected}",
    "must_be": "{wording}",
}


def dotted(path: KeyPath) -> str:
    """Return a path of keys as text: `sweep.models.x.grid.dropout[1]`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def unknown(path: KeyPath, known: Sequence[str]) -> str:
    """Return the message for an unknown key, with the closest known key."""
    closest = get_close_matches(str(path[-1]), known, n=1)
    if closest:
        return f"{dotted(path)} is unknown; did you mean {dotted((*path[:-1], closest[0]))}?"
    return f"{dotted(path)} is unknown; must be one of {listed(known)}"


def listed(known: Collection[str]) -> str:
    """Return names as text, the first MAX_LISTED of many."""
    names = [*known][:MAX_LISTED]
    return ", ".join([*names, *["…"] * (len(known) > MAX_LISTED)]) or "which is empty"


def sentence(details: ErrorDetails, schema: Any) -> str:
    """Return the message for one pydantic error; `schema` is the validated type."""
    problem, value = details["type"], details["input"]
    path = tuple(part for part in details["loc"] if part not in TAGS)
    if path[-1:] == ("[key]",):
        path = path[:-1]
    key, context = dotted(path) or "the line", details.get("ctx", {})
    if problem == "missing":
        return f"{key} is missing"
    if problem == "unset":
        return f"{key}: {details['msg']}"
    if value == UNSET:
        return f"{key} has no value yet; name it: act-nli use '{key}=...'"
    if problem in ("extra_forbidden", "invalid_key"):
        return unknown(path, list(_fields(_type_at(schema, path[:-1]))))
    if problem == "too_short":
        return f"{key} is empty; must have at least one value"
    if problem == "too_long":
        return f"{key} has {len(value):,} values; must be at most {context['max_length']:,}"
    if limits := {name: context[name] for name in LIMITS if name in context}:
        return f"{key} is {shown(value)}; must be {Range(**limits).wording}"
    if problem not in EXPECTED:
        return f"{key} is {shown(value)}; {details['msg']}"
    return f"{key} is {shown(value)}; must be {EXPECTED[problem].format(**context)}"


def _type_at(schema: Any, path: KeyPath) -> Any:
    """Return the type of the value at a path."""
    for part in path:
        fields = _fields(schema)
        schema = fields.get(part) or fields.get(None, schema)  # a range may be in a list
    return schema


def _fields(schema: Any) -> dict[Any, Any]:
    """Return the type of each key; the key None stands for any key or index."""
    if isinstance(schema, Keys):
        return dict(schema.types)
    if isinstance(schema, type) and issubclass(schema, Section):
        return {name: info.rebuild_annotation() for name, info in schema.model_fields.items()}
    parts = get_args(schema)
    if get_origin(schema) in (dict, list):
        return {None: parts[-1]}
    # Annotated, where Keys follow their type; or an optional section
    return next((fields for part in reversed(parts) if (fields := _fields(part))), {})
