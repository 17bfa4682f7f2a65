"""Reading a corrupt file raises an error that names it, or returns the original content."""

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
import torch

from actmodels.errors import ArtifactError
from actmodels.files import CorruptError
from pipeline.inference.bundle import Bundle, read_bundle
from tests.pipeline.tiny_export import write_tiny
from tests.samples import MODELS, sample_trial
from tests.tune.test_store import record, trial
from tune.storage import storage
from tune.store import TrialStore, checkpoint_name
from tune.trainable import load_checkpoint, save_checkpoint

Examples = Iterable[random.Random]


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


def corrupted(files: Sequence[Path], examples: Examples) -> Iterator[tuple[Path, bytes]]:
    """Corrupt a file for each example; yield its path and new content, and restore it."""
    for rng in examples:
        path = rng.choice(files)
        content = path.read_bytes()
        path.write_bytes(other := corrupt(content, rng))
        yield path, other
        path.write_bytes(content)


def same(first: Bundle, second: Bundle) -> bool:
    """Return whether two bundles have the same model, vocabulary and origin."""
    plain = [(b.config, b.words, b.lowercase, b.origin) for b in (first, second)]
    states = [bundle.model.state_dict() for bundle in (first, second)]
    return plain[0] == plain[1] and all(
        torch.equal(tensor, states[1][name]) for name, tensor in states[0].items()
    )


def test_an_exported_model(tmp_path: Path, examples: Examples) -> None:
    folder = tmp_path / "model"
    write_tiny(folder, sample_trial(MODELS[1]))
    original, files = read_bundle(folder), sorted(folder.iterdir())
    for path, _ in corrupted(files, examples):
        try:
            assert same(read_bundle(folder), original), path
        except ArtifactError as error:
            assert str(folder) in str(error)
            assert str(error).endswith("run: dvc repro -f export")


def test_a_finished_trial(
    tmp_path: Path, examples: Examples, capsys: pytest.CaptureFixture[str]
) -> None:
    store, ours = TrialStore(storage(tmp_path)), record(trial())
    store.save(ours, {"a": torch.ones(20)})
    original = store.load(ours.key, needs_weights=True)
    files = sorted(tmp_path.iterdir())
    for path, other in corrupted(files, examples):
        assert store.load(ours.key, needs_weights=True) is None
        log = capsys.readouterr().err
        (aside,) = tmp_path.glob(f"{path.name}.corrupt*")
        assert re.fullmatch(rf"{re.escape(str(path))} .*, the trial is run again\n", log), log
        assert aside.read_bytes() == other
        aside.unlink()
    assert store.load(ours.key, needs_weights=True) == original


def test_a_trial_in_progress(tmp_path: Path, examples: Examples) -> None:
    place = storage(tmp_path)
    save_checkpoint(place, "key", {"parameters": {"a": torch.arange(30.0)}, "epoch": 3})
    path = tmp_path / checkpoint_name("key")
    for _ in corrupted([path], examples):
        with pytest.raises(CorruptError, match=re.escape(str(path))):
            load_checkpoint(place, "key")
    path.unlink()
    path.mkdir()
    with pytest.raises(CorruptError, match=re.escape(f"{path} is corrupt: it is a folder")):
        load_checkpoint(place, "key")
