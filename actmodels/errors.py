"""Errors that the user can fix, shown as one message without a traceback."""

import re
from collections.abc import Sequence

INTERRUPTED = "interrupted by {}; run the same command again to go on"


def shown(value: object) -> str:
    """Return the repr of a value for a message, truncated to 100 characters."""
    try:
        text = repr(value)
    except ValueError:
        return "a number of thousands of digits"  # over Python's limit of digits to print
    return text if len(text) <= 100 else f"{text[:100]}…"


def printable(line: str) -> str:
    """Remove passwords and signatures of URLs from a line, and escape control characters."""
    line = re.sub(r"//([^/:@\s]*:\S*|[^/@\s]*)@", "//", line)  # may contain / and @
    secret = r"(?i)((password|passwd|pwd|token|secret|signature|credential|\bsig)\w*=)[^&\s]*"
    line = re.sub(secret, r"\1***", line)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def first_line(error: object) -> str:
    """Return the first line, up to 300 characters, without the password of a URI in it."""
    lines = str(error).strip().splitlines() or [repr(error)]
    return printable(lines[0])[:300]


class UserError(Exception):
    """Base class; the message names the problem, its place and the remedy."""


class ConfigError(UserError):
    """Invalid parameters; problems: one sentence for each invalid key of `source`."""

    def __init__(self, source: str, problems: Sequence[str]) -> None:
        self.source = source
        self.problems = list(problems)
        super().__init__("\n".join(f"{source}: {problem}" for problem in self.problems))

    def __reduce__(self) -> tuple[type["ConfigError"], tuple[str, list[str]]]:
        return (type(self), (self.source, self.problems))


class DataError(UserError):
    """An invalid corpus, archive or file of word vectors."""


class ArtifactError(UserError):
    """A missing or corrupt artifact; the message names the stage that writes it."""


class SweepError(UserError):
    """Grid points that did not finish; the message names them."""
