"""The base class of the sections of params.yaml, the types of their values, and error messages.

A message has the key, its value and the expected one.
"""

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Literal, get_args, get_origin
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidatorFunctionWrapHandler,
)
from pydantic_core import CoreConfig, ErrorDetails, PydanticCustomError, core_schema

from actmodels import ranges, validators
from actmodels.errors import shown
from actmodels.registry import MODELS
from actmodels.trial_config import setting_types
from actmodels.validators import MOST, TYPES, Between, Epochs, NonNegativeInt

# A preset's mark for a value that the user sets.
UNSET = "REQUIRED"
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


class ParamsSection(BaseModel):
    """A mapping of params.yaml: frozen, without unknown keys or type conversions."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True
    )


class Keys:
    """Annotate a mapping with its allowed keys, the type of each, and the required ones."""

    def __init__(self, types: Mapping[str, Any], *, required: Collection[str] = ()) -> None:
        self.types, self.required = types, required

    def __get_pydantic_core_schema__(self, _source: Any, handler: Any) -> core_schema.CoreSchema:
        """Return a typed dictionary whose validated values keep the file's order."""
        distinct = {id(of): of for of in self.types.values()}  # `each` has one type for many keys
        schemas = {key: handler.generate_schema(of) for key, of in distinct.items()}
        fields = {
            name: core_schema.typed_dict_field(schemas[id(of)], required=name in self.required)
            for name, of in self.types.items()
        }
        config = CoreConfig(strict=True, allow_inf_nan=False)
        schema = core_schema.typed_dict_schema(fields, extra_behavior="forbid", config=config)

        def in_order(value: Any, validate: ValidatorFunctionWrapHandler) -> dict[str, Any]:
            checked = validate(value)
            return {name: checked[name] for name in value}

        return core_schema.no_info_wrap_validator_function(in_order, schema)


class MustBe:
    """Require that a value fulfills a rule; the error says that it must be `wording`.

    Args:
        rule: returns whether a value is valid; or a regular expression for the whole text.
    """

    def __init__(self, wording: str, rule: Callable[[Any], object] | str) -> None:
        self.wording = wording
        self.rule = re.compile(rule).fullmatch if isinstance(rule, str) else rule

    def check(self, value: Any) -> Any:
        """Return a valid value."""
        if not self.rule(value):
            raise PydanticCustomError("must_be", "must be {wording}", {"wording": self.wording})
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        """Check after pydantic has checked the type."""
        return core_schema.no_info_after_validator_function(self.check, handler(source))


def is_url(text: str) -> bool:
    """Return whether text is an absolute URL that `fetch` can open."""
    try:
        port = urlsplit(text).port
    except ValueError:  # an open bracket, or a port that is not a number
        return False
    return port != 0 and "%00" not in text and re.fullmatch(URL, text) is not None


def is_pattern(text: str) -> bool:
    """Return whether text is a regular expression."""
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


UNIQUE = MustBe("a list with each value once", lambda values: len(set(values)) == len(values))
NON_EMPTY = Field(min_length=1)  # for lists and mappings
Pairs = Annotated[int, Between(ge=1, le=10**8)]  # 200 times SNLI
Bytes = Annotated[int, Between(ge=1, le=10**15)]  # a petabyte
Seconds = Annotated[float, Between(ge=0, le=604_800)]  # a week
UNITS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60}
TIME = re.compile("".join(rf"(?:(\d{{1,5}}){unit})?" for unit in UNITS))
A_TIME = "a time of weeks, days, hours and minutes, such as 30d, 2h or 1h30m"


def seconds_of(time: str | None) -> float:
    """Return the seconds of a time such as 30d, 2h or 1h30m; None: infinite, 0: no such time."""
    if time is None:
        return math.inf
    numbers = match.groups("0") if (match := TIME.fullmatch(time)) else ["0"] * len(UNITS)
    return sum(float(n) * unit for n, unit in zip(numbers, UNITS.values(), strict=True))


Time = Annotated[str, MustBe(A_TIME, seconds_of)]
Seeds = Annotated[list[NonNegativeInt], Field(min_length=1, max_length=1000), UNIQUE]
Name = Annotated[str, MustBe("text", rf"(?!{UNSET}$)[\s\S]+")]
# a blank is encoded when the file is fetched
URL = r"(?i:https?://[^/\s]+/\S(.*\S)?|file:///.+)"
Url = Annotated[str, MustBe("a URL that starts with https://, http:// or file:///", is_url)]
PATH = rf"(?!\s*$|{UNSET}$)(?![\s\S]*(://|\0))[\s\S]+"


def are_places(value: Any) -> bool:
    """Return whether a value is a path or URL, or a list of different ones."""
    places = value if isinstance(value, list) and value else [value]
    are_text = all(isinstance(place, str) for place in places)
    return are_text and len(set(places)) == len(places) and all(map(is_place, places))


def is_place(text: str) -> bool:
    """Return whether text is a path or a URL."""
    return is_url(text) or re.fullmatch(PATH, text) is not None


