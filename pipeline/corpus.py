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
from pipeline.datasets.pairs import PARSES, UNLABELED, Pair, read_split, write_splits
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Corpus
from pipeline.parameters.section import SPLITS
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.synthetic.corpus import generate_split

OWN = "each split needs its own pairs"
# the pairs of each split; for the summary, the SHA-256 of their files, and the dropped rows
Source = tuple[dict[str, Iterator[Pair]], dict[str, Any]]


def main() -> None:
    """Write artifacts/corpus/."""
    corpus = load_params().corpus
    read = {"captions": generated, "snli": fetched, "files": from_files}[corpus.source]
    pairs, origin = read(corpus)
    splits = {split: parsed(split_pairs, corpus.parses) for split, split_pairs in pairs.items()}
    splits["test"] = several(splits["test"])
    write_splits(artifacts("corpus"), corpus.source, splits, origin)


def several(pairs: Iterator[Pair]) -> Iterator[Pair]:
    """Yield the pairs of test; one labeled pair is an error, as it has no variance."""
    labeled = 0
    for pair in pairs:
        labeled += pair["gold_label"] != UNLABELED
        yield pair
    if labeled == 1:
        raise DataError("test has one labeled pair; expected at least two, to compare models")


def parsed(pairs: Iterator[Pair], parses: bool) -> Iterator[Pair]:
    """Yield the pairs with a parse of each sentence (empty if missing), or without parses."""
    for pair in pairs:
        trees = {key: pair.pop(key, "") for key in PARSES}
        yield pair | trees if parses else pair


def generated(corpus: Corpus) -> Source:
    """Return iterators that generate the splits, each with a progress bar."""
    settings, splits = corpus.captions, {}
    for split in SPLITS:
        total = round(getattr(settings, split) * (1 + settings.unlabeled))
        pairs = generate_split(settings, split)
        splits[split] = iter(tqdm(pairs, f"draw {split}", total, unit=" pairs"))
    return splits, {}


def fetched(corpus: Corpus) -> Source:
    """Download the archive of SNLI; return iterators that read the splits from it."""
    archive, counts = fetch(corpus.snli, "corpus.snli"), corpus.snli.labeled_pairs or {}
    splits = {
        split: read_split(archive, corpus.snli.folder, split, counts.get(split)) for split in SPLITS
    }
    return splits, {"sha256": {"archive": corpus.snli.sha256 or file_digest(archive)}}


def from_files(corpus: Corpus) -> Source:
    """Locate the files of the splits; return iterators that read them, with a progress bar."""
    settings, splits, digests, dropped = corpus.files, {}, {}, {}
    used: dict[tuple[str, str | None], str] = {}  # splits by digest and member of their files
    contents: dict[int, str] = {}
    for split in SPLITS:
        key, sha256 = f"corpus.files.{split}", settings.sha256[split]
        files = split_files(getattr(settings, split), sha256, key)
        known = {path: sha256 or file_digest(path) for path, _ in files}
        for path, member in files:
            if (other := used.setdefault((known[path], member), split)) != split:
                raise DataError(f"{key}: {named(path, member)} is in corpus.files.{other}; {OWN}")
        digests[split] = ", ".join(known.values())
        reader = SplitReader(split, settings)
        dropped[split] = reader.dropped  # counted while the pairs are read
        pairs = tqdm(reader.read(files), f"read {split}", unit=" pairs")
        splits[split] = checked(pairs, reader, known, contents)
    return splits, {"sha256": digests, "dropped": dropped}


def checked(
    pairs: Iterable[Pair],
    reader: SplitReader,
    digests: Mapping[Path, str],
    contents: dict[int, str],
) -> Iterator[Pair]:
    """Yield the pairs of a split, which must be other pairs than those of the splits before.

    Args:
        digests: of the files that `reader` reads.
        contents: the splits before by a hash of their pairs in any order; this one is added.

    Raises:
        DataError: the pairs are those of another split, or a file has changed.
    """
    content, key = 0, f"corpus.files.{reader.split}"
    for pair in pairs:
        content += hash((pair["sentence1"], pair["sentence2"], pair["gold_label"]))
        yield pair
    for path, digest in digests.items():
        if file_digest(path) != digest:
            raise DataError(f"{key}: {path} changed while it was read; run again")
    if (other := contents.setdefault(content, reader.split)) != reader.split:
        raise DataError(f"{key} has the pairs of corpus.files.{other}; {OWN}")
    for example in reader.examples.values():
        print(f"{key}: label {example}")
    for reason, count in reader.dropped.items():
        print(f"{key}: {count:,} rows dropped: {reason}")


if __name__ == "__main__":
    run_stage(main)
