"""Sentences to tokens, as the Penn Treebank splits them.

The rules are those of the Treebank's sed script (MacIntyre 1995, `tokenizer.sed`) with what NLTK's
word tokeniser adds: typographic quotes and dashes, `*`, runs of full stops. Tests hold it against
that tokeniser, whose import takes seconds and 200 MB.

A sentence of letters and digits with blanks, commas and hyphens between them and one mark at its
end, as most captions are, need not go through the rules, unless one of its words is two.
"""

import functools
import re

_PLAIN = re.compile(r"(?!.*(?:,[0-9,]|--))([A-Za-z0-9 ,-]*)([.?!]?)")
_TWO_WORDS = re.compile(r"(?i)\b(?:cannot|gimme|gonna|gotta|lemme|wanna)\b")
_APART = r" \g<0> "
# Each is replaced everywhere before the next begins.
_RULES = [
    (re.compile(pattern), new)
    for pattern, new in (
        # quotes that open
        (r"[«“\u2018„]|`+", _APART),
        (r'^"|``', " `` "),
        (r"""([ (\[{<])("|'')""", r"\1 `` "),
        (r"(?i)(?<!\w)'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)", r"\g<0> "),
        # marks; the last full stop is the sentence's, the others are of abbreviations
        (r"""([^.])(\.)([])}>"'»”\u2019 ]*+)[^\S\x1c-\x1f]*$""", r"\1 \2 \3 "),
        (r"([:,])(\D)", r" \1 \2"),
        (r"[:,]$", _APART),
        (r"\.{2,}|[;@#$%&?!\u2012-\u2015]", _APART),
        (r"([^'])' ", r"\1 ' "),
        (r"--|[][(){}<>*]", _APART),
        # quotes that close, and what an apostrophe begins
        (r"\A|\Z", " "),
        (r"[»”\u2019]", _APART),
        (r"""''|\"""", " '' "),
        (r"[^\S\x1c-\x1f]+", " "),
        (r"([^' ])('[sSmMdD]?) ", r"\1 \2 "),
        (r"([^' ])('(?:ll|LL|re|RE|ve|VE)|n't|N'T) ", r"\1 \2 "),
        # words that are two
        (
            r"(?i)\b(can(?=not\b)|d(?='ye\b)|gim(?=me\b)|gon(?=na\b)|got(?=ta\b)|lem(?=me\b)"
            r"|more(?='n\b)|wan(?=na\s))(not|'ye|me|na|ta|'n)",
            r" \1 \2 ",
        ),
        (r"(?i) ('t)(is|was)\b", r" \1 \2 "),
    )
]


@functools.lru_cache(maxsize=4096)  # a premise of SNLI stands before three hypotheses in a row
def tokenize(sentence: str, lowercase: bool) -> tuple[str, ...]:
    """Split a sentence; no token holds white space of any kind."""
    text = sentence.lower() if lowercase else sentence
    plain = _PLAIN.fullmatch(text)
    if plain is None or _TWO_WORDS.search(text):
        return _split(text)
    words, mark = plain.groups()
    return (*words.replace(",", " , ").split(), *mark)


def _split(text: str) -> tuple[str, ...]:
    """The tokens by the rules, which run over the whole sentence."""
    for pattern, new in _RULES:
        text = pattern.sub(new, text)
    return tuple(text.split())
