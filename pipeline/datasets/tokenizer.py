"""Tokenize sentences by the rules of the Penn Treebank, or by their parses.

The rules are those of `tokenizer.sed` (MacIntyre 1995) and the additions of NLTK's word tokenizer:
typographic quotes and dashes, `*`, runs of full stops. The tests compare the tokens with NLTK's,
whose import takes seconds and 200 MB.

Most captions have only letters, digits, spaces, commas and hyphens, and one final mark. They skip
the rules, unless one of their words has two tokens.

The rules are those of English. Other text is first normalized (NFC), invisible characters are
removed, and the punctuation of all scripts is separated. Scripts without blanks have no words to
split at: each of their characters is a token, as of Han in BERT (Devlin et al. 2019).

A binary parse is in the notation of SNLI: ( ( Two women ) ( ( are hugging ) . ) ). The tree over n
tokens is n numbers: how many nodes end after each token, here 0 1 0 1 2. In a shift-reduce machine,
these are the REDUCE transitions after the SHIFT of each token.
"""

import functools
import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

_PLAIN = re.compile(r"(?!.*(?:,[0-9,]|--))([A-Za-z0-9 ,-]*)([.?!]?)")
_TWO_TOKENS = re.compile(r"(?i)\b(?:cannot|gimme|gonna|gotta|lemme|wanna)\b")
_SEPARATE = r" \g<0> "
# Each rule is applied to the whole sentence before the next.
_RULES = [
    (re.compile(pattern), new)
    for pattern, new in (
        # opening quotes
        (r"[«“\u2018„]|`+", _SEPARATE),
        (r'^"|``', " `` "),
        (r"""([ (\[{<])("|'')""", r"\1 `` "),
        (r"(?i)(?<!\w)'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)", r"\g<0> "),
        # marks; only the last full stop ends the sentence, others belong to abbreviations
        (r"""([^.])(\.)([])}>"'»”\u2019 ]*+)[^\S\x1c-\x1f]*$""", r"\1 \2 \3 "),
        (r"([:,])(\D)", r" \1 \2"),
        (r"[:,]$", _SEPARATE),
        (r"\.{2,}|[;@#$%&?!\u2012-\u2015]", _SEPARATE),
        (r"([^'])' ", r"\1 ' "),
        (r"--|[][(){}<>*]", _SEPARATE),
        # closing quotes and contractions
        (r"\A|\Z", " "),
        (r"[»”\u2019]", _SEPARATE),
        (r"""''|\"""", " '' "),
        (r"[^\S\x1c-\x1f]+", " "),
        (r"([^' ])('[sSmMdD]?) ", r"\1 \2 "),
        (r"([^' ])('(?:ll|LL|re|RE|ve|VE)|n't|N'T) ", r"\1 \2 "),
        # words of two tokens
        (
            r"(?i)\b(can(?=not\b)|d(?='ye\b)|gim(?=me\b)|gon(?=na\b)|got(?=ta\b)|lem(?=me\b)"
            r"|more(?='n\b)|wan(?=na\s))(not|'ye|me|na|ta|'n)",
            r" \1 \2 ",
        ),
        (r"(?i) ('t)(is|was)\b", r" \1 \2 "),
    )
]

# Thai, Lao, Myanmar and Khmer, whose letters have marks; then kana and Han
_MARKED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_LETTERS = rf"{_MARKED}\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_LETTERS += "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_MARKS = "\u3099\u309a\uff9e\uff9f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_MARKS += "".join(
    mark
    for mark in re.findall(f"[{_MARKED}]", "".join(map(chr, range(0xE00, 0x1800))))
    if unicodedata.category(mark).startswith("M")
)
# U+1039 and U+17D2 stack the next consonant
_UNSPACED = re.compile(f"[{_LETTERS}](?:[\u1039\u17d2][{_LETTERS}]|[{_MARKS}])*")
# the rules above name these, or they stand in words and numbers: Catalan, Hebrew, Arabic
_KEPT = "«»\u2018\u2019“”„·\u05f3\u05f4\u066b\u066c"
# Penn Treebank names of brackets, which a parse cannot contain
BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}


class _Characters(dict[int, str]):
    """Replacements of characters, for str.translate: none for invisible ones, marks with blanks."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if category in ("Cc", "Cf") and not char.isspace() and char not in "\u200c\u200d":
            self[code] = ""  # joiners are kept, they distinguish words
        elif code > 127 and category in ("Po", "Ps", "Pe", "Pi", "Pf") and char not in _KEPT:
            self[code] = f" {char} "
        else:
            self[code] = char
        return self[code]


_CHARACTERS = _Characters()


def is_word(token: str) -> bool:
    """Return whether a token has a letter or digit; otherwise it is a mark."""
    return any(letter.isalnum() for letter in token)


def is_character(token: str) -> bool:
    """Return whether a token is a character of a script without blanks."""
    return not token.isascii() and _UNSPACED.fullmatch(token) is not None


@functools.lru_cache(maxsize=4096)  # SNLI repeats each premise three times in a row
def tokenize(sentence: str, lowercase: bool) -> tuple[str, ...]:
    """Split a sentence into tokens without white space."""
    text = sentence.lower() if lowercase else sentence
    plain = _PLAIN.fullmatch(text)
    if plain and not _TWO_TOKENS.search(text):
        words, mark = plain.groups()
        return (*words.replace(",", " , ").split(), *mark)
    if not (text.isascii() and text.isprintable()):
        text = unicodedata.normalize("NFC", text).translate(_CHARACTERS)
        text = _UNSPACED.sub(_SEPARATE, text)
    for pattern, new in _RULES:
        text = pattern.sub(new, text)
    return tuple(text.split())


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
