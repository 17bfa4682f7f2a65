"""Judge the fast tests: apply each fault of tests/faults.toml to a copy, and run the tests.

    pip install --target /tmp/coverage --no-deps coverage pytest-cov
    PYTHONPATH=/tmp/coverage python -m tests.try_faults --json faults.json

The first run measures which test executes which line. For each fault the tests of its lines run
first, then the whole fast suite with all survivors. So a fault that lived has passed every test.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from tests.checkout_copy import TIME, copy_checkout, import_libraries, line_map, run_tests

FAULTS = Path(__file__).with_name("faults.toml")
MOST, LIMIT = 20, 180  # seconds of the tests of a fault's lines: when measured, and at most
Fault = dict[str, Any]
Deaths = dict[str, str]  # the test that killed a fault, by name
TestsOf = dict[str, list[str]]  # the tests that execute the lines of a fault, by name


def located(folder: Path, fault: Fault) -> tuple[Path, str]:
    """Return the only file that has the fault's text, and its text."""
    texts = {path: path.read_text() for path in (folder / fault["package"]).rglob("*.py")}
    found = [path for path, text in texts.items() for _ in range(text.count(fault["old"]))]
    if len(found) != 1:
        sys.exit(f"{fault['name']}: expected its text once in {fault['package']}, got {found}")
    return found[0], texts[found[0]]


def executing_tests(folder: Path, fault: Fault, lines_of: Any) -> list[str]:
    """Return the tests that execute the fault's lines, those of its file's name first."""
    path, text = located(folder, fault)
    name, first = path.relative_to(folder), text[: text.index(fault["old"])].count("\n") + 1
    lines = lines_of.contexts_by_lineno(name.as_posix())
    numbers = range(first, first + fault["old"].rstrip("\n").count("\n") + 1)
    contexts = {one for number in numbers for one in lines.get(number, ()) if one}
    # else the tests that import the file
    contexts = contexts or {one for tests in lines.values() for one in tests if one}
    words = (*name.with_suffix("").parts[1:], f"tests/{fault['package']}/")
    tests = {one.partition("|")[0].partition("[")[0] for one in contexts}
    return sorted(tests, key=lambda test: (-sum(word in test for word in words), test))


def short_tests(tests: list[str], seconds: Counter[str]) -> list[str]:
    """Return the first tests and short ones that take MOST seconds; the suite has the others."""
    chosen, total = tests[:1], 0.0
    for test in tests[1:]:
        took = seconds[re.sub(r"\.py::|::|/", ".", test)]
        if total + took <= MOST:
            chosen, total = [*chosen, test], total + took
    return chosen


def tried(folder: Path, faults: list[Fault], *arguments: str, **limit: float) -> list[str]:
    """Run tests with faults applied, and restore the files; return the failed ones."""
    originals: dict[Path, tuple[str, float]] = {}
    try:
        for fault in faults:
            path, text = located(folder, fault)
            originals.setdefault(path, (text, path.stat().st_mtime))
            path.write_text(text.replace(fault["old"], fault["new"]))
        return run_tests(folder, *arguments, **limit)
    finally:
        for path, (text, modified) in originals.items():
            path.write_text(text)
            os.utime(path, (modified, modified))  # so that its bytecode stays valid


def try_alone(folder: Path, fault: Fault, tests: list[str]) -> Deaths:
    """Try a fault with tests of its lines, and print a line."""
    start = time.monotonic()
    failed = tried(folder, [fault], "-x", *tests, limit=LIMIT) if tests else [TIME]
    killer = f"none of {len(tests)} tests" if failed in ([], [TIME]) else failed[0]
    print(f"{fault['name']}: killed by {killer} in {time.monotonic() - start:.0f} s", flush=True)
    return {} if failed in ([], [TIME]) else {fault["name"]: killer}


def try_together(folder: Path, faults: list[Fault], tests_of: TestsOf, workers: str) -> Deaths:
    """Run the whole fast suite with all faults, then each failed test with each fault alone.

    A test that passes with all faults kills none of them.
    """
    failed = tried(folder, faults, "-n", workers) if faults else []
    print(f"the whole fast suite with {len(faults)} faults fails: {failed}", flush=True)
    if failed and not all("::" in test for test in failed):
        sys.exit("the faults stop the whole suite; try fewer of them together with --only")
    deaths, explained = Deaths(), {test for fault in faults for test in tests_of[fault["name"]]}
    others = {*failed} - explained  # as of subprocesses
    others -= {*run_tests(folder, *others)} if others else set()  # they fail without a fault
    for fault in faults:
        own = [test for test in tests_of[fault["name"]] if test in failed]
        if tests := [*own, *others]:
            deaths |= try_alone(folder, fault, tests)
    return deaths


def print_table(faults: list[Fault], deaths: Deaths) -> None:
    """Print how many faults of each package were killed."""
    print(f"{'package':<12}{'killed':>7}{'all':>5}{'%':>5}")
    for package, count in [*Counter(f["package"] for f in faults).items(), ("", len(faults))]:
        killed = sum(f["name"] in deaths for f in faults if package in ("", f["package"]))
        print(f"{package or 'all':<12}{killed:>7}{count:>5}{100 * killed / max(count, 1):>5.0f}")


def main() -> None:
    """Try the chosen faults."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="faults to try")
    parser.add_argument("--package", help="try the faults of this package")
    parser.add_argument("--json", type=Path, metavar="OUT", help="file of the results")
    parser.add_argument("--together", action="store_true", help="begin with the whole suite")
    parser.add_argument("--workers", default="0", help="processes of the whole suite")
    chosen = parser.parse_args()
    faults = tomllib.loads(FAULTS.read_text())["fault"]
    faults = [f for f in faults if f["name"] in (chosen.only or [f["name"]])]
    faults = [f for f in faults if f["package"] == (chosen.package or f["package"])]
    deaths = Deaths()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "copy")
        copy_checkout(folder)
        import_libraries()
        lines_of, seconds = line_map(folder)
        tests_of = {f["name"]: executing_tests(folder, f, lines_of) for f in faults}
        for fault in faults if not chosen.together else ():
            deaths |= try_alone(folder, fault, short_tests(tests_of[fault["name"]], seconds))
        killers = {test for test in deaths.values() if "::" in test}
        if failed := run_tests(folder, *killers) if killers else []:
            sys.exit(f"tests fail without a fault: {', '.join(failed)}")
        left = [fault for fault in faults if fault["name"] not in deaths]
        deaths |= try_together(folder, left, tests_of, chosen.workers)
    for name in (fault["name"] for fault in left):
        print(f"{name}: " + (f"killed by {deaths[name]}" if name in deaths else "lived"))
    print_table(faults, deaths)
    if chosen.json:
        results = [fault | {"killed_by": deaths.get(fault["name"])} for fault in faults]
        chosen.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
