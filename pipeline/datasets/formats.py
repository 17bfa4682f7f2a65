"""Name files of formats that are not read, by their first bytes or the members of a zip archive."""

import re
from collections.abc import Collection

FOREIGN = (  # what comes in place of a file: its first bytes, its name, and an advice
    (rb"version https://git-lfs\.github\.com/", "a Git LFS pointer", "run: git lfs pull"),
    (
        rb"(?i)(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head)\b",
        "a web page, perhaps to sign in",
        "download the file in a browser, and name its path",
    ),
)
OTHER = (
    (rb"\xff\xfe|\xfe\xff|([^\0]\0){4}|(\0[^\0]){4}", "text in UTF-16"),
    (rb"(\xef\xbb\xbf)?\s*(<\?xml|<[\w-]+[^<>\t]*>\s*<)", "XML"),
    (rb"\xd0\xcf\x11\xe0", "an old Excel or Word file"),
    (rb"\x89HDF", "HDF5"),
    (rb"\x93NUMPY", "a NumPy array"),
    (rb"\x80[\2-\5]", "a Python pickle"),
    (rb"SQLite format", "an SQLite database"),
    (rb"%PDF", "PDF"),
    (rb"FEA1", "Feather of version 1"),
    (rb"(Rar!|7z\xbc\xaf)", "an archive of RAR or 7-Zip"),
    (rb".{7}\0\{", "safetensors"),
)
COLUMNAR = ((rb"PAR1", "Parquet"), (rb"ARROW1", "Feather"), (rb"\xff{4}", "Arrow"))


def foreign(head: bytes) -> tuple[str, str] | None:
    """Return what comes in place of a file with these first bytes, and an advice."""
    known = ((name, advice) for pattern, name, advice in FOREIGN if re.match(pattern, head))
    return next(known, None)


def other_format(head: bytes) -> str | None:
    """Return the name of a format that is neither text in UTF-8 nor columnar."""
    return _first(OTHER, head)


def columnar_format(head: bytes) -> str | None:
    """Return the name of a format of columns."""
    return _first(COLUMNAR, head)


def _first(formats: tuple[tuple[bytes, str], ...], head: bytes) -> str | None:
    return next((name for pattern, name in formats if re.match(pattern, head, re.DOTALL)), None)


def zipped_format(names: Collection[str]) -> str | None:
    """Return the name of a format that is a zip archive of these members."""
    if "[Content_Types].xml" in names or {"mimetype", "content.xml"} <= {*names}:
        return "an Excel workbook, or another Office file"
    if names and all(name.endswith(".npy") for name in names):
        return "NumPy arrays"
    return "a PyTorch file" if any(name.endswith("/data.pkl") for name in names) else None
