"""Measure this software on this machine, part by part, into artefacts/bench/.

    python -m pipeline.benchmark

A run that was killed goes on with the parts that are missing; parts whose code has changed are
measured again. Nothing else should run meanwhile.
"""

import argparse
import shutil
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from actmodels.bench.machine import busy, machine
from actmodels.errors import SweepError, UserError
from pipeline.benchmark.document import Document
from pipeline.benchmark.parts import PARTS, Job, part_key
from pipeline.running.stage import artefacts, run_command, state_folder


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m pipeline.benchmark", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    names = ", ".join(PARTS)
    add = parser.add_argument
    add("--parts", nargs="+", choices=PARTS, metavar="PART", help=f"of {names} (default: all)")
    add("--quick", action="store_true", help="a minute or two; no figure counts")
    add("--again", action="store_true", help="measure also what is there already")
    add("--tensors", type=Path, help="folder with train.pt and embedding.pt for the models' parts, "
        "in place of drawn sentences")  # fmt: skip
    return parser.parse_args(given)


def measure(given: argparse.Namespace, folder: Path, workspace: Path) -> None:
    """Measure what is missing.

    Args:
        folder: gets bench.json and bench.md. workspace: gets large files, which go again.

    Raises:
        SweepError: parts failed; the others are written.
        ArtefactError: bench.json, or a file of the tensors, is damaged.
    """
    identity: dict[str, Any] = {
        "machine": machine(),
        "plan": "quick" if given.quick else "full",
        "sentences": str(given.tensors) if given.tensors else "drawn",
    }
    keys = {name: part_key(part, identity) for name, part in PARTS.items()}
    document = Document(folder, identity, keys)
    if document.dropped:
        changed = ", ".join(document.dropped)
        print(f"measured otherwise, with other code or elsewhere, and dropped: {changed}")
    failed = []
    for name in given.parts or PARTS:
        if name in document and not given.again:
            print(f"{name}: measured already (--again measures it anew)")
        elif not _part(name, given, document, workspace):
            failed.append(name)
    document.write()
    print(f"{document.json} and {document.markdown.name} are written")
    if failed:
        raise SweepError(
            f"parts failed: {', '.join(failed)} (reasons above); run the same command again"
        )


def _part(name: str, given: argparse.Namespace, document: Document, workspace: Path) -> bool:
    """Measure one part; whether that succeeded."""
    start = time.perf_counter()

    def say(what: str) -> None:
        print(f"{time.perf_counter() - start:7.0f} s  {name}: {what}", file=sys.stderr, flush=True)

    say("begins")
    others = busy()
    shutil.rmtree(workspace, ignore_errors=True)
    workspace.mkdir(parents=True)
    try:
        found = PARTS[name].run(Job(given.quick, given.tensors, workspace, say))
    except Exception as error:
        if not isinstance(error, UserError):
            traceback.print_exc()  # ours to mend
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        print(f"error: part {name} failed: {reason}", file=sys.stderr)
        document.fail(name, reason)
        return False
    finally:
        shutil.rmtree(workspace, ignore_errors=True)
    seconds = round(time.perf_counter() - start, 1)
    document.add(name, {"others_before": others, "seconds": seconds, **found})
    return True


def main() -> None:
    """Measure into artefacts/bench/."""
    measure(arguments(), artefacts("bench"), state_folder() / "bench")


if __name__ == "__main__":
    run_command(main)
