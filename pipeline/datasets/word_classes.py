"""Word classes, a substitute for parts of speech.

Bowman et al. 2015 tag parts of speech. A tagger needs trained data that this project does not have.
The word classes come from the English function words of scikit-learn (ENGLISH_STOP_WORDS). Its 318
words include numerals up to twelve, "no" and "not", but also nouns such as "front" or "fire".

- mark: a token without a letter or digit;
- function: a word of the list, or one with an apostrophe ("n't", "'s");
- content: all other words: nouns, verbs, adjectives and adverbs.
"""

from functools import cache
from typing import Literal

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from pipeline.datasets.tokenizer import is_word


@cache  # one entry per distinct word of the corpus
def word_class(word: str) -> Literal["content", "function", "mark"]:
    """Return the class of a token; case is ignored."""
    if not is_word(word):
        return "mark"
    if "'" in word or word.lower() in ENGLISH_STOP_WORDS:
        return "function"
    return "content"
