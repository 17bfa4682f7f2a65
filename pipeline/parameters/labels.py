"""Labels of files, and the classes that they name. No pydantic: `predict` starts without it."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

UNLABELED = "-"
NLI = ("neutral", "entailment", "contradiction")  # the classes of SNLI and of generated pairs
# in lower case, where no class has the name and no setting gives a meaning
NO_LABEL = ("", "nan", "null", "none", "na", "n/a", "<na>")
# names of the columns and keys in the output of `predict`
OUTPUT = ("model", "predicted", "steps", "unknown_words", "reliable", "refusal", "attention")

# names of classes are columns of the output, too
RESERVED = "|".join((UNLABELED, "line", *OUTPUT))
CLASS_NAME = (
    rf"(?!(?:{RESERVED})$)(?![\s\S]*\${{)"
    r"[^\s\x00-\x1f](?:[^\x00-\x1f]{0,98}[^\s\x00-\x1f])?"
)


def label_name(value: object) -> str:
    """Return a label of a file as text: 0.0 as 0, null and NaN as none."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    text = unicodedata.normalize("NFC", str(value)).strip()
    return re.sub(r"^(-?\d+)\.0+$", r"\1", text)


def classes_by_label(labels: Mapping[str, str], classes: Sequence[str]) -> dict[str, str]:
    """Return the class, or UNLABELED, of each label, also of the label in lower case.

    A class's own name needs no entry of `labels`. Entries of other classes do not apply.
    """
    applied = {label: name for label, name in labels.items() if name in (*classes, UNLABELED)}
    own = {name: name for name in classes if applied.get(name, UNLABELED) == UNLABELED}
    known = {label_name(label): name for label, name in (applied | own).items()}
    return {label.lower(): name for label, name in known.items()} | known


def class_of(label: str, known: Mapping[str, str]) -> str | None:
    """Return the class of a label: UNLABELED if it is null, NaN or empty, None if unknown."""
    lower = label.lower()
    return known.get(label) or known.get(lower, UNLABELED if lower in NO_LABEL else None)
