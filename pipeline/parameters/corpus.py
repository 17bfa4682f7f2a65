"""The section `corpus` of params.yaml: generated captions, SNLI, or the user's files."""

# ruff: noqa: D101  (params.yaml documents each section and key)

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from actmodels import validators
from pipeline.parameters.labels import CLASS_NAME, RESERVED
from pipeline.parameters.section import (
    NON_EMPTY,
    SPLITS,
    UNIQUE,
    Fetched,
    Keys,
    MustBe,
    Name,
    Pairs,
    Places,
    Section,
    Settings,
    Sha256,
    each,
)

FACTS = (
    *("kind", "count", "age", "size", "color", "mood", "headgear"),
    *("action", "relation", "place", "time", "day", "weather"),
)


class Captions(Section):
    seed: validators.NonNegativeInt
    train: Pairs
    dev: Pairs
    test: Pairs
    unlabeled: validators.HalfOpenUnitInterval
    max_depth: Annotated[int, validators.Range(ge=1, le=6)]  # the deepest implemented
    facts: Annotated[Settings, each(FACTS, validators.NonNegativeFloat, required=True)]
    common: validators.UnitInterval
    usual: validators.UnitInterval
    repeated: validators.UnitInterval
    hyponym: validators.UnitInterval
    hypernym: validators.UnitInterval
    co_hyponym: validators.UnitInterval
    negated: validators.UnitInterval
    distractors: validators.UnitInterval


class Snli(Fetched):
    folder: Name
    labeled_pairs: Annotated[Settings, each(SPLITS, validators.Count, required=True)] | None


COLUMNS = ("premise", "hypothesis", "label", "id")
COLUMN_NAMES = dict.fromkeys(COLUMNS, Annotated[list[Name], NON_EMPTY, UNIQUE])
COLUMN_NAMES["id"] = Annotated[list[Name], UNIQUE]  # none: the line is the id
ClassName = Annotated[
    str,
    MustBe(
        f"at most 100 characters without ${{, or blanks at the ends, and not {RESERVED}", CLASS_NAME
    ),
]
Classes = Annotated[
    list[ClassName],
    Field(min_length=2, max_length=20),
    UNIQUE,
    MustBe(
        "a list of names that differ in more than upper and lower case",
        lambda names: len({name.lower() for name in names}) == len(names),
    ),
]
CELLS = (str, int, float, bool)
Cell = Annotated[
    Any,
    MustBe("text, a number, true or false", lambda value: isinstance(value, CELLS)),
]


def text_keys(labels: Any) -> Any:
    """Require text keys: DVC fails after the stage on numbers, null, booleans and dates."""
    for key in labels if isinstance(labels, dict) else ():
        if not isinstance(key, str):
            name = {None: "null", True: "true", False: "false"}.get(key, key)
            problem = f'the label {name} is no text; write the label in quotes: "{name}"'
            raise PydanticCustomError("unset", "{problem}", {"problem": problem})
    return labels


class PairFiles(Section):
    train: Places | None
    dev: Places | None
    test: Places | None
    sha256: Annotated[dict[str, Sha256 | None], each(SPLITS, Sha256 | None, required=True)]
    columns: Annotated[dict[str, list[str]], Keys(COLUMN_NAMES, required=COLUMNS)]
    where: Annotated[dict[str, dict[str, Cell]], each(SPLITS, dict[str, Cell], required=True)]
    labels: Annotated[dict[str, str], BeforeValidator(text_keys)]
    quotes: bool | None
    invalid: Literal["stop", "drop"]


class Corpus(Section):
    source: Literal["captions", "snli", "files"]
    classes: Classes
    parses: bool
    captions: Captions
    snli: Snli
    files: PairFiles

    @model_validator(mode="after")
    def has_files(self) -> Self:
        """Require the splits of source files, together with errors of other sections."""
        missing = [split for split in SPLITS if getattr(self.files, split) is None]
        if self.source == "files" and missing:
            values = " ".join(f"corpus.files.{split}=..." for split in missing)
            problem = f"source files needs paths or URLs: act-nli use {values}"
            raise PydanticCustomError("unset", "{problem}", {"problem": problem})
        return self
