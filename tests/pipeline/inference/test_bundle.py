"""Bundles round-trip, are deterministic, detect corruption, and export a graph."""

import json
import os
import runpy
from pathlib import Path

import pytest
import torch

from actmodels.errors import ArtifactError
from actmodels.registry import MODELS
from actmodels.training import Training
from pipeline.inference.bundle import read_bundle
from tests.pipeline.tiny_export import ORIGIN, ROOT, VOCABULARY, tiny_model, write_tiny
from tests.samples import collate, sample_batch, sample_data, sample_pairs, sample_trial

RULES = [{"oov_rule": rule, "null_token": True} for rule in ("own", "hashed", "trained")]


@pytest.mark.parametrize(
    ("model", "settings"),
    [*((model, {}) for model in MODELS), *(("word_by_word_attention", rule) for rule in RULES)],
)
def test_round_trip(model: str, settings: dict[str, object], tmp_path: Path) -> None:
    config = sample_trial(model, **settings)
    written = tiny_model(config)
    with torch.no_grad():
        for parameter in written.parameters():  # away from the initial values
            parameter.add_(0.1)
    write_tiny(tmp_path, config, written)
    state = torch.get_rng_state()
    bundle = read_bundle(tmp_path)
    assert torch.equal(torch.get_rng_state(), state)
    assert (bundle.config, bundle.words, bundle.lowercase) == (config, VOCABULARY, True)
    assert bundle.origin == ORIGIN
    assert not bundle.model.training
    batch = sample_batch(null_token=config.input.null_token)
    with torch.no_grad():
        assert torch.equal(bundle.model(batch).logits, written(batch).logits)


def test_bytes_are_deterministic_and_without_pickle(tmp_path: Path) -> None:
    config = sample_trial("adaptive_attention")
    folders = (tmp_path / "first", tmp_path / "second")
    for folder in folders:
        write_tiny(folder, config)
    files = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders]
    assert files[0] == files[1]
    assert sorted(files[0]) == ["config.json", "model.safetensors", "words.txt"]
    weights = files[0]["model.safetensors"]
    header = json.loads(weights[8 : 8 + int.from_bytes(weights[:8], "little")])
    assert header["input_rows"]["dtype"] == "F32"
    assert {"model.safetensors", "words.txt"} <= {
        path.name for path in folders[0].iterdir() if path.stat().st_mode & 0o444 == 0o444
    }


def test_the_digest_depends_on_weights_and_origin(tmp_path: Path) -> None:
    config = sample_trial("adaptive_attention")
    write_tiny(tmp_path / "a", config)
    other = tiny_model(config)
    with torch.no_grad():
        next(other.parameters()).view(-1)[0] += 1e-6
    write_tiny(tmp_path / "b", config, other)
    write_tiny(tmp_path / "c", sample_trial("adaptive_attention", seed=2))
    digests = {read_bundle(tmp_path / name).digest for name in "abc"}
    assert len(digests) == 3


CORRUPT = {
    "missing": lambda path: path.unlink(),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "one byte": lambda path: path.write_bytes(path.read_bytes()[:-2] + b"0\n"),
    "another version": lambda path: path.write_text(
        path.read_text().replace('format": 2', 'format": 1')
    ),
}


@pytest.mark.parametrize("corruption", CORRUPT)
def test_a_corrupt_file_is_a_one_line_error(corruption: str, tmp_path: Path) -> None:
    names = ("config.json", "model.safetensors", "words.txt")
    for name in names[: 1 if corruption == "another version" else 3]:
        write_tiny(tmp_path / name, sample_trial("adaptive_attention"))
        CORRUPT[corruption](tmp_path / name / name)
        with pytest.raises(ArtifactError, match=r"^.*; run: dvc repro -f export$"):
            read_bundle(tmp_path / name)


@pytest.mark.slow(minutes=0.2)
@pytest.mark.parametrize("name", ["decomposable_attention", "adaptive_attention"])
def test_the_graph_of_the_docs_matches_the_model(name: str, folder: Path) -> None:
    """docs/examples/export_graph.py, for any number and length of pairs."""
    training = Training(sample_trial(name, max_epochs=2), sample_data())
    assert list(training.epochs())
    model = write_tiny(folder / "artifacts/export/models" / name, training.config, training.model)
    runpy.run_path(str(ROOT / "docs/examples/export_graph.py"))["main"](name, Path())
    graph = torch.export.load(f"{name}.pt2").module()
    for pairs, longest in ((1, 1), (2, 30), (17, 9)):
        batch = collate(sample_pairs(pairs, 5, longest), torch.arange(pairs), null_token=False)
        with torch.no_grad():
            expected = model.eval()(batch)
        torch.testing.assert_close(graph(*batch[:4]), expected.logits, atol=1e-6, rtol=0)
    assert expected.steps is None or expected.steps.max() < 6  # the cap
