"""Parse Ray's error file: the reason of a failure, and its node. Does not import Ray."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actmodels.files import write_text

ATTEMPT = re.compile(r"^Failure # .*\n", re.MULTILINE)  # the first line of each failure
COLOR = re.compile(r"\x1b\[[0-9;]*m")
DEAD_ACTOR = re.compile(r"The actor is dead because (its .+? has died)")
UNAVAILABLE_ACTOR = re.compile(r"The actor \w+ is unavailable")  # node dead, or network down
UNREACHABLE = "its worker cannot be reached"
DETAIL = re.compile(r"Worker exit detail: (.+?)(?:\.? Some common causes|$)", re.MULTILINE)
OOM = "the OOM killer"  # Ray names the kernel's as a cause of a worker's death by SIGKILL
ADDRESS = re.compile(r"\bip[=:] ?([0-9a-fA-F.:]*[0-9a-fA-F])")


@dataclass(frozen=True)
class Failure:
    """The reason in one line, the node's address or "", and the tracebacks of all attempts."""

    reason: str
    node: str
    text: str

    @classmethod
    def of(cls, ray_trial: Any) -> "Failure":
        """Read the driver's own error file, which Ray copies to the storage only later."""
        path = ray_trial.error_file
        exists = path and Path(path).is_file()
        text = COLOR.sub("", Path(path).read_text(encoding="utf-8")) if exists else ""
        last = ATTEMPT.split(text)[-1].strip()
        nodes = ADDRESS.findall(last)
        return cls(_reason(last), nodes[-1] if nodes else "", text)

    def save(self, trace: Path) -> str:
        """Write the tracebacks to a file; return the reason, the node and the file's name."""
        write_text(trace, self.text)
        node = f"on node {self.node}, " if self.node else ""
        return f"{self.reason} ({node}trace in {trace})"


def _reason(text: str) -> str:
    """Return the exception of a traceback, or Ray's reason for a worker's death, in one line."""
    if UNAVAILABLE_ACTOR.search(text):
        return UNREACHABLE
    if dead := DEAD_ACTOR.search(text):
        detail = DETAIL.search(text)
        reason = f"{dead[1]}: {detail[1]}" if detail else dead[1]
        return f"{reason}; often {OOM}, if memory is short" if OOM in text else reason
    lines = text.splitlines() or ["its worker ended without a message"]
    trace = [number for number, line in enumerate(lines) if line.startswith(" ")]
    exception = " ".join(lines[trace[-1] + 1 :]) if trace else lines[0]
    return (exception or lines[-1]).strip()[:300]
