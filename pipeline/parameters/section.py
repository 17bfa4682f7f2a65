"""What every section of params.yaml is made of: kinds of values, each with its wording."""

from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from actmodels.values import MOST


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


def at_most(most: int) -> WrapValidator:
    """Refuse what nobody would see the end of, or no memory holds."""

    def check(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
        found = validate(value)
        if found > most:
            raise PydanticCustomError("at_most", "must be at most {most}", {"most": f"{most:,}"})
        return found

    return WrapValidator(check)


Count = Annotated[int, Field(ge=1), must_be("a whole number of at least 1"), at_most(MOST)]
Natural = Annotated[int, Field(ge=0), must_be("a whole number of at least 0"), at_most(MOST)]
Amount = Annotated[float, Field(ge=0), must_be("a number of at least 0"), at_most(MOST)]
Positive = Annotated[float, Field(gt=0), must_be("a number above 0"), at_most(MOST)]
Bytes = Annotated[int, Field(ge=1), must_be("a whole number of at least 1"), at_most(10**15)]
Share = Annotated[float, Field(ge=0, lt=1), must_be("a number in [0, 1)")]
Switch = Annotated[bool, must_be("true or false")]
Name = Annotated[str, Field(min_length=1), must_be("text")]
Url = Annotated[
    str,
    Field(pattern=r"^(https?://[^/\s]+/\S+|file:///.+)$"),
    must_be("a URL that starts with https://, http:// or file:///"),
]
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
