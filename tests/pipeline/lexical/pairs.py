"""Sentence pairs for the tests of the lexicalised classifier."""

from pipeline.sources.tokens import TokenPair


def pair(premise: str, hypothesis: str, label: str = "neutral", name: str = "p") -> TokenPair:
    """A pair from sentences whose tokens are separated by spaces."""
    return TokenPair(name, label, 0, premise.split(), hypothesis.split())
