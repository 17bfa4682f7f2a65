"""Stage corpus: sentence pairs, generated or fetched, as one jsonl file per split."""

from collections.abc import Iterator

from tqdm import tqdm

from pipeline.captions.corpus import generate_split
from pipeline.parameters.captions_section import Captions
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Snli
from pipeline.sources.download import fetch
from pipeline.sources.jsonl import Pair
from pipeline.sources.snli import read_split
from pipeline.sources.splits import write_splits
from pipeline.stage import artefacts, run_stage, state_folder

SPLITS = ("train", "dev", "test")


def main() -> None:
    """Write the corpus that params.yaml names."""
    params = load_params().corpus
    if params.source == "snli":
        splits = fetched(params.snli)
    else:
        splits = {split: generated(params.captions, split) for split in SPLITS}
    write_splits(artefacts("corpus"), params.source, splits)


def generated(settings: Captions, split: str) -> Iterator[Pair]:
    """One split of the embedded corpus, under a progress bar."""
    labelled: int = getattr(settings, split)
    total = round(labelled * (1 + settings.unlabelled))
    yield from tqdm(generate_split(settings, split), f"captions {split}", total, unit=" pairs")


def fetched(settings: Snli) -> dict[str, Iterator[Pair]]:
    """The splits of SNLI; its archive is fetched now, and read when the splits are drawn."""
    store = state_folder() / "downloads"
    archive = fetch(settings.urls, settings.sha256, settings.bytes, store, "corpus.snli")
    counts = settings.labelled_pairs  # None has no counts to check
    return {
        split: read_split(archive, settings.folder, split, getattr(counts, split, None))
        for split in SPLITS
    }


if __name__ == "__main__":
    run_stage(main)
