"""Corrupt the bytes of a file."""

import random


def corrupt(content: bytes, rng: random.Random) -> bytes:
    """Return other bytes: a bit flipped, or bytes cut off, zeroed, removed, repeated, replaced."""
    at = rng.randrange(len(content))
    flipped = bytes([content[at] ^ 1 << rng.randrange(8)])
    length = rng.randint(1, 100)
    variants = [
        content[:at] + flipped + content[at + 1 :],
        content[:at],
        content[:at] + bytes(len(content[at : at + length])) + content[at + length :],
        content[:at] + content[at + length :],
        content + content[at:],
        rng.choice([b"", b"null", b"[]", b"{}", b'{"a": NaN}', b"\xff\xfe", b"0" * 5000]),
    ]
    # disks mostly flip bits; zeroed bytes may have been zeros
    result = rng.choice([variants[0]] * 5 + variants)
    return result if result != content else variants[0]
