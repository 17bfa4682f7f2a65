"""Reading a corrupt model raises an error that names it, or returns the original.

Records and checkpoints have a checksum at their end, see tests/actmodels/test_files.py.
"""

import random
from collections.abc import Iterable
from pathlib import Path

import torch

from actmodels.errors import ArtifactError
from pipeline.inference.bundle import Bundle, read_bundle
from tests.pipeline.tiny_export import write_tiny
from tests.samples import MODELS, sample_trial


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


def same(first: Bundle, second: Bundle) -> bool:
    """Return whether two bundles have the same model, vocabulary and origin."""
    plain = [(b.config, b.words, b.lowercase, b.origin) for b in (first, second)]
    states = [bundle.model.state_dict() for bundle in (first, second)]
    return plain[0] == plain[1] and all(
        torch.equal(tensor, states[1][name]) for name, tensor in states[0].items()
    )


def test_an_exported_model(tmp_path: Path, examples: Iterable[random.Random]) -> None:
    folder = tmp_path / "model"
    write_tiny(folder, sample_trial(MODELS[1]))
    original, files = read_bundle(folder), sorted(folder.iterdir())
    for rng in examples:
        path = rng.choice(files)
        content = path.read_bytes()
        path.write_bytes(corrupt(content, rng))
        try:
            assert same(read_bundle(folder), original), path
        except ArtifactError as error:
            assert str(folder) in str(error)
            assert str(error).endswith("run: dvc repro -f export")
        path.write_bytes(content)
