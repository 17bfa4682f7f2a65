"""Lines for a terminal; apart from `actmodels.errors`, which decides the keys of trials."""

import re


def printable(line: str) -> str:
    """Return a line without passwords and tokens of addresses, its control characters escaped."""
    line = re.sub(r"//([^/:@\s]*:\S*|[^/@\s]*)@", "//", line)  # it may hold / and @ itself
    line = re.sub(r"(?i)((password|passwd|pwd|token|secret)\w*=)[^&\s]*", r"\1***", line)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
