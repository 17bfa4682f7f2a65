"""The demo's results next to the ranges that `make ranges` found with other processors.

A line of results is identified by its text without its numbers, so that a study needs no more than
its lines in summary.txt. Results have a decimal point; labels and settings have none.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actmodels.files import read_known
from pipeline.parameters.load import Params

FILE = Path(__file__).parents[2] / "reports" / "published" / "demo.json"
MODELS = "models"  # the part without studies; each study is a part
# sections that cannot change a result of a part, up to rounding
WITHOUT_EFFECT = {"watch", "cluster", "evaluate", "export", "ablate", "trace", "report", "studies"}
DESCRIPTION = (
    "name",
    "notes",
    "tags",
    "order",
    "time_limit",
)  # keys of the sweep that change no result
RESULT, SPREAD, COUNT = re.compile(r"\d+\.\d+"), re.compile(r" ± [\d.]+"), re.compile(r"n = \d+")
Bounds = tuple[float, float]


def results(line: str) -> list[str]:
    """Return the results in a line of the summary, without standard deviations."""
    return RESULT.findall(SPREAD.sub("", line))


def template(line: str) -> str:
    """Return a line without its numbers."""
    return COUNT.sub("n", RESULT.sub("#", SPREAD.sub("", line)))


def parameters_digest(params: Params, part: str) -> str:
    """Return SHA-256 of the parameters that decide the results of a part."""
    sections: dict[str, Any] = params.model_dump(mode="json", exclude_unset=True)
    left_out = WITHOUT_EFFECT | (set(params.studies) - {part})
    kept = {name: section for name, section in sections.items() if name not in left_out}
    kept["sweep"] = {k: v for k, v in kept["sweep"].items() if k not in DESCRIPTION}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]


class Expectations:
    """The ranges of the results of a run; none if it has other parameters than the demo."""

    def __init__(self, params: Params, path: Path = FILE) -> None:
        parts = json.loads(read_known(path))["parts"] if path.is_file() else {}
        self.lines: dict[str, Mapping[str, Any]] = {
            name: part["lines"]
            for name, part in parts.items()
            if part["parameters"] == parameters_digest(params, name)
        }
        self.inside, self.outside = 0, list[str]()

    def annotated(self, part: str, line: str) -> str:
        """Return a line with the ranges of its results, which are counted for the verdict."""
        ranges: list[Bounds] = self.lines.get(part, {}).get(template(line), {}).get("ranges", [])
        for value, (low, high) in zip(results(line), ranges, strict=bool(ranges)):
            if low <= float(value) <= high:
                self.inside += 1
            else:
                name = line.partition(": ")[0]
                self.outside.append(f"{name}: {value} is outside of {low} to {high}")
        texts = [f"{low} to {high}" for low, high in ranges]
        return f"{line}; expected {', '.join(texts)}" if texts else line

    def verdict(self) -> list[str]:
        """Return whether all results are as expected; nothing without ranges."""
        if self.outside:
            return [f"not as expected: {problem}" for problem in self.outside]
        return [f"as expected on any processor: {self.inside} results"] if self.inside else []
