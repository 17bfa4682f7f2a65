"""Stage `vectors`: one input vector for each word of the vocabulary, random or pre-trained."""

from collections.abc import Iterator

import torch

from actmodels.data.pairs import save_stored
from pipeline.datasets.tokens import read_counts, read_token_pairs
from pipeline.datasets.vectors import look_up
from pipeline.parameters.load import load_params
from pipeline.runtime.results import write_json
from pipeline.runtime.stage import artifacts, require_artifact, run_stage

LOW = 0.5  # ours: a share of words or tokens with a vector below which the stage warns


def train_sentences() -> Iterator[list[str]]:
    """Yield the premises and hypotheses of the training split."""
    for pair in read_token_pairs(require_artifact("vocabulary", "train.tsv")):
        yield pair.premise
        yield pair.hypothesis


def main() -> None:
    """Write artifacts/vectors/: the vectors, and how many words are pre-trained."""
    params = load_params()
    counts = read_counts(require_artifact("vocabulary", "words.tsv"))[: params.vocabulary.size]
    words = [word for word, _ in counts]
    vectors, found, digest = look_up(words, params.vectors, train_sentences())
    save_stored({"vectors": vectors, "found": found}, artifacts("vectors", "vectors.pt"))
    tokens = torch.tensor([count for _, count in counts])
    types = int(found.sum()) / max(len(counts), 1)
    covered = int(tokens[found].sum()) / max(int(tokens.sum()), 1)
    note = f"{int(found.sum()):,} of {len(counts):,} words ({100 * types:.1f} %) and "
    note += f"{100 * covered:.1f} % of the tokens have a {params.vectors.source} vector"
    if min(types, covered) < LOW:
        note = f"warning: only {note}"
        if params.vectors.source == "glove":
            note += "; see vectors.glove and vocabulary.lowercase in params.yaml"
    summary = {
        "source": params.vectors.source,
        **({"sha256": digest} if digest else {}),
        "words": len(counts),
        "found": int(found.sum()),
        "type_coverage": round(types, 6),
        "token_coverage": round(covered, 6),
        "note": note,
    }
    write_json(artifacts("vectors", "summary.json"), summary, indent=1)
    print(note)


if __name__ == "__main__":
    run_stage(main)
