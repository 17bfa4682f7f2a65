"""What every section of params.yaml is made of: kinds of values, each with its wording."""

import re
from typing import Annotated, Any, Literal, get_args
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from actmodels import values
from actmodels.values import Range, at_most, is_float, wanted


def must_be(wording: str) -> WrapValidator:
    """Say the whole of what is expected, whichever part of it a value fails."""

    def check(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
        try:
            return validate(value)
        except ValidationError:
            raise PydanticCustomError(
                "must_be", "must be {wording}", {"wording": wording}
            ) from None

    return WrapValidator(check)


def is_url(text: str) -> bool:
    """Return whether text is an absolute URL that `fetch` can open."""
    try:
        port = urlsplit(text).port
    except ValueError:  # a bracket is open, or the port is no number
        return False
    return (
        port != 0
        and "%00" not in text
        and bool(re.fullmatch(r"https?://[^/\s]+/\S+|file:///.+", text))
    )


def is_place(text: str) -> bool:
    """Return whether text is a folder or a URL of an object store, and no URL that is mistyped."""
    known = r"(file:///|(s3|gs|abfs)://)[^/].*|(?!~[^/]|[A-Za-z][\w+.-]*:).+"
    return text == text.strip() and bool(re.fullmatch(known, text))


def checked(hint: Any) -> PlainValidator:
    """As a setting of a trial is checked, with its words."""

    def check(value: Any) -> Any:
        if wording := wanted(hint, value):
            raise PydanticCustomError("number", "must be {wording}", {"wording": wording})
        return float(value) if is_float(hint) else value

    return PlainValidator(check)


Count = Annotated[int, checked(values.Count)]
Natural = Annotated[int, checked(values.Natural)]
Amount = Annotated[float, checked(values.Amount)]
Positive = Annotated[float, checked(values.Positive)]
Share = Annotated[float, checked(values.Share)]
Portion = Annotated[float, checked(values.Portion)]
Epochs = Annotated[int, checked(values.Epochs)]
Steps = Annotated[int, checked(values.Steps)]
Several = Annotated[int, checked(values.Several)]
Sequences = Annotated[int, checked(values.Sequences)]
Size = Annotated[int, checked(values.Size)]
Pairs = Annotated[int, checked(Annotated[int, values.ONE, at_most(10**8)])]  # SNLI's 200-fold
Bytes = Annotated[int, checked(Annotated[int, values.ONE, at_most(10**15)])]  # a petabyte
Retries = Annotated[int, checked(Annotated[int, values.NOUGHT, at_most(1000)])]
Halvings = Annotated[int, checked(Annotated[int, values.ONE, at_most(20)])]  # to one in a million
Seconds = Annotated[float, checked(Annotated[float, values.NOUGHT, at_most(604_800)])]  # a week
Seeds = Annotated[list[Natural], Field(min_length=1, max_length=1000)]
Switch = Annotated[bool, must_be("true or false")]
Name = Annotated[str, Field(min_length=1), must_be("text")]
URL = "a URL that starts with https://, http:// or file:///"
Url = Annotated[str, checked(Annotated[str, Range(is_url, URL)])]
PLACE = "a folder, or a URL: file:///folder, s3://bucket/prefix or gs://bucket/prefix"
Place = Annotated[str, checked(Annotated[str, Range(is_place, PLACE)])]
Sha256 = Annotated[
    str,
    Field(pattern=r"^[0-9a-f]{64}$"),
    must_be("a SHA-256 of 64 lower-case hex digits"),
]
Split = Literal["train", "dev", "test"]
SPLITS: tuple[str, ...] = get_args(Split)
Feature = Literal[
    "bleu", "length", "overlap", "hypothesis_ngrams", "cross_unigrams", "cross_bigrams"
]
Tie = Literal["dev_loss", "dev_mean_steps", "parameters", "grid_order"]


class Section(BaseModel):
    """A mapping of params.yaml: no unknown keys, no conversions, no changes afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class Fetched(Section):
    """A file that is fetched: mirrors, digest, and size where it is known."""

    urls: Annotated[list[Url], Field(min_length=1)]
    sha256: Sha256
    bytes: Bytes | None
