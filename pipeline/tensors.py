"""Stage `tensors`: encode the pairs as tensors."""

from typing import Any

import torch
from tqdm import tqdm

from actmodels.data.pairs import FIRST_WORD, PairTensors, save_stored
from actmodels.errors import ArtifactError, DataError
from actmodels.files import files_digest
from pipeline.datasets.encode import encode, spelling_hash
from pipeline.datasets.text_lines import write_lines
from pipeline.datasets.tokens import read_token_pairs, read_words
from pipeline.parameters.load import load_params
from pipeline.parameters.section import SPLITS
from pipeline.runtime.results import write_json
from pipeline.runtime.stage import artifacts, require_artifact, run_stage


def write_embedding(words: list[str], train: PairTensors) -> None:
    """Write the vector and hash of each word, and whether it occurs in training."""
    path = require_artifact("vectors", "vectors.pt")
    stored = torch.load(path, weights_only=True)
    if (rows := len(stored["vectors"])) != len(words):
        problem = f"has {rows} rows for {len(words)} words; run: dvc repro -f vectors"
        raise ArtifactError(f"{path} {problem}")
    hashes = torch.tensor([spelling_hash(word) for word in words], dtype=torch.int64)
    seen = torch.zeros(FIRST_WORD + len(words), dtype=torch.bool)
    seen[torch.cat([train.premise_ids, train.hypothesis_ids]).long()] = True
    columns = {"word_hash": hashes, "in_train": seen[FIRST_WORD:].clone()}
    save_stored({**stored, **columns}, artifacts("tensors", "embedding.pt"))


def main() -> None:
    """Write artifacts/tensors/."""
    params = load_params()
    folder = artifacts("tensors")
    words = read_words(require_artifact("vocabulary", "words.tsv"))[: params.vocabulary.size]
    classes = params.corpus.classes
    ids = {word: FIRST_WORD + rank for rank, word in enumerate(words)}
    splits: dict[str, dict[str, Any]] = {}
    for split in SPLITS:
        pairs = read_token_pairs(require_artifact("vocabulary", f"{split}.tsv"))
        # dev and test keep all pairs, so that their metrics are comparable
        max_tokens = params.tensors.max_tokens if split == "train" else None
        encoded = encode(tqdm(pairs, f"encode {split}", unit=" pairs"), ids, classes, max_tokens)
        if not encoded.pair_ids:
            problem = f"all {encoded.dropped} pairs of {split} were dropped"
            raise DataError(f"{problem}; raise tensors.max_tokens in params.yaml")
        encoded.tensors.save(folder / f"{split}.pt")
        write_lines(folder / f"{split}_ids.txt", encoded.pair_ids)
        count = len(encoded.tensors)
        splits[split] = {
            "pairs": count,
            "dropped": encoded.dropped,
            "premise_tokens": round(len(encoded.tensors.premise_ids) / count, 3),
            "hypothesis_tokens": round(len(encoded.tensors.hypothesis_ids) / count, 3),
        }
    write_embedding(words, PairTensors.load(folder / "train.pt"))
    names = [*(f"{s}.pt" for s in SPLITS), *(f"{s}_ids.txt" for s in SPLITS), "embedding.pt"]
    manifest = {
        "digest": files_digest(folder, names),
        "pairs": {split: splits[split]["pairs"] for split in SPLITS},
        "words": len(words),
        "classes": classes,
        "splits": splits,
    }
    write_json(folder / "manifest.json", manifest, indent=1)


if __name__ == "__main__":
    run_stage(main)
