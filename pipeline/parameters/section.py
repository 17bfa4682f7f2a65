"""The base class of the sections of params.yaml, and the types of their values."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidatorFunctionWrapHandler
from pydantic_core import CoreConfig, PydanticCustomError, core_schema

from actmodels.registry import MODELS
from actmodels.trial_config import setting_types
from actmodels.validators import Epochs, NonNegativeInt, Range

# A preset's mark for a value that the user sets. Merged over a value, Hydra's ??? would keep it.
UNSET = "REQUIRED"


class Section(BaseModel):
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
        schema: the rule as JSON schema, by keyword; for a regular expression it is added.
    """

    def __init__(self, wording: str, rule: Callable[[Any], object] | str, **schema: Any) -> None:
        self.wording, self.schema = wording, schema
        if isinstance(rule, str):
            rule, self.schema = re.compile(rule).fullmatch, {"pattern": f"^({rule})$"}
        self.rule = rule

    def check(self, value: Any) -> Any:
        """Return a valid value."""
        if not self.rule(value):
            raise PydanticCustomError("must_be", "must be {wording}", {"wording": self.wording})
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        """Check after pydantic has checked the type."""
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        """Add the rule to the JSON schema of the type."""
        return {**handler(schema), **self.schema}


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


UNIQUE = MustBe(
    "a list with each value once",
    lambda values: len(set(values)) == len(values),
    uniqueItems=True,
)
NON_EMPTY = Field(min_length=1, json_schema_extra={"minProperties": 1})  # of lists and mappings
Pairs = Annotated[int, Range(ge=1, le=10**8)]  # 200 times SNLI
Bytes = Annotated[int, Range(ge=1, le=10**15)]  # a petabyte
Seconds = Annotated[float, Range(ge=0, le=604_800)]  # a week
Seeds = Annotated[list[NonNegativeInt], Field(min_length=1, max_length=1000), UNIQUE]
Name = Annotated[str, MustBe("text", rf"(?!{UNSET}$)[\s\S]+")]
# a JSON schema has no flag for the case; a blank is encoded when the file is fetched
URL = r"[Hh][Tt][Tt][Pp][Ss]?://[^/\s]+/\S(.*\S)?|[Ff][Ii][Ll][Ee]:///.+"
Url = Annotated[
    str,
    MustBe("a URL that starts with https://, http:// or file:///", is_url, pattern=f"^({URL})$"),
]
PATH = rf"(?!\s*$|{UNSET}$)(?![\s\S]*(://|\0))[\s\S]+"
Place = Annotated[str, Field(json_schema_extra={"pattern": f"^({URL}|{PATH})$"})]


def are_places(value: Any) -> bool:
    """Return whether a value is a path or URL, or a list of different ones."""
    places = value if isinstance(value, list) and value else [value]
    are_text = all(isinstance(place, str) for place in places)
    return are_text and len(set(places)) == len(places) and all(map(is_place, places))


def is_place(text: str) -> bool:
    """Return whether text is a path or a URL."""
    return is_url(text) or re.fullmatch(PATH, text) is not None


Places = Annotated[
    Place | Annotated[list[Place], NON_EMPTY, UNIQUE],
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
Pattern = Annotated[str, MustBe("a regular expression", is_pattern, format="regex")]
Sha256 = Annotated[str, MustBe("a SHA-256 of 64 lower-case hex digits", "[0-9a-f]{64}")]
SPLITS = ("train", "dev", "test")


def each(names: Collection[str], of: Any, *, required: bool = False) -> Keys:
    """Return Keys with one type for all values."""
    return Keys(dict.fromkeys(names, of), required=names if required else ())


def axes(types: Mapping[str, Any]) -> Keys:
    """Return Keys for a grid: each setting has a list of distinct values."""
    return Keys({name: Annotated[list[of], NON_EMPTY, UNIQUE] for name, of in types.items()})  # type: ignore[valid-type]


class Fetched(Section):
    """A file to download: mirrors, and digest and size if known."""

    urls: Annotated[list[Url], NON_EMPTY]
    sha256: Sha256 | None
    bytes: Bytes | None


class TextSource(Fetched):
    """A text to download: members of a zip archive, joined in order; without members the file."""

    name: Annotated[str, MustBe("a name of letters, digits, _ and -", r"[A-Za-z0-9][A-Za-z0-9_-]*")]
    members: Annotated[list[Name], UNIQUE]


Settings = dict[str, Any]
Axes = dict[str, list[Any]]  # setting -> compared values
# Types of the settings of all trials on pairs, by name.
PAIRS = {name: of for model in MODELS for name, of in setting_types(model).items()}
LIMITS = {"max_epochs": Epochs, "patience": NonNegativeInt}


class Limits(Section):
    """The length of training."""

    max_epochs: Epochs
    patience: NonNegativeInt
