"""Stage `corpus`: generate, download or read sentence pairs; one jsonl file per split."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tqdm import tqdm

from actmodels.errors import DataError
from actmodels.files import file_digest
from pipeline.datasets.archive import named
from pipeline.datasets.download import fetch
from pipeline.datasets.pair_files import SplitReader, split_files
from pipeline.datasets.pairs import ANNOTATORS, PARSES, Pair, read_split, write_splits
from pipeline.parameters.labels import ClassReader, use_command
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Corpus
from pipeline.parameters.section import SPLITS
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.synthetic.corpus import generate_split

WHERE = "corpus.files.where"
# the pairs of each split, and where they come from (see write_splits)
Source = tuple[dict[str, Iterator[Pair]], dict[str, Any]]


def main() -> None:
    """Write artifacts/corpus/."""
    corpus = load_params().corpus
    read = {"captions": generated, "snli": fetched, "files": from_files}[corpus.source]
    classes = ClassReader(corpus.classes, corpus.files.labels)
    pairs, origin = read(corpus, classes)
    splits = {split: parsed(split_pairs, corpus.parses) for split, split_pairs in pairs.items()}
    notes = write_splits(artifacts("corpus"), corpus.source, classes, splits, origin)
    print("\n".join(notes), flush=True)


def parsed(pairs: Iterator[Pair], parses: bool) -> Iterator[Pair]:
    """Yield the pairs with a parse of each sentence (empty if missing), or without parses."""
    for pair in pairs:
        if len(pair.get(ANNOTATORS, ())) < 2:  # one annotator, as of most of SNLI's training pairs
            pair.pop(ANNOTATORS, None)
        trees = {key: pair.pop(key, "") for key in PARSES}
        yield pair | trees if parses else pair


def generated(corpus: Corpus, _: ClassReader) -> Source:
    """Return iterators that generate the splits, each with a progress bar."""
    settings, splits = corpus.captions, {}
    for split in SPLITS:
        total = round(getattr(settings, split) * (1 + settings.unlabeled))
        pairs = generate_split(settings, split)
        splits[split] = shown(pairs, f"draw {split}", total)
    return splits, {}


def shown(pairs: Iterable[Pair], title: str, total: int | None = None) -> Iterator[Pair]:
    """Yield the pairs with a progress bar, which opens with the first."""
    yield from tqdm(pairs, title, total, unit=" pairs")


def fetched(corpus: Corpus, _: ClassReader) -> Source:
    """Download the archive of SNLI; return iterators that read the splits from it."""
    archive, counts = fetch(corpus.snli, "corpus.snli"), corpus.snli.labeled_pairs or {}
    splits = {
        split: read_split(archive, corpus.snli.folder, split, counts.get(split)) for split in SPLITS
    }
    return splits, {"sha256": {"archive": corpus.snli.sha256 or file_digest(archive)}}


def from_files(corpus: Corpus, classes: ClassReader) -> Source:
    """Locate the files of the splits; return iterators that read them, with a progress bar."""
    settings, splits = corpus.files, {}
    digests, dropped = dict[str, str](), dict[str, dict[str, int]]()
    used: dict[tuple[str, str | None], str] = {}  # splits by digest and member of their files
    for split in SPLITS:
        key, sha256 = f"corpus.files.{split}", settings.sha256[split]
        files = split_files(getattr(settings, split), sha256, key)
        known = {path: sha256 or file_digest(path) for path, _ in files}
        for path, member in files:
            other = used.get((known[path], member))
            if other is not None and settings.where[split] == settings.where.get(other, {}):
                problem = f"{named(path, member)} is also in corpus.files.{other}; name each file "
                problem += "once, or choose its rows: "
                raise DataError(
                    f"{key}: {problem}{use_command({f'{WHERE}.{split}.COLUMN': 'VALUE'})}"
                )
            used[known[path], member] = split
        digests[split] = ", ".join(known.values())
        reader = SplitReader(split, settings, classes)
        dropped[split] = reader.dropped  # counted while the pairs are read
        pairs = shown(reader.read(files), f"read {split}")
        splits[split] = unchanged(pairs, known, key)
    return splits, {"sha256": digests, "dropped": dropped}


def unchanged(pairs: Iterable[Pair], digests: Mapping[Path, str], key: str) -> Iterator[Pair]:
    """Yield pairs; raise DataError if one of their files has another digest at the end."""
    yield from pairs
    for path, digest in digests.items():
        if file_digest(path) != digest:
            raise DataError(f"{key}: {path} changed while it was read; run again")


if __name__ == "__main__":
    run_stage(main)
