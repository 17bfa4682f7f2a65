"""Stage corpus: sentence pairs, generated or fetched, as one jsonl file per split."""

from collections.abc import Callable, Iterator
from typing import Any

from tqdm import tqdm

from pipeline.captions import corpus as captions
from pipeline.parameters.generated_sections import Captions
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Snli
from pipeline.parameters.section import SPLITS
from pipeline.running.stage import artefacts, run_stage
from pipeline.sources.download import fetch
from pipeline.sources.jsonl import Pair, read_split, write_splits


def main() -> None:
    """Write the corpus that params.yaml names."""
    params = load_params().corpus
    drawn = SOURCES[params.source](getattr(params, params.source))
    splits = {split: parsed(pairs, params.parses) for split, pairs in drawn.items()}
    write_splits(artefacts("corpus"), params.source, splits)


def parsed(pairs: Iterator[Pair], parses: bool) -> Iterator[Pair]:
    """The pairs with a parse of each sentence, empty where there is none; or without."""
    for pair in pairs:
        own = [(parse or "") if parses else None for parse in pair[-2:]]
        yield pair._replace(premise_parse=own[0], hypothesis_parse=own[1])


def generated(settings: Captions) -> dict[str, Iterator[Pair]]:
    """The splits of the corpus of our own, each under a progress bar while it is drawn."""

    def shown(split: str) -> Iterator[Pair]:
        total = round(getattr(settings, split) * (1 + settings.unlabelled))
        pairs = captions.generate_split(settings, split)
        yield from tqdm(pairs, f"draw {split}", total, unit=" pairs")

    return {split: shown(split) for split in SPLITS}


def fetched(settings: Snli) -> dict[str, Iterator[Pair]]:
    """The splits of SNLI; its archive is fetched now, and read when the splits are drawn."""
    archive = fetch(settings, "corpus.snli")
    counts = settings.labelled_pairs  # None has no counts to check
    return {
        split: read_split(archive, settings.folder, split, getattr(counts, split, None))
        for split in SPLITS
    }


SOURCES: dict[str, Callable[[Any], dict[str, Iterator[Pair]]]] = {
    "captions": generated,
    "snli": fetched,
}

if __name__ == "__main__":
    run_stage(main)
