"""Stage `corpus`: generate or download sentence pairs; one jsonl file per split."""

from collections.abc import Iterator

from tqdm import tqdm

from pipeline.datasets.download import fetch
from pipeline.datasets.snli import PARSES, Pair, read_split, write_splits
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Corpus
from pipeline.parameters.section import SPLITS
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.synthetic.captions.corpus import generate_split


def main() -> None:
    """Write artifacts/corpus/."""
    corpus = load_params().corpus
    pairs = generated(corpus) if corpus.source == "captions" else fetched(corpus)
    splits = {split: parsed(split_pairs, corpus.parses) for split, split_pairs in pairs.items()}
    write_splits(artifacts("corpus"), corpus.source, splits)


def parsed(pairs: Iterator[Pair], parses: bool) -> Iterator[Pair]:
    """Yield the pairs with a parse of each sentence (empty if missing), or without parses."""
    for pair in pairs:
        trees = {key: pair.pop(key, "") for key in PARSES}
        yield pair | trees if parses else pair


def generated(corpus: Corpus) -> dict[str, Iterator[Pair]]:
    """Return iterators that generate the splits, each with a progress bar."""
    settings, splits = corpus.captions, {}
    for split in SPLITS:
        total = round(getattr(settings, split) * (1 + settings.unlabeled))
        pairs = generate_split(settings, split)
        splits[split] = iter(tqdm(pairs, f"draw {split}", total, unit=" pairs"))
    return splits


def fetched(corpus: Corpus) -> dict[str, Iterator[Pair]]:
    """Download the archive of SNLI; return iterators that read the splits from it."""
    archive, counts = fetch(corpus.snli, "corpus.snli"), corpus.snli.labeled_pairs or {}
    return {
        split: read_split(archive, corpus.snli.folder, split, counts.get(split)) for split in SPLITS
    }


if __name__ == "__main__":
    run_stage(main)
