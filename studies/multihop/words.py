"""The vocabulary of multi-hop pairs. Imports no torch."""

CLASSES = ("neutral", "entailment", "contradiction")  # in the order of the logits
NAMES = (
    *("bag", "barrel", "basket", "bin", "box", "bucket", "can", "case", "chest", "crate", "drum"),
    *("jar", "pot", "purse", "sack", "tin", "trunk", "urn"),
)
MATERIALS = (
    *("oak", "pine", "cork", "straw", "clay", "glass", "iron"),
    *("steel", "brass", "lead", "silk", "wool", "paper", "leather", "copper", "stone"),
)
THINGS = (*NAMES, *(material + name for material in MATERIALS for name in NAMES))
ROOMS = ("attic", "cellar", "garage", "kitchen")
OTHERS = ("doubt", "in", ".")
CHAINS = len(CLASSES)  # that hypotheses ask about


def vocabulary(things: int, distractors: int) -> tuple[str, ...]:
    """Return the words of premises: the first `things` things; `beside` with distractors only."""
    return (*THINGS[:things], *ROOMS, *OTHERS, *(["beside"] if distractors else []))