Places = Annotated[
    str | Annotated[list[str], NON_EMPTY, UNIQUE],
    BeforeValidator(
        MustBe(
            "a path, or a URL that starts with https://, http:// or file:///, or a list of these",
            are_places,
        ).check
    ),
]
STORAGE = "a folder, or a URL: file:///folder, s3://bucket/prefix or gs://bucket/prefix"
FOLDER = r"(?!\s)((file:///|(s3|gs|abfs)://)[^/].*|(?!~[^/]|[A-Za-z][\w+.-]*:).+)(?<!\s)"
StoragePath = Annotated[str, MustBe(STORAGE, FOLDER)]
Pattern = Annotated[str, MustBe("a regular expression", is_pattern)]
Sha256 = Annotated[str, MustBe("a SHA-256 of 64 lower-case hex digits", "[0-9a-f]{64}")]
SPLITS = ("train", "dev", "test")
# of the types of an axis, in the paths of pydantic's errors
TAGS = ("a list", "a range in a list", "a range")


def each(names: Collection[str], of: Any, *, required: bool = False) -> Keys:
    """Return Keys with one type for all values."""
    return Keys(dict.fromkeys(names, of), required=names if required else ())


def axes(types: Mapping[str, Any], *, or_range: bool = False) -> Keys:
    """Return Keys for a grid: each setting has a list of distinct values, or a number a range."""
    distinct = {id(of): of for of in types.values()}
    axis = {key: _list_or_range(of) if or_range else _list(of) for key, of in distinct.items()}
    return Keys({name: axis[id(of)] for name, of in types.items()})


def _list(of: Any) -> Any:
    return Annotated[list[of], NON_EMPTY, UNIQUE]


def _list_or_range(of: Any) -> Any:
    """Return the type of an axis; a range keeps to the range of its setting."""
    number = get_args(of)[0] if get_args(of) else of
    if number not in (int, float):
        return _list(of)
    step: Any = Annotated[number, Between(gt=0, le=MOST)]
    keys = {"min": of, "max": of, "scale": Literal["linear", "log"], "step": step}
    values: Any = Annotated[
        dict[str, Any], Keys(keys, required=("min", "max")), AfterValidator(_checked_range)
    ]
    # `dvc exp run -S` cannot replace a list by a mapping
    within: Any = Annotated[list[values], Field(min_length=1, max_length=1), AfterValidator(_first)]
    tagged = zip((_list(of), within, values), TAGS, strict=True)
    types = [Annotated[one, Tag(tag)] for one, tag in tagged]
    return Annotated[types[0] | types[1] | types[2], Discriminator(_tag)]


def _tag(value: Any) -> str:
    in_list = isinstance(value, list) and bool(value) and isinstance(value[0], dict)
    return TAGS[1 if in_list else 2 * isinstance(value, dict)]


def _first(values: list[Any]) -> Any:
    return values[0]


def _checked_range(values: dict[str, Any]) -> dict[str, Any]:
    if problems := ranges.Range(**values).problems():
        wording = f"a range with {', '.join(problems)}"
        raise PydanticCustomError("must_be", "must be {wording}", {"wording": wording})
    return values


class Fetched(ParamsSection):
    """A file to download: mirrors, and digest and size if known."""

    urls: Annotated[list[Url], NON_EMPTY]
    sha256: Sha256 | None
    bytes: Bytes | None


class TextSource(Fetched):
    """A text to download: members of a zip archive, joined in order; without members the file."""

    name: Annotated[str, MustBe("a name of letters, digits, _ and -", r"[A-Za-z0-9][A-Za-z0-9_-]*")]
    members: Annotated[list[Name], UNIQUE]


Settings = dict[str, Any]
Axes = dict[str, Any]  # setting -> compared values, or the keys of a range
# Types of the settings of all trials on pairs, by name.
PAIRS = {name: of for model in MODELS for name, of in setting_types(model).items()}
LIMITS = {"max_epochs": Epochs, "patience": NonNegativeInt}


class Limits(ParamsSection):
    """The length of training."""

    max_epochs: Epochs
    patience: NonNegativeInt


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
    if problem == "too_short" and context["min_length"] == 1:
        return f"{key} is empty; must have at least one value"
    if problem == "too_short":
        return f"{key} has {len(value)} values; must be at least {context['min_length']}"
    if problem == "too_long":
        return f"{key} has {len(value):,} values; must be at most {context['max_length']:,}"
    if limits := {name: context[name] for name in validators.LIMITS if name in context}:
        return f"{key} is {shown(value)}; must be {Between(**limits).wording}"
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
    if isinstance(schema, type) and issubclass(schema, ParamsSection):
        return {name: info.rebuild_annotation() for name, info in schema.model_fields.items()}
    parts = get_args(schema)
    if get_origin(schema) in (dict, list):
        return {None: parts[-1]}
    # Annotated, where Keys follow their type; or an optional section
    return next((fields for part in reversed(parts) if (fields := _fields(part))), {})
