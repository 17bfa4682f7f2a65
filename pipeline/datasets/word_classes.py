"""The kind of a word, which stands in for its part of speech.

Bowman et al. 2015 tag every word with its part of speech. A tagger needs trained data that this
project does not have, so words are told apart by the list of English function words that
scikit-learn ships (ENGLISH_STOP_WORDS: 318 words, among them the numerals up to twelve, "no" and
"not", but also a few such as "front", "top" or "fire" that are nouns in captions):

- mark: a token without a letter or digit;
- function: a word of the list, or one with an apostrophe ("n't", "'s");
- content: everything else, that is nouns, verbs, adjectives and adverbs together.
"""

from functools import cache
from typing import Literal

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

Kind = Literal["content", "function", "mark"]


@cache  # as many entries as the corpus has distinct words
def kind_of(word: str) -> Kind:
    """The kind of a token, whatever its case."""
    if not any(letter.isalnum() for letter in word):
        return "mark"
    if "'" in word or word.lower() in ENGLISH_STOP_WORDS:
        return "function"
    return "content"
