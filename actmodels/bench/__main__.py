"""Measure training and inference on this machine.

    python -m actmodels.bench --out bench.json

Needs torch alone. Nothing else should run meanwhile; figures by processor seconds stand beside
those by the clock for machines where something does.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from actmodels.bench.machine import machine
from actmodels.bench.parts import PARTS, run_part
from actmodels.bench.plan import FULL, QUICK
from actmodels.errors import UserError
from actmodels.files import write_text


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m actmodels.bench", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART",
                        help=f"some of {', '.join(PARTS)} (default: all)")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="seconds; no figure counts")
    parser.add_argument("--tensors", type=Path, help="folder with train.pt and embedding.pt to use "
                        "in place of drawn sentences")  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="where there is no GPU, run the "
                        "GPU's part on the CPU at tiny sizes; no figure counts")  # fmt: skip
    parser.add_argument("--out", type=Path, help="JSON file (default: standard output)")
    return parser.parse_args(given)


def measure(given: argparse.Namespace) -> dict[str, Any]:
    """Run the chosen parts; says on standard error what it is doing."""
    plan = QUICK if given.quick else FULL
    plan = replace(plan, dry_run=given.dry_run, tensors=given.tensors)
    start = time.perf_counter()

    def say(part: str, what: str) -> None:
        sys.stderr.write(f"{time.perf_counter() - start:7.0f} s  {part}: {what}\n")

    say("data", "reading" if given.tensors else f"drawing {plan.sizes.pairs:,} pairs")
    data = plan.data()
    found = {}
    for name in given.parts:
        say(name, "begins")
        found[name] = run_part(name, plan, data, partial(say, name))
    return {
        "machine": machine(),
        "plan": "quick" if given.quick else "full",
        "sentences": str(given.tensors) if given.tensors else "drawn",
        "parts": found,
    }


def main() -> None:
    """Measure and write; Ctrl-C ends it without a file."""
    given = arguments()
    try:
        text = json.dumps(measure(given), indent=1) + "\n"
    except UserError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing was written\n")
        sys.exit(130)
    if given.out is None:
        sys.stdout.write(text)
    else:
        write_text(given.out, text)


if __name__ == "__main__":
    main()
