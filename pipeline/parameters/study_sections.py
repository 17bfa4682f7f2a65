"""The sections of the studies, which are empty unless somebody asks for them."""

from typing import Annotated, Any

from pydantic import Field

from pipeline.parameters.section import Count, Name, Natural, Positive, Section, Switch


class Fidelity(Section):
    """The study of what each deviation from the papers costs.

    models: model -> name of a variant -> the settings in which it differs from the winner.
    """

    seeds: Annotated[list[Natural], Field(min_length=1)]
    max_epochs: Count
    patience: Natural
    resamples: Count
    models: dict[str, dict[str, dict[str, Any]]]


class Halting(Section):
    """The comparison of the ways of halting.

    kinds: name of a kind -> setting -> the values compared.
    """

    model: str
    seeds: Annotated[list[Natural], Field(min_length=1)]
    max_epochs: Count
    patience: Natural
    collapsed_below: Positive
    kinds: dict[str, dict[str, list[Any]]]


class SequenceStudy(Section):
    """One of Graves' tasks: its settings, and what is compared."""

    max_epochs: Count
    patience: Natural
    without_act: Switch
    ponder_weights: list[float]
    settings: dict[str, Any]


class Graves(Section):
    """Adaptive computation around recurrent cells.

    drawn, drawn_seed: how many sequences the figures by difficulty are of, for characters those
        by kind of byte, and their seed.
    text: which of texts.sources characters are drawn from. read_from, read_bytes: place, in the
        part held out, and length of the passage of it that is told byte by byte.
    """

    seeds: Annotated[list[Natural], Field(min_length=1)]
    drawn: Count
    drawn_seed: Natural
    text: Name | None
    read_from: Natural
    read_bytes: Count
    tasks: dict[str, SequenceStudy]
