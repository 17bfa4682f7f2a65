"""The classes, in the order of the models' outputs. No torch: corpora are read without it."""

LABELS = ("neutral", "entailment", "contradiction")
