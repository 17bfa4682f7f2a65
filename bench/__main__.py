"""Measure this software on this machine, part by part, into artefacts/bench/.

    python -m bench

A run that was killed goes on with the parts that are missing. Nothing else should run meanwhile;
figures by processor seconds stand beside those by the clock for machines where something does.
Training, inference, memory and gpu need torch alone.
"""

import argparse
import importlib
import json
import os
import shutil
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from actmodels.errors import SweepError, UserError
from actmodels.files import write_text
from bench.plan import FULL, QUICK, Plan, data_of
from bench.tables import bench_report
from pipeline.running.stage import artefacts, run_command, state_folder
from tune.provenance import machine

PARTS = (
    "training",
    "inference",
    "memory",
    "gpu",
    "sweep",
    "data",
    "commands",
)  # modules of this package


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add, names = parser.add_argument, ", ".join(PARTS)
    add("--parts", nargs="+", choices=PARTS, metavar="PART", help=f"of {names} (default: all)")
    add("--quick", action="store_true", help="a minute or two; no figure counts")
    add("--again", action="store_true", help="measure also what is there already")
    add("--tensors", type=Path, help="folder with train.pt and embedding.pt for the models' parts, "
        "in place of drawn sentences")  # fmt: skip
    return parser.parse_args(given)


def run_part(name: str, plan: Plan) -> dict[str, Any]:
    """What one part finds; says on standard error what it is doing."""
    start = time.perf_counter()

    def say(what: str) -> None:
        print(f"{time.perf_counter() - start:7.0f} s  {name}: {what}", file=sys.stderr, flush=True)

    say("begins")
    shutil.rmtree(plan.workspace, ignore_errors=True)
    plan.workspace.mkdir(parents=True)
    try:
        # imported here: a part whose libraries are missing must not lose the others
        part = importlib.import_module(f"bench.{name}")
        found = part.measure(plan, say)
    finally:
        shutil.rmtree(plan.workspace, ignore_errors=True)
    what = (part.__doc__ or "").splitlines()[0]
    return {"what": what, "part_seconds": round(time.perf_counter() - start, 1), **found}


def measure(given: argparse.Namespace, plan: Plan, path: Path) -> None:
    """Measure what is missing, and write after each part.

    Args:
        path: of the JSON; the markdown stands beside it.

    Raises:
        SweepError: parts failed; the others are written.
        ArtefactError: a file of the tensors is missing or damaged.
    """
    sentences = str(given.tensors) if given.tensors else "drawn"
    identity = {"machine": machine(), "sentences": sentences, "quick": given.quick}
    document = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if any(document.get(name) != value for name, value in identity.items()):
        document = {**identity, "parts": {}}
    if given.tensors:
        data_of(plan)  # an error in what was given comes at once
    load, failed = round(os.getloadavg()[0], 2), []
    for name in given.parts or PARTS:
        if name in document["parts"] and not given.again:
            print(f"{name}: measured already (--again measures it anew)")
            continue
        try:
            found = run_part(name, plan)
        except Exception as error:
            if not isinstance(error, UserError):
                traceback.print_exc()  # ours to mend
            failed.append(f"part {name} failed: {error}")
            continue
        parts = document["parts"] | {name: found | {"load_before": load}}
        document["parts"] = {part: parts[part] for part in PARTS if part in parts}
        write_text(path, json.dumps(document, indent=1, allow_nan=False) + "\n")
        write_text(path.with_suffix(".md"), bench_report(document))
    if failed:
        raise SweepError("\n".join(failed))


def main() -> None:
    """Measure into artefacts/bench/."""
    given = arguments()
    plan = replace(
        QUICK if given.quick else FULL,
        tensors=given.tensors,
        workspace=state_folder() / "bench",
    )
    path = artefacts("bench", "quick.json" if given.quick else "bench.json")
    measure(given, plan, path)
    print(f"{path} and {path.with_suffix('.md').name} are written")


if __name__ == "__main__":
    run_command(main)
