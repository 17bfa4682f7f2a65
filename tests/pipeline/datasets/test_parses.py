"""Binary parses and their trees."""

import pytest

from pipeline.datasets.tokenizer import read_parse, right_branching, right_branching_parse

SNLI = "( ( Two women ) ( ( are ( holding ( to ( go packages ) ) ) ) . ) )"


def test_snli_parse() -> None:
    leaves = ["Two", "women", "are", "holding", "to", "go", "packages", "."]
    assert read_parse(SNLI) == (leaves, [0, 1, 0, 0, 0, 0, 4, 2])


def rebuild(leaves: list[str], tree: list[int]) -> str:
    """Rebuild a parse by shift and reduce."""
    stack: list[str] = []
    for leaf, count in zip(leaves, tree, strict=True):
        stack.append(leaf)
        for _ in range(count):
            right, left = stack.pop(), stack.pop()
            stack.append(f"( {left} {right} )")
    [whole] = stack
    return whole


@pytest.mark.parametrize("text", [SNLI, "a", "( a b )", "( ( ( a b ) c ) d )"])
def test_transitions_rebuild_the_parse(text: str) -> None:
    parse = read_parse(text)
    assert parse is not None
    assert rebuild(*parse) == text


def test_right_branching_and_brackets() -> None:
    assert (
        right_branching_parse("abcd")
        == "( a ( b ( c d ) ) )"
        == rebuild([*"abcd"], right_branching(4))
    )
    assert read_parse("( ( a ) ( -LRB- b ) )") == (["a", "(", "b"], [0, 0, 2])


@pytest.mark.parametrize(
    "text",
    ["", "a b", "( a b c )", "( a b", "a )", ") (", "( )", "( a ( ) )", "( a b ) c", "(a b)"],
)
def test_invalid_parses(text: str) -> None:
    assert read_parse(text) is None
