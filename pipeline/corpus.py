"""Stage corpus: sentence pairs, generated or fetched, as one jsonl file per split."""

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
    """Write the corpus that params.yaml names."""
    corpus = load_params().corpus
    pairs = generated(corpus) if corpus.source == "captions" else fetched(corpus)
    splits = {split: parsed(drawn, corpus.parses) for split, drawn in pairs.items()}
    write_splits(artifacts("corpus"), corpus.source, splits)


def parsed(pairs: Iterator[Pair], parses: bool) -> Iterator[Pair]:
    """The pairs with a parse of each sentence, empty where there is none; or without."""
    for pair in pairs:
        own = {key: pair.pop(key, "") for key in PARSES}
        yield pair | own if parses else pair


def generated(corpus: Corpus) -> dict[str, Iterator[Pair]]:
    """The splits of the embedded corpus, each under a progress bar while it is drawn."""
    settings, splits = corpus.captions, {}
    for split in SPLITS:
        total = round(getattr(settings, split) * (1 + settings.unlabeled))
        pairs = generate_split(settings, split)
        splits[split] = iter(tqdm(pairs, f"draw {split}", total, unit=" pairs"))
    return splits


def fetched(corpus: Corpus) -> dict[str, Iterator[Pair]]:
    """The splits of SNLI; its archive is fetched now, and read when the splits are drawn."""
    archive, counts = fetch(corpus.snli, "corpus.snli"), corpus.snli.labeled_pairs or {}
    return {
        split: read_split(archive, corpus.snli.folder, split, counts.get(split)) for split in SPLITS
    }


if __name__ == "__main__":
    run_stage(main)
