"""How cloze questions are built from a text: settings, checked when they are made."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from actmodels.errors import ConfigError

CONTEXT_LINES = 20  # sentences of a document, before the query (Hill et al. 2015)


@dataclass(frozen=True)
class TextLayout:
    """How a plain text is written.

    tokenised: words and marks stand between blanks already; else sentences are split as the Penn
        Treebank splits them.
    paragraphs: each line is one, or empty lines stand between them.
    section_pattern: a regular expression that fits a whole line which begins a section, such as
        a title; such lines are left out. Empty: sections are `section_sentences` sentences long.
    left_out_pattern: one for other lines to leave out, such as lesser titles; empty for none.
    """

    tokenised: bool
    paragraphs: Literal["lines", "empty_lines"]
    section_pattern: str
    section_sentences: int
    left_out_pattern: str


@dataclass(frozen=True)
class ClozeTextConfig:
    """How questions are drawn from a text.

    stride: sentences from one question's first to the next one's; 21 gives questions that share
        no text, 1 as many as there are.
    min_noun_count, min_noun_share: when a word is a common noun (`common_nouns`).
    dev_share, test_share: of the sections, drawn at random; the others are for training.
    seed: of what is drawn; a question depends on the seed and its own section alone.
    """

    layout: TextLayout
    stride: int
    min_noun_count: int
    min_noun_share: float
    dev_share: float
    test_share: float
    seed: int

    def __post_init__(self) -> None:
        problems = [
            f"{name} is {getattr(self, name)!r}; must be at least 1"
            for name in ("stride", "min_noun_count")
            if getattr(self, name) < 1
        ]
        if self.layout.section_sentences < CONTEXT_LINES + 1:
            length = self.layout.section_sentences
            problems.append(f"section_sentences is {length}; must be at least 21")
        shares = (self.dev_share, self.test_share, self.min_noun_share)
        if min(shares) < 0 or self.dev_share + self.test_share >= 1 or self.min_noun_share > 1:
            problems.append(
                f"dev_share, test_share and min_noun_share are {shares}; must be in [0, 1], and "
                "leave sections for training"
            )
        for name in ("section_pattern", "left_out_pattern"):
            try:
                re.compile(getattr(self.layout, name))
            except re.error as error:
                problems.append(f"{name} is no regular expression: {error}")
        if problems:
            raise ConfigError("cloze text", problems)


def cloze_config(settings: Mapping[str, Any]) -> ClozeTextConfig:
    """A configuration from flat settings, as params.yaml has them.

    Raises:
        ConfigError: a setting that cannot be; all of them at once. TypeError: one is missing or
            unknown, or has a type that cannot be compared.
    """
    own = {field.name for field in fields(TextLayout)}
    layout = {name: value for name, value in settings.items() if name in own}
    others = {name: value for name, value in settings.items() if name not in own}
    return ClozeTextConfig(layout=TextLayout(**layout), **others)
