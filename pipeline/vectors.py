"""Stage `vectors`: one input vector for each word of the vocabulary, random or pre-trained."""

import torch

from actmodels.data.stored import save_stored
from pipeline.datasets.tokens import read_counts
from pipeline.datasets.vectors import look_up
from pipeline.parameters.load import load_params
from pipeline.runtime.results import write_json
from pipeline.runtime.stage import artifacts, require_artifact, run_stage


def main() -> None:
    """Write artifacts/vectors/: the vectors, and how many words are pre-trained."""
    params = load_params()
    counts = read_counts(require_artifact("vocabulary", "words.tsv"))[: params.vocabulary.size]
    vectors, found, digest = look_up([word for word, _ in counts], params.vectors)
    save_stored({"vectors": vectors, "found": found}, artifacts("vectors", "vectors.pt"))
    tokens = torch.tensor([count for _, count in counts])
    summary = {
        "source": params.vectors.source,
        **({"sha256": digest} if digest else {}),
        "words": len(counts),
        "found": int(found.sum()),
        "type_coverage": round(int(found.sum()) / max(len(counts), 1), 6),
        "token_coverage": round(int(tokens[found].sum()) / max(int(tokens.sum()), 1), 6),
    }
    write_json(artifacts("vectors", "summary.json"), summary, indent=1)


if __name__ == "__main__":
    run_stage(main)
