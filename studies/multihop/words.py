"""The vocabulary of multi-hop pairs, and the maximum depth it allows. Imports no torch."""

from actmodels.configs import LABELS

THINGS = (
    *("bag", "barrel", "basket", "bin", "box", "bucket", "can", "case", "chest", "crate", "drum"),
    *("jar", "pot", "purse", "sack", "tin", "trunk", "urn"),
)
ROOMS = ("attic", "cellar", "garage", "kitchen")
WORDS = (*THINGS, *ROOMS, "doubt", "in", ".")
CHAINS = len(LABELS)
MAX_HOPS = len(THINGS) // CHAINS  # the chains of a premise share no thing
