"""Tokenize sentences by the rules of the Penn Treebank.

The rules are those of `tokenizer.sed` (MacIntyre 1995) and the additions of NLTK's word tokenizer:
typographic quotes and dashes, `*`, runs of full stops. The tests compare the tokens with NLTK's,
whose import takes seconds and 200 MB.

Most captions have only letters, digits, spaces, commas and hyphens, and one final mark. They skip
the rules, unless one of their words has two tokens.
"""

import functools
import re

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


def is_word(token: str) -> bool:
    """Return whether a token has a letter or digit; otherwise it is a mark."""
    return any(letter.isalnum() for letter in token)


@functools.lru_cache(maxsize=4096)  # SNLI repeats each premise three times in a row
def tokenize(sentence: str, lowercase: bool) -> tuple[str, ...]:
    """Split a sentence into tokens without white space."""
    text = sentence.lower() if lowercase else sentence
    plain = _PLAIN.fullmatch(text)
    if plain and not _TWO_TOKENS.search(text):
        words, mark = plain.groups()
        return (*words.replace(",", " , ").split(), *mark)
    for pattern, new in _RULES:
        text = pattern.sub(new, text)
    return tuple(text.split())
