"""Graves' tasks: what makes an instance difficult, and what he reports (2016, section 3).

Figures are as read in arXiv:1603.08983, mostly off its figures; none is a result of this project.
"""

from dataclasses import dataclass

CHARACTERS = "characters"  # the one without difficulties
NONE, ACT = "none", "act"
LETTER, SPACE, LINE_END = "letter", "space", "line end"
# The kinds of bytes; those between which a reader would pause, as Graves has it, are BOUNDARIES.
BOUNDARIES = (SPACE, LINE_END, "sentence end", "comma, colon or semicolon")
BYTE_KINDS = (LETTER, "digit", *BOUNDARIES, "markup or other mark")
CHARACTERS_REPORTED = (
    "Graves reports about the same bits with and without ACT, on the text that he trains on, and "
    "far fewer steps than on his other tasks; his networks pause at the space between words, "
    "longer at commas and full stops, and at the brackets of markup, but not within numbers that "
    "nothing foretells (2016, section 3.5; an LSTM of 1,500 units on windows of 500 bytes, ten "
    "thousand iterations of each of 16 threads)."
)


@dataclass(frozen=True)
class GravesTask:
    """One task.

    difficulty: what is counted, and unit: one of it; counted_in: whose error goes by difficulty.
    section: of the paper. reported: what it found. setup: what it trained, and on what.
    hardest: the largest difficulty there.
    """

    title: str
    difficulty: str
    unit: str
    counted_in: str
    section: str
    reported: str
    setup: str
    hardest: int


TASKS = {
    "parity": GravesTask(
        "Parity",
        "entries that are not 0",
        "entry",
        "sequences",
        "3.1",
        "about 40 % without ACT, and a mean below 5 % at ponder weights up to 0.03",
        "a tanh network of 128 units on vectors of 64 entries",
        64,
    ),
    "logic": GravesTask(
        "Logic",
        "gates of a vector",
        "gate",
        "vectors",
        "3.2",
        "about 20 % without ACT, and hardly any with it at small ponder weights",
        "an LSTM of 128 units on up to 10 vectors of up to 10 gates",
        10,
    ),
    "addition": GravesTask(
        "Addition",
        "digits of a number",
        "digit",
        "vectors",
        "3.3",
        "that ACT solves it at every ponder weight, in steps about linear in the digits",
        "an LSTM of 512 units on up to 5 numbers of up to 5 digits",
        5,
    ),
    "sort": GravesTask(
        "Sort",
        "numbers to sort",
        "number",
        "sequences",
        "3.4",
        "about 12 % without ACT, and about 6 % with it at some nine times the computation",
        "an LSTM of 512 units on up to 15 numbers",
        15,
    ),
}
