"""Stage `watched`: hash the local files that a stage reads, so that DVC notices an edit.

artifacts/watch/<stage>/files.json has the SHA-256 of each file of each place in params.yaml; an
archive is one file. DVC always runs this stage. A file is hashed again only if its size, times or
number on the disk have changed.

Of a sweep with a time limit, files.json counts the runs that it ended. A partial result is a
success of its stage, else no report would follow, and DVC does not repeat a success. The count is
a dependency of the sweep, so that the same command continues it; results do not have it, and those
of a completed sweep equal those of one without a time limit.
"""

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from actmodels.files import file_digest, write_text
from pipeline.datasets.download import REMOTE, local_path, matches
from pipeline.parameters.load import load_params
from pipeline.parameters.section import SPLITS
from pipeline.runtime.stage import artifacts, run_stage, state_folder

RECENT_NS = 2 * 10**9  # a file that changed so recently may change again within its time's step


def places(stage: str) -> Iterator[str]:
    """Yield the paths, globs and URLs that params.yaml names for a stage."""
    params = load_params()
    if stage == "vectors":
        yield from params.vectors.glove.urls
    for split in SPLITS if stage == "corpus" else ():
        named = getattr(params.corpus.files, split) or []
        yield from [named] if isinstance(named, str) else named


def local_files(place: str) -> list[Path]:
    """Return the local files of a place: those of a glob, or the archive of ARCHIVE::MEMBER."""
    path, _, _ = place.partition("::")
    if REMOTE.match(path):
        return []
    return [Path(match) for match in matches(path)] or [local_path(path)]


def digest(file: Path, kept: Mapping[str, Sequence[str | int]]) -> tuple[str, list[str | int]]:
    """Return the SHA-256 of a file, and what to keep: it, size, times and number on the disk.

    Args:
        kept: of the run before, by path; empty for a file that may change again.
    """
    if not file.is_file():  # the stage that reads it reports that
        return "no file", []
    stat = file.stat()
    times = [stat.st_mtime_ns, stat.st_ctime_ns]
    now = [stat.st_size, *times, stat.st_ino]
    known, *before = kept.get(str(file)) or [""]
    found = str(known) if before == now else file_digest(file)
    settled = time.time_ns() - max(times) > RECENT_NS
    return found, [found, *now] if settled else []


def ended_runs(before: int) -> int:
    """Return how often the sweep was ended with its best, if it was `before` times until then."""
    with suppress(OSError, ValueError):
        return before + ("ended" in json.loads(artifacts("sweep", "summary.json").read_bytes()))
    return before


def main() -> None:
    """Write artifacts/watch/<stage>/, for the stage of the command line."""
    stage = sys.argv[1]
    store = state_folder() / f"watched-{stage}.json"
    try:
        kept = json.loads(store.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = {}
    keep, found = dict[str, Any](), dict[str, Any]()
    if stage == "sweep":
        keep = found = {"ended runs": ended_runs(kept.get("ended runs", 0))}
    for place in places(stage):
        files = found[place] = {}
        for file in local_files(place):  # without folders: the same in another clone
            files[file.name], keep[str(file)] = digest(file, kept)
    write_text(store, json.dumps(keep))
    write_text(artifacts("watch", stage, "files.json"), json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    run_stage(main, f"watched@{sys.argv[1]}")
