"""Stage `texts`: download the plain texts of the studies, and store their bytes unchanged."""

import hashlib
import zipfile
from pathlib import Path
from typing import Any

from actmodels.errors import DataError
from actmodels.files import replacing
from pipeline.datasets.archive import open_member
from pipeline.datasets.download import fetch
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import TextSource
from pipeline.runtime.results import write_json
from pipeline.runtime.stage import artifacts, clean_dir, run_stage


def main() -> None:
    """Write artifacts/texts/; no text if one cannot be downloaded."""
    sources = load_params().texts.sources
    files = {name: fetch(source, f"texts.sources.{name}") for name, source in sources.items()}
    with clean_dir(artifacts("texts")):
        written = {name: write(name, files[name], source) for name, source in sources.items()}
        write_json(artifacts("texts", "summary.json"), {"texts": written})


def write(name: str, path: Path, source: TextSource) -> dict[str, Any]:
    """Write one text; return its size and digest.

    Raises:
        DataError: the text is empty, its archive lacks a member, or no member is configured.
    """
    key, text = f"texts.sources.{name}", b""
    if not source.members:
        if zipfile.is_zipfile(path):
            raise DataError(f"{key}: {path} is a zip archive; name files of it in {key}.members")
        text = path.read_bytes()
    for member in source.members:  # each starts on a new line
        with open_member(path, member, key) as (stream, _):
            text += (b"" if text.endswith(b"\n") or not text else b"\n") + stream.read()
    if not text:
        raise DataError(f"{key}: the text is empty; expected at least one byte")
    with replacing(artifacts("texts", f"{name}.txt")) as temporary:
        temporary.write_bytes(text)
    return {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}


if __name__ == "__main__":
    run_stage(main)
