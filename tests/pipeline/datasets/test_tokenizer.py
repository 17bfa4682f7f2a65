"""Compare tokens with examples and with NLTK's word tokenizer; binary parses."""

import random
import re
import unicodedata
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize import NLTKWordTokenizer

from pipeline.datasets.tokenizer import (
    read_parse,
    right_branching,
    right_branching_parse,
    tokenize,
)
from tests.pipeline.project import ROOT

# words, including all words of two tokens
PLAIN = [
    *("dog", "t-shirt", "mother-in-law's", "3", "2nd", "4's", "s", "t", "na", "dog's", "DON'T"),
    *("cannot", "Cannot", "cannot's", "can't", "D'ye", "gimme", "gonna", "gonna-do", "gotta"),
    *("lemme", "more'n", "wanna", "whatcha", "isn't", "n't", "n't's", "he'd", "I'm", "we'll"),
    *("they've", "re're", "d't", "o'clock", "x'y'z", "rock'n'roll"),
]
MARKS = ["", "", "", ",", ".", "?", "!"]
# marks, quotes, abbreviations, numbers and non-ASCII letters
OTHER = [
    *("'tis", "'twas", "'cause", "'s", "'S", "dogs'", "'", "''", "``", '"', '"hi"', "-", "--"),
    *("a-", "a--b", "U.S.", "Mt.", "...", "..", "a.", "a.b", "3,000", "1.5", "a,,", "a,b", "b,"),
    "b!?",
    *("?!", "(x)", "<x>", "a;b", "a:", "a:b", "$5", "%", "@", "*", "_", "a_b", "c.'", 'c."', ""),
    *("\u00e9", "na\u00efve", "\u2019", "don\u2019t", "\u201cx\u201d", "\u00ab", "\u2013"),
    *("\u00a0", "\x1c", "\x85", "\u200b"),
]
SPACES = [" "] * 12 + ["  ", "\t", "\n", "\x1c", "\x1f", "\x7f", "\u00a0", "\u2028"]


def nltk_tokens(sentence: str) -> tuple[str, ...]:
    """Return the tokens of NLTK without invisible characters, split at white space."""
    visible = sentence.translate(dict.fromkeys(map(ord, "\x7f\u200b")))
    return tuple(" ".join(NLTKWordTokenizer().tokenize(visible)).split())


def random_sentence(rng: random.Random, others: float) -> str:
    """Return a random sentence with a share of OTHER words."""
    words = [
        rng.choice(OTHER if rng.random() < others else PLAIN) + rng.choice(MARKS)
        for _ in range(rng.randint(1, 6))
    ]
    space = rng.choice(SPACES)
    front, end = rng.choice(["", "", " "]), rng.choice(["", "", ".", " ", ". ", "\n"])
    return front + space.join(words) + end


def test_random_sentences_match_nltk() -> None:
    rng = random.Random(0)
    for sentence in {random_sentence(rng, others) for others in (0.05, 0.5) for _ in range(2_000)}:
        assert tokenize(sentence, False) == nltk_tokens(sentence), repr(sentence)
        assert tokenize(sentence, True) == nltk_tokens(sentence.lower()), repr(sentence)
    pieces = [*"aAsSdDmMtnx12", *"'\"`.,:;?!-()[]{}<>*@#$%&_/", *" " * 12, *OTHER, *SPACES, *PLAIN]
    for _ in range(5_000):
        sentence = "".join(rng.choices(pieces, k=rng.randint(1, 12)))
        assert tokenize(sentence, False) == nltk_tokens(sentence), repr(sentence)


SCRIPTS = ROOT / "tests" / "fixtures" / "golden" / "scripts.txt"


def test_other_scripts(golden: Callable[..., None]) -> None:
    """Each line of the file is a sentence, then its tokens; \\u200c is an invisible character."""
    text = ""
    for line in SCRIPTS.read_text(encoding="utf-8").splitlines():
        sentence, _, _ = line.partition(" →")
        plain = re.sub(r"\\u(....)", lambda found: chr(int(found[1], 16)), sentence)
        tokens = tokenize(plain, True)
        assert tokenize(unicodedata.normalize("NFD", plain), True) == tokens
        assert unicodedata.is_normalized("NFC", "".join(tokens))
        shown = " ".join(tokens).replace("\u200c", "\\u200c").replace("\u2011", "\\u2011")
        text += f"{sentence} → {shown}".rstrip() + "\n"
    golden(SCRIPTS.name, text)


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


LEAVES = st.text("abc.'", min_size=1, max_size=3)


@given(st.recursive(LEAVES, lambda inner: st.builds("( {} {} )".format, inner, inner)))
def test_transitions_rebuild_any_parse(text: str) -> None:
    parse = read_parse(text)
    assert parse is not None and rebuild(*parse) == text


def test_parses_by_hand() -> None:
    snli = "( ( Two women ) ( ( are ( holding ( to ( go packages ) ) ) ) . ) )"
    leaves = ["Two", "women", "are", "holding", "to", "go", "packages", "."]
    assert read_parse(snli) == (leaves, [0, 1, 0, 0, 0, 0, 4, 2])
    assert read_parse("( ( a ) ( -LRB- b ) )") == (["a", "(", "b"], [0, 0, 2])
    right = "( a ( b ( c d ) ) )"
    assert right_branching_parse("abcd") == right == rebuild([*"abcd"], right_branching(4))
    invalid = ["", "a b", "( a b c )", "( a b", "a )", ") (", "( )", "( a ( ) )", "( a b ) c"]
    assert [read_parse(text) for text in [*invalid, "(a b)"]] == [None] * 10
