"""Download a plain text that a study reads."""

import zipfile

from actmodels.errors import DataError
from pipeline.datasets.archive import open_member
from pipeline.datasets.download import fetch
from pipeline.parameters.section import TextSource


def fetch_text(source: TextSource, key: str) -> bytes:
    """Return the bytes of a text, unchanged.

    Args:
        key: of the source in params.yaml, for messages.

    Raises:
        DataError: the text is empty, its archive lacks a member, or no member is configured.
    """
    path, text = fetch(source, key), b""
    if not source.members:
        if zipfile.is_zipfile(path):
            raise DataError(f"{key}: {path} is a zip archive; name files of it in {key}.members")
        text = path.read_bytes()
    for member in source.members:  # each starts on a new line
        with open_member(path, member, key) as (stream, _):
            text += (b"" if text.endswith(b"\n") or not text else b"\n") + stream.read()
    if not text:
        raise DataError(f"{key}: the text is empty; expected at least one byte")
    return text
