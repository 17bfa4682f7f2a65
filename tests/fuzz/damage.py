"""What can befall a file."""

import random


def damaged(content: bytes, drawn: random.Random) -> bytes:
    """Other bytes than these: one bit flipped, cut, a hole, doubled, replaced or emptied."""
    at = drawn.randrange(len(content))
    flipped = bytes([content[at] ^ 1 << drawn.randrange(8)])
    length = drawn.randint(1, 100)
    kinds = [
        content[:at] + flipped + content[at + 1 :],
        content[:at],
        content[:at] + bytes(len(content[at : at + length])) + content[at + length :],
        content[:at] + content[at + length :],
        content + content[at:],
        drawn.choice([b"", b"null", b"[]", b"{}", b'{"a": NaN}', b"\xff\xfe", b"0" * 5000]),
    ]
    # flips are what disks do; the hole may be where there were zeros
    found = drawn.choice([kinds[0]] * 5 + kinds)
    return found if found != content else kinds[0]
