"""What Munkhdalai & Yu (2017) report for their readers, as printed in arXiv:1610.06454.

Accuracies in per cent, of single models, from their tables 2 and 3; counts of questions from their
table 1. None of it is a result of this project.
"""

from collections.abc import Mapping
from dataclasses import dataclass

PAPER = "Munkhdalai & Yu 2017"
GATING, ADAPTIVE = "query_gating", "adaptive_computation"
# Where questions may be from besides a text, and how that is said of them.
SOURCES = {"cbt": "of the Children's Book Test", "whodidwhat": "of Who-Did-What"}
STRATEGIES = {GATING: "query gating", ADAPTIVE: "adaptive computation"}
# The readers of both tables in their order. With one step the strategies are the same model.
READERS = (
    *((GATING, steps) for steps in (1, 2, 6, 9, 12)),
    *((ADAPTIVE, steps) for steps in (2, 12)),
)


@dataclass(frozen=True)
class Setting:
    """One pair of columns of a table.

    counts: questions for training, dev and test. dev, test: by reader, as READERS has them.
    """

    name: str
    counts: tuple[int, int, int]
    dev: tuple[float, ...]
    test: tuple[float, ...]

    @property
    def accuracies(self) -> Mapping[tuple[str, int], tuple[float, float]]:
        """Dev and test accuracy of each reader."""
        return dict(zip(READERS, zip(self.dev, self.test, strict=True), strict=True))


@dataclass(frozen=True)
class QuestionKind:
    """Questions that ask for one kind of word.

    asked: the words that are missing. benchmark: whose questions were published, and text: what
    those are made of. table: of the figures. aside: what else is said of these questions there.
    """

    title: str
    asked: str
    benchmark: str
    text: str
    table: str
    settings: tuple[Setting, ...]
    aside: str = ""


KINDS = {
    "NE": QuestionKind(
        "Named entities",
        "names",
        "Children's Book Test (named entities)",
        "children's books",
        "table 2",
        (
            Setting(
                "CBT-NE",
                (108_719, 2_000, 2_500),
                (76.2, 76.6, 77.0, 78.0, 77.7, 77.1, 78.2),
                (71.1, 71.5, 71.4, 72.6, 72.2, 72.1, 73.2),
            ),
        ),
        "with 15 steps of query gating, 79.2 % on dev and 71.4 % on test",
    ),
    "CN": QuestionKind(
        "Common nouns",
        "common nouns",
        "Children's Book Test (common nouns)",
        "children's books",
        "table 2",
        (
            Setting(
                "CBT-CN",
                (120_769, 2_000, 2_500),
                (72.8, 72.3, 73.0, 73.5, 74.3, 72.8, 74.2),
                (69.7, 70.7, 72.0, 71.2, 71.9, 71.2, 71.4),
            ),
        ),
    ),
    "WDW": QuestionKind(
        "Who-Did-What",
        "persons",
        "Who-Did-What",
        "news articles",
        "table 3",
        (
            Setting(
                "strict",
                (127_786, 10_000, 10_000),
                (65.1, 65.4, 65.5, 65.8, 65.2, 65.3, 66.5),
                (65.5, 65.1, 65.7, 65.8, 65.5, 65.4, 66.2),
            ),
            Setting(
                "relaxed",
                (185_978, 10_000, 10_000),
                (66.4, 65.7, 65.6, 65.8, 65.7, 66.2, 67.0),
                (65.3, 65.5, 65.8, 65.9, 65.4, 66.0, 66.7),
            ),
        ),
    ),
}
