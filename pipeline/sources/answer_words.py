"""Which words of a text may be asked for: names and common nouns, told without a tagger.

Both rules look at the whole text at once, and prefer missing a word to taking a wrong one:

- a name begins with a capital inside a sentence, where grammar asks for none, and is never
  written small in the text. Days, months and peoples count as names;
- a common noun is written small, is no function word, and stands between a determiner and a word
  that ends the words around a noun ("the lobster is", "a pair of"), at least so many times and in
  at least such a share of all its occurrences. Superlatives slip in ("the largest of").
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from pipeline.lexical.words import kind_of

AnswerKind = Literal["NE", "CN"]  # named entities and common nouns, as CBT calls its files

DETERMINERS = frozenset(
    (
        *("a", "an", "the", "this", "that", "these", "those", "every", "each", "another"),
        *("my", "your", "his", "her", "its", "our", "their"),
    )
)
# Behind these, what stands in front may well be an adjective: "the large and", "the more so".
OPEN_ENDED = frozenset(
    ("and", "or", "but", "yet", "nor", "very", "more", "most", "less", "least", "so", "as", "too")
)
SENTENCE_MARKS = frozenset((".", ";", "?", "!"))
# Behind these, a capital may be that of a sentence.
OPENERS = frozenset(('"', "``", "“", "\u2018", "'", "`", ":", "(", "[", "—", "\u2013", "--", "..."))


def names(sentences: Iterable[Sequence[str]]) -> set[str]:
    """The names of a text, given as sentences of tokens."""
    inside, small = set(), set()
    for sentence in sentences:
        for before, word in zip(["", *sentence], sentence, strict=False):
            if word.islower():
                small.add(word)
            elif before and before not in OPENERS and _like_a_name(word):
                inside.add(word)
    return {word for word in inside if word.lower() not in small}


def _like_a_name(word: str) -> bool:
    letters = word.replace("-", "").replace("'", "")
    return word[0].isupper() and letters.isalpha() and any(letter.islower() for letter in word)


def common_nouns(sentences: Iterable[Sequence[str]], min_count: int, min_share: float) -> set[str]:
    """The common nouns of a text, given as sentences of tokens.

    Args:
        min_count: how often at least a word stands where only a noun can.
        min_share: in which share at least of all its occurrences it does.
    """
    all_occurrences: Counter[str] = Counter()
    as_noun: Counter[str] = Counter()
    for sentence in sentences:
        all_occurrences.update(sentence)
        for before, word, after in zip(sentence, sentence[1:], sentence[2:], strict=False):
            if before.lower() in DETERMINERS and _ends_group(after) and _like_a_noun(word):
                as_noun[word] += 1
    return {
        word
        for word, count in as_noun.items()
        if count >= min_count and count >= min_share * all_occurrences[word]
    }


def _ends_group(word: str) -> bool:
    if kind_of(word) == "mark":
        return word in SENTENCE_MARKS
    return kind_of(word) == "function" and word not in OPEN_ENDED


def _like_a_noun(word: str) -> bool:
    return len(word) > 2 and word.isalpha() and word.islower() and kind_of(word) == "content"
