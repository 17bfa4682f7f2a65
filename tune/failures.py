"""Why Ray gave a fusion up: what its error says, on which node, and its trace in a file. No Ray."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actmodels.files import write_text

ATTEMPT = re.compile(r"^Failure # .*\n", re.MULTILINE)  # how Ray begins each failure in its file
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
DEAD = re.compile(r"The actor is dead because (its .+? has died)")
AWAY = re.compile(r"The actor \w+ is unavailable")  # its node may be dead, or the network
UNREACHED = "its worker cannot be reached"
DETAIL = re.compile(r"Worker exit detail: (.+?)(?:\.? Some common causes|$)", re.MULTILINE)
NODE = re.compile(r"\bip[=:] ?([0-9a-fA-F.:]*[0-9a-fA-F])")


@dataclass(frozen=True)
class Failure:
    """A reason in one line, the node's address if Ray tells it, and the traces of all attempts."""

    reason: str
    node: str
    text: str

    @classmethod
    def of(cls, ray_trial: Any) -> "Failure":
        """Read what Ray wrote: the driver's own file, which reaches the storage only later."""
        path = ray_trial.error_file
        found = path and Path(path).is_file()
        text = COLOUR.sub("", Path(path).read_text(encoding="utf-8")) if found else ""
        last = ATTEMPT.split(text)[-1].strip()
        nodes = NODE.findall(last)
        return cls(_reason(last), nodes[-1] if nodes else "", text)

    def told(self, trace: Path) -> str:
        """The reason, where it happened and where the whole text lies, which is written there."""
        write_text(trace, self.text)
        node = f"on node {self.node}, " if self.node else ""
        return f"{self.reason} ({node}trace in {trace})"


def _reason(text: str) -> str:
    """The exception behind a trace, or what Ray says about the end of a worker, in one line."""
    if AWAY.search(text):
        return UNREACHED
    if dead := DEAD.search(text):
        detail = DETAIL.search(text)
        return f"{dead[1]}: {detail[1]}" if detail else dead[1]
    lines = text.splitlines() or ["its worker ended without a word"]
    trace = [number for number, line in enumerate(lines) if line.startswith(" ")]
    said = " ".join(lines[trace[-1] + 1 :]) if trace else lines[0]
    return (said or lines[-1]).strip()[:300]
