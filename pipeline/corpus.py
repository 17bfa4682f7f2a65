"""Stage `corpus`: generate, download or read sentence pairs; one jsonl file per split."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from tqdm import tqdm

from actmodels.errors import DataError
from actmodels.files import file_digest
from pipeline.datasets.download import fetch, locate, naming_urls
from pipeline.datasets.pairs import (
    ANNOTATORS,
    PARSES,
    Pair,
    read_pair_file,
    read_split,
    write_splits,
)
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Corpus
from pipeline.parameters.section import SPLITS
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.synthetic.corpus import generate_split

# the pairs of each split, and the SHA-256 of the files that they come from
Source = tuple[dict[str, Iterator[Pair]], dict[str, str]]


@naming_urls()
def main() -> None:
    """Write artifacts/corpus/."""
    corpus = load_params().corpus
    read = {"captions": generated, "snli": fetched, "files": from_files}[corpus.source]
    pairs, digests = read(corpus)
    splits = {split: parsed(split_pairs, corpus.parses) for split, split_pairs in pairs.items()}
    notes = write_splits(artifacts("corpus"), corpus.source, splits, digests)
    print("\n".join(notes), flush=True)


def parsed(pairs: Iterator[Pair], parses: bool) -> Iterator[Pair]:
    """Yield the pairs with a parse of each sentence (empty if missing), or without parses."""
    for pair in pairs:
        if len(pair.get(ANNOTATORS, ())) < 2:  # one annotator, as of most of SNLI's training pairs
            pair.pop(ANNOTATORS, None)
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
    return splits, {"archive": corpus.snli.sha256 or file_digest(archive)}


def from_files(corpus: Corpus) -> Source:
    """Locate the files of the splits; return iterators that read them, with a progress bar."""
    files, splits, digests, contents = corpus.files, {}, {}, dict[int, str]()
    for split in SPLITS:
        sha256 = files.sha256[split]
        path = locate(getattr(files, split), sha256, f"corpus.files.{split}")
        digests[split] = sha256 or file_digest(path)
        pairs = tqdm(read_pair_file(path, split, files), f"read {split}", unit=" pairs")
        splits[split] = checked(pairs, split, path, digests[split], contents)
    return splits, digests


def checked(
    pairs: Iterable[Pair], split: str, path: Path, digest: str, contents: dict[int, str]
) -> Iterator[Pair]:
    """Yield the pairs of a file, which must be other pairs than those of the splits before.

    Args:
        contents: these splits by a hash of their pairs in any order; this one is added.

    Raises:
        DataError: the pairs are those of another split, or the digest of the file has changed.
    """
    content = 0
    for pair in pairs:
        content += hash((pair["sentence1"], pair["sentence2"], pair["gold_label"]))
        yield pair
    if file_digest(path) != digest:
        raise DataError(f"corpus.files.{split}: {path} changed while it was read; run again")
    if (other := contents.setdefault(content, split)) != split:
        problem = f"{path} has the pairs of corpus.files.{other}"
        raise DataError(f"corpus.files.{split}: {problem}; each split needs its own")


if __name__ == "__main__":
    run_stage(main)
