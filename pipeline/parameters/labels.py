"""Labels of files of pairs, and their meanings. No pydantic: `predict` starts without it."""

import re
from collections.abc import Mapping

UNLABELED = "-"
NO_LABEL = ("", "nan", "null")  # in lower case, where no setting gives a meaning


def label_name(value: object) -> str:
    """Return a label of a file, or of YAML, as text: 0.0 as 0, null and NaN as none."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value).strip()
    return re.sub(r"^(-?\d+)\.0+$", r"\1", text)


def with_lower_case(labels: Mapping[str, str]) -> dict[str, str]:
    """Return meanings by label, also by the label in lower case."""
    return {label.lower(): meaning for label, meaning in labels.items()} | dict(labels)


def meaning_of(key: str, labels: Mapping[str, str]) -> str | None:
    """Return the meaning of a label: UNLABELED if it is null, NaN or empty, None if unknown."""
    lower = key.lower()
    return labels.get(key) or labels.get(lower, UNLABELED if lower in NO_LABEL else None)
