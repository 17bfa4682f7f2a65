"""Stage vectors: one input vector for each vocabulary word, drawn at random or pre-trained."""

import json

import torch
from torch import Tensor

from actmodels.data.stored import save_stored
from actmodels.files import write_text
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Vectors
from pipeline.running.stage import artefacts, made, run_stage
from pipeline.sources.download import fetch_named
from pipeline.sources.tokens import read_counts
from pipeline.sources.vectors import draw_vectors, read_vectors


def main() -> None:
    """Write the vectors of the vocabulary's words and how many of them have one."""
    params = load_params()
    counts = read_counts(made("vocabulary", "words.tsv"))[: params.vocabulary.size]
    vectors, found = look_up([word for word, _ in counts], params.vectors)
    save_stored({"vectors": vectors, "found": found}, artefacts("vectors", "vectors.pt"))
    summary = {"source": params.vectors.source} | summarise([n for _, n in counts], found)
    write_text(artefacts("vectors", "summary.json"), json.dumps(summary, indent=1) + "\n")


def look_up(words: list[str], settings: Vectors) -> tuple[Tensor, Tensor]:
    """Vectors, float32 [words, dimensions], and which words have one, bool [words]."""
    if settings.source == "random":
        drawn = settings.random
        vectors = draw_vectors(words, settings.dimensions, drawn.seed, drawn.std)
        return vectors, torch.ones(len(words), dtype=torch.bool)
    glove = settings.glove
    archive = fetch_named(glove, "vectors.glove")
    wanted = {word: row for row, word in enumerate(words)}
    vectors, found = read_vectors(archive, glove.member, wanted, settings.dimensions)
    return scaled(vectors, found, glove.mean_norm), found


def scaled(vectors: Tensor, found: Tensor, mean_norm: float | None) -> Tensor:
    """All vectors by one factor, so that those found have this length in the mean; None is none."""
    length = float(vectors[found].norm(dim=1).mean()) if found.any() else 0.0
    return vectors if mean_norm is None or length == 0 else vectors * (mean_norm / length)


def summarise(counts: list[int], found: Tensor) -> dict[str, int | float]:
    """How much of the vocabulary, and of the text it was counted on, has a vector."""
    covered = sum(count for count, has in zip(counts, found.tolist(), strict=True) if has)
    return {
        "words": len(counts),
        "found": int(found.sum()),
        "type_coverage": round(int(found.sum()) / max(len(counts), 1), 6),
        "token_coverage": round(covered / max(sum(counts), 1), 6),
    }


if __name__ == "__main__":
    run_stage(main)
