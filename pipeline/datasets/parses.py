"""Binary parses in the notation of SNLI, and their trees over the tokens of a sentence.

    ( ( Two women ) ( ( are hugging ) . ) )

The tree over n tokens is n numbers: how many nodes end after each token, here 0 1 0 1 2. In a
shift-reduce machine, these are the REDUCE transitions after the SHIFT of each token.
"""

from collections.abc import Sequence
from typing import NamedTuple

# Penn Treebank names of brackets, which a parse cannot contain
BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}


class Parse(NamedTuple):
    """The leaves of a parse and the tree over them."""

    leaves: list[str]
    tree: list[int]


def read_parse(text: str) -> Parse | None:
    """Read a binary parse, None if it is not one; brackets around a single part are ignored."""
    parse = Parse([], [])
    sizes = [0]  # constituents so far: of the text and of each open bracket
    for piece in text.split():
        if piece == "(":
            sizes.append(0)
            continue
        if piece == ")":
            if len(sizes) == 1 or sizes[-1] not in (1, 2):
                return None
            parse.tree[-1] += sizes.pop() - 1
        else:
            parse.leaves.append(BRACKETS.get(piece.lower(), piece))
            parse.tree.append(0)
        sizes[-1] += 1
    return parse if sizes == [1] else None


def right_branching_parse(parts: Sequence[str]) -> str:
    """Return the parse ( first ( second ( ... last ) ) ) of constituents."""
    *before, parse = parts
    for part in reversed(before):
        parse = f"( {part} {parse} )"
    return parse


def right_branching(tokens: int) -> list[int]:
    """Return the tree of a right-branching parse."""
    return [0] * (tokens - 1) + [tokens - 1]
