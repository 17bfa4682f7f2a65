"""What the sequence tasks and the cloze questions are, and what was reported of them.

Graves' figures are as read in arXiv:1603.08983, mostly off its charts; those on cloze questions are
of Munkhdalai & Yu 2017 (arXiv:1610.06454). None is a result of this project.
"""

from dataclasses import dataclass

CHARACTERS = "characters"  # the task without difficulties
NONE, ACT = "none", "act"  # halting of a run
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
    "parity": Task(
        "Parity",
        "nonzero entries",
        "sequences",
        "Graves (3.1; tanh 128, vectors of 64): about 40 % error without ACT, below 5 % with it at "
        "ponder weights up to 0.03.",
    ),
    "logic": Task(
        "Logic",
        "gates of a vector",
        "vectors",
        "Graves (3.2; LSTM 128, up to 10 gates): about 20 % error without ACT, hardly any with it "
        "at small ponder weights.",
    ),
    "addition": Task(
        "Addition",
        "digits of a number",
        "vectors",
        "Graves (3.3; LSTM 512, up to 5 digits): ACT solves it at every ponder weight, in steps "
        "about linear in the digits.",
    ),
    "sort": Task(
        "Sort",
        "numbers to sort",
        "sequences",
        "Graves (3.4; LSTM 512, up to 15 numbers): about 12 % error without ACT, about 6 % with it "
        "at nine times the computation.",
    ),
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
