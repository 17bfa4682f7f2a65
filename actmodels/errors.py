"""The errors a user can mend. Each prints as one clear message and never as a traceback."""

import re
from collections.abc import Sequence


def shown(value: object) -> str:
    """A value as messages show it: of a long one the beginning."""
    try:
        text = repr(value)
    except ValueError:
        return "a number of thousands of digits"  # which Python does not write
    return text if len(text) <= 100 else f"{text[:100]}…"


def printable(line: str) -> str:
    """Return a line without passwords and tokens of addresses, its control characters escaped."""
    line = re.sub(r"//([^/:@\s]*:\S*|[^/@\s]*)@", "//", line)  # it may hold / and @ itself
    line = re.sub(r"(?i)((password|passwd|pwd|token|secret)\w*=)[^&\s]*", r"\1***", line)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


class UserError(Exception):
    """A problem in what the user gave us; the message says what, where, and what to do."""


class ConfigError(UserError):
    """Problems in the parameters from `source`, one sentence each with its key."""

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        self.source = source
        self.problems = list(problems)
        super().__init__("\n".join(f"{source}: {problem}" for problem in self.problems))

    def __reduce__(self) -> tuple[type["ConfigError"], tuple[str, list[str]]]:
        return (type(self), (self.source, self.problems))


class DataError(UserError):
    """A corpus, an archive or a file of word vectors is not what it should be."""


class ArtifactError(UserError):
    """An artifact of an earlier stage is missing or damaged; the message names the stage."""


class SweepError(UserError):
    """Some grid points did not finish; the message names them."""
