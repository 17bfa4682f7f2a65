"""Read and write a trained model as a self-contained folder without pickles.

model.safetensors  parameters and buffers; INPUT_ROWS, the input vectors by token id
                   [words, dimensions]; TRAINED_ROWS, the ids of the trained vectors
words.txt          the vocabulary, one word per line; word i (from 0) has token id FIRST_WORD + i
config.json        configuration, labels, lower-casing, origin of the model
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from actmodels.errors import ArtifactError, ConfigError
from actmodels.files import file_digest, regular, replacing, write_text
from actmodels.models.pair_model import PairModel, build
from actmodels.trial_config import TrialConfig, trial_from_dict

FORMAT = 2
WEIGHTS, WORDS, CONFIG = "model.safetensors", "words.txt", "config.json"
INPUT_ROWS, TRAINED_ROWS = "input_rows", "trained_rows"
# RuntimeError includes the RecursionError of deeply nested JSON.
UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError)


@dataclass(frozen=True)
class Bundle:
    """An exported model.

    classes: their names, in the order of the logits.
    words: the vocabulary in the order of token ids.
    lowercase: whether to lower-case sentences before tokenization.
    origin: key, seed, dev accuracy and its number of pairs, digest of the data.
    digest: SHA-256 of the model and its origin.
    """

    config: TrialConfig
    model: PairModel
    classes: list[str]
    words: list[str]
    lowercase: bool
    origin: dict[str, Any]
    digest: str


def write_bundle(
    folder: Path,
    config: TrialConfig,
    model: PairModel,
    vectors: tuple[Tensor, Tensor],
    classes: list[str],
    words: list[str],
    *,
    lowercase: bool,
    origin: dict[str, Any],
) -> str:
    """Write the three files deterministically; return the digest.

    Args:
        vectors: input vectors [words, dimensions] and the ids of the trained ones [trained], as in
            actmodels.data.trial_data.
    """
    tensors = {INPUT_ROWS: vectors[0], TRAINED_ROWS: vectors[1], **model.state_dict()}
    # safetensors rejects a view of a larger tensor
    whole = {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}
    with replacing(folder / WEIGHTS) as temporary:  # save_file would write mode 0600
        temporary.write_bytes(save(whole))
    write_text(folder / WORDS, "".join(f"{word}\n" for word in words))
    stored = {
        "format": FORMAT,
        "model": config.model,
        "labels": classes,
        "lowercase": lowercase,
        "front": ["<null>"] if config.input.null_token else [],
        "config": config.as_dict(),
        "origin": origin,
    }
    digest = _digest(folder, stored)
    write_text(folder / CONFIG, json.dumps({**stored, "digest": digest}, indent=2) + "\n")
    return digest


def read_bundle(folder: Path) -> Bundle:
    """Read a model in evaluation mode; the global random state does not change.

    Raises:
        ArtifactError: a file is missing or corrupt, or has another format.
    """
    advice = "run: dvc repro -f export"
    try:
        stored = json.loads(regular(folder / CONFIG).read_text(encoding="utf-8"))
        if stored["format"] != FORMAT:
            raise ArtifactError(f"{folder} was written by another version of this code; {advice}")
        digest = stored.pop("digest")
        if _digest(folder, stored) != digest:
            raise ArtifactError(f"{folder}: files do not match the digest in {CONFIG}; {advice}")
        tensors = load_file(folder / WEIGHTS)
        words = regular(folder / WORDS).read_text(encoding="utf-8").split("\n")[:-1]
        config = trial_from_dict(stored["config"])
        vectors, trained = tensors.pop(INPUT_ROWS), tensors.pop(TRAINED_ROWS)
        with torch.random.fork_rng(devices=[]):  # build initializes parameters
            model = build(config, vectors, len(stored["labels"]), trained)
        model.load_state_dict(tensors)
        lowercase, origin = stored["lowercase"], stored["origin"]
    except (ConfigError, SafetensorError, *UNREADABLE) as error:
        reason = " ".join(str(error).split())[:200]
        raise ArtifactError(f"{folder} cannot be read ({reason}); {advice}") from error
    return Bundle(config, model.eval(), stored["labels"], words, lowercase, origin, digest)


def _digest(folder: Path, stored: dict[str, Any]) -> str:
    """Return SHA-256 over the weights, the words and the other keys of config.json."""
    digest = hashlib.sha256(json.dumps(stored, sort_keys=True).encode())
    for name in (WEIGHTS, WORDS):
        digest.update(bytes.fromhex(file_digest(folder / name)))
    return digest.hexdigest()
