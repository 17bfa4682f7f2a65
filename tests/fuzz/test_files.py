"""Reading a corrupt file yields what was written, or an error that names the file.

Records and checkpoints have a checksum at their end, see tests/actmodels/test_files.py.
"""

import bz2
import gzip
import lzma
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from actmodels.errors import ArtifactError, DataError
from pipeline.datasets.archive import in_archive
from pipeline.datasets.pair_files import SplitReader
from pipeline.inference.bundle import Bundle, read_bundle
from pipeline.parameters.labels import NLI, ClassReader
from pipeline.parameters.schema import PairFiles
from tests.pipeline.project import make_zip, params_tree
from tests.pipeline.tiny_export import write_tiny
from tests.samples import MODELS, sample_trial

RANDOM = st.randoms(use_true_random=False)
TEXTS = {
    "a.csv": 'premise,hypothesis,label\n"A ""dog"", old",It runs,0\nA cat,"x\ny",neutral\n',
    "a.tsv": 'premise\thypothesis\tlabel\n"A ""dog"""\tIt runs\t0.0\nA 5" cat\tx\t-\n',
    "a.jsonl": '{"premise": "A é", "hypothesis": "b", "label": 1, "id": 7}\n' * 3,
    "b.json": '{"data": [\n{"premise": "A", "hypothesis": "b", "label": "neutral"}\n]}',
    "a.json": '[{"sentence1": "A", "sentence2": "b", "gold_label": "entailment"}, {"x": NaN}]',
}


def corrupt(content: bytes, rng: Random) -> bytes:
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


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Bundle]:
    folder = tmp_path_factory.mktemp("project") / "model"
    write_tiny(folder, sample_trial(MODELS[1]))
    return folder, read_bundle(folder)


@given(RANDOM)
def test_an_exported_model(model: tuple[Path, Bundle], rng: Random) -> None:
    folder, original = model
    path = rng.choice(sorted(folder.iterdir()))
    content = path.read_bytes()
    path.write_bytes(corrupt(content, rng))
    try:
        assert same(read_bundle(folder), original), path
    except ArtifactError as error:
        assert str(folder) in str(error) and str(error).endswith("run: dvc repro -f export")
    finally:
        path.write_bytes(content)


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Files of pairs in each format, by name."""
    folder = tmp_path_factory.mktemp("pairs")
    table = pa.table({"premise": ["a", "b"], "hypothesis": ["c", None], "label": [0, -1]})
    pq.write_table(table, folder / "a.parquet")
    with pa.ipc.new_stream(folder / "a.arrow", table.schema) as stream:
        stream.write_table(table)
    binary = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    files = {name: text.encode() for name, text in TEXTS.items()} | binary
    return files | {"a.zip": make_zip(folder / "a.zip", files).read_bytes()}


@given(rng=RANDOM, corruptions=st.integers(0, 2), invalid=st.sampled_from(["stop", "drop"]))
def test_files_of_pairs(
    contents: dict[str, bytes], rng: Random, corruptions: int, invalid: Any, tmp_path: Path
) -> None:
    name, content = rng.choice([*contents.items()])
    for _ in range(corruptions):
        content = corrupt(content or b"x", rng)
    content = rng.choice([bytes, gzip.compress, bz2.compress, lzma.compress])(content)
    path = tmp_path / name
    path.write_bytes(corrupt(content or b"x", rng))
    files = params_tree()["corpus"]["files"]
    files |= {"invalid": invalid}
    reader = SplitReader("dev", PairFiles(**files), ClassReader(NLI, files["labels"]))
    wanted = rng.choice([*TEXTS]) if name == "a.zip" else ""
    try:
        list(reader.read(in_archive(path, wanted, "k")))
    except DataError as error:
        assert str(path) in str(error), content
