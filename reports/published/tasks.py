"""What the sequence tasks and the cloze questions are, and what was reported of them.

Graves' figures are as read in arXiv:1603.08983, mostly off its charts; those on cloze questions are
of Munkhdalai & Yu 2017 (arXiv:1610.06454). None is a result of this project.
"""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

CHARACTERS = "characters"  # the task without difficulties
NONE = "none"  # halting of a run that takes one step
GATING, ADAPTIVE = "query_gating", "adaptive_computation"
STRATEGIES = {GATING: "query gating", ADAPTIVE: "adaptive computation"}


@dataclass(frozen=True)
class Task:
    """One of Graves' tasks.

    Attributes:
        difficulty: what is counted. counted_in: whose error is given by difficulty.
        reported: what the paper found, with its section and setup.
    """

    title: str
    difficulty: str
    counted_in: str
    reported: str


TASKS = {
    row.pop("task"): Task(**row)
    for row in pd.read_csv(Path(__file__).with_name("tasks.csv"), dtype=str).to_dict("records")
}
ON_CHARACTERS = (
    "Graves (3.5; LSTM 1500, windows of 500 bytes) reports about the same bits with and without "
    "ACT, and pauses at spaces, commas, full stops and markup."
)


@dataclass(frozen=True)
class Questions:
    """One type of cloze question, named after the missing words, and where it was published."""

    title: str
    benchmark: str


QUESTIONS = {
    "NE": Questions("Named entities", "Children's Book Test, named entities"),
    "CN": Questions("Common nouns", "Children's Book Test, common nouns"),
    "WDW": Questions("Who-Did-What", "Who-Did-What"),
}
