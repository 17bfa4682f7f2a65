"""Stage `texts`: plain texts, fetched, each as the bytes it has, for the studies that read one."""

import hashlib
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from tqdm import tqdm

from actmodels.errors import DataError
from actmodels.files import replacing
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import TextSource
from pipeline.running.results import write_json
from pipeline.running.stage import artefacts, fresh, run_stage
from pipeline.sources.archive import open_member
from pipeline.sources.download import fetch
from pipeline.sources.stored_text import SUMMARY, text_file

CHUNK_BYTES = 1 << 20


def main() -> None:
    """Write the texts that params.yaml names; nothing of them if one cannot be had."""
    sources = load_params().texts.sources
    files = {name: fetched(name, source) for name, source in sources.items()}
    with fresh(artefacts("texts")):
        found = {
            name: write(name, content(name, files[name], source.members))
            for name, source in sources.items()
        }
        write_json(artefacts("texts", SUMMARY), {"texts": found})


def fetched(name: str, source: TextSource) -> Path:
    """The file that a text is or is in.

    Raises:
        DataError: it cannot be had, or it is an archive of which no member is named.
    """
    key = f"texts.sources.{name}"
    path = fetch(source, key)
    if not source.members and zipfile.is_zipfile(path):
        raise DataError(f"{key}: {path} is a zip archive; name what to read of it: {key}.members")
    return path


def content(name: str, path: Path, members: Sequence[str]) -> Iterator[bytes]:
    """The bytes of a text: of a file, or of the members of an archive, each from a new line on."""
    if not members:
        with path.open("rb") as file:
            yield from pieces(file)
        return
    last = b"\n"
    for member in members:
        if last[-1:] != b"\n":
            yield b"\n"
        with open_member(path, member, f"texts.sources.{name}") as stream:
            for last in pieces(stream):
                yield last


def pieces(file: BinaryIO) -> Iterator[bytes]:
    """What is left of a file, some at a time."""
    return iter(lambda: file.read(CHUNK_BYTES), b"")


def write(name: str, text: Iterable[bytes]) -> dict[str, Any]:
    """Write one text whole; its size and digest.

    Raises:
        DataError: it is empty, or cannot be written.
    """
    digest, size, path = hashlib.sha256(), 0, text_file(name)
    try:
        with (
            replacing(path) as temporary,
            temporary.open("wb") as out,
            tqdm(desc=f"texts {name}", unit="B", unit_scale=True) as bar,
        ):
            for piece in text:
                out.write(piece)
                digest.update(piece)
                size += len(piece)
                bar.update(len(piece))
    except OSError as error:
        raise DataError(f"texts.sources.{name}: cannot write {path} ({error.strerror})") from error
    if not size:
        raise DataError(f"texts.sources.{name}: the text is empty; expected at least one byte")
    return {"bytes": size, "sha256": digest.hexdigest()}


if __name__ == "__main__":
    run_stage(main)
