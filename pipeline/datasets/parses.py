"""Binary parses as SNLI writes them, and as trees over the tokens of a sentence.

    ( ( Two women ) ( ( are hugging ) . ) )

A tree over n tokens is n numbers, how many of its nodes end behind each token: here 0 1 0 1 2.
They are the REDUCE transitions of a shift-reduce machine that follow the SHIFT of that token.
"""

from collections.abc import Sequence
from typing import NamedTuple

# The Penn Treebank's names of brackets, which a parse cannot hold.
BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}


class Parse(NamedTuple):
    """The leaves of a parse, and its tree over them."""

    leaves: list[str]
    tree: list[int]


def read_parse(text: str) -> Parse | None:
    """Read a binary parse; None if it is none. Brackets around a single part are passed over."""
    found = Parse([], [])
    sizes = [0]  # parts so far: of the text, and of each bracket that is open
    for piece in text.split():
        if piece == "(":
            sizes.append(0)
            continue
        if piece == ")":
            if len(sizes) == 1 or sizes[-1] not in (1, 2):
                return None
            found.tree[-1] += sizes.pop() - 1
        else:
            found.leaves.append(BRACKETS.get(piece.lower(), piece))
            found.tree.append(0)
        sizes[-1] += 1
    return found if sizes == [1] else None


def tree_over(tokens: int, text: str) -> list[int] | None:
    """The tree of a parse; None if it is no binary parse of as many leaves as tokens."""
    parse = read_parse(text)
    return None if parse is None or len(parse.leaves) != tokens else parse.tree


def folded(parts: Sequence[str]) -> str:
    """One part of several, each beside all that follow it; written as parses are."""
    *before, whole = parts
    for part in reversed(before):
        whole = f"( {part} {whole} )"
    return whole


def right_branching(tokens: int) -> list[int]:
    """The tree in which each token stands beside all that follow it."""
    return [0] * (tokens - 1) + [tokens - 1]
