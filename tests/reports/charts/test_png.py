import zlib

import pytest

from reports.charts.png import chunks, packed

PIXELS = bytes([0, 0, 85, 0, 170, 255])  # two rows of two grey pixels, each after its filter, 0


def chunk(kind: bytes, content: bytes) -> bytes:
    checked = kind + content
    size, checksum = len(content).to_bytes(4, "big"), zlib.crc32(checked).to_bytes(4, "big")
    return size + checked + checksum


def loose(times: int) -> bytes:
    """A picture of the two rows many times, stored as they are and in two chunks of data."""
    size = (2).to_bytes(4, "big") + (2 * times).to_bytes(4, "big")
    data = zlib.compress(PIXELS * times, 0)
    parts = [(b"IHDR", size + bytes([8, 0, 0, 0, 0])), (b"IDAT", data[:9]), (b"IDAT", data[9:])]
    stored = b"".join(chunk(*part) for part in (*parts, (b"IEND", b"")))
    return bytes([137]) + b"PNG\r\n\x1a\n" + stored


def pixels(png: bytes) -> bytes:
    return zlib.decompress(b"".join(content for kind, content in chunks(png) if kind == b"IDAT"))


def test_the_pixels_stay_and_the_bytes_are_fewer() -> None:
    before = loose(500)
    after = packed(before)
    assert pixels(after) == pixels(before) == PIXELS * 500
    assert len(after) < len(before) / 10
    assert [kind for kind, _ in chunks(after)] == [b"IHDR", b"IDAT", b"IEND"]
    assert packed(after) == after


def test_every_chunk_has_its_checksum() -> None:
    after, at = packed(loose(3)), 8
    while at < len(after):
        size = int.from_bytes(after[at : at + 4], "big")
        checked, told = after[at + 4 : at + 8 + size], after[at + 8 + size : at + 12 + size]
        assert zlib.crc32(checked) == int.from_bytes(told, "big")
        at += 12 + size


def test_something_else_is_refused() -> None:
    with pytest.raises(ValueError, match="not a PNG file"):
        packed(b"GIF89a")
