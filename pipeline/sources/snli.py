"""The Stanford Natural Language Inference corpus (Bowman et al. 2015), read from its archive."""

from collections.abc import Iterator
from pathlib import Path

from actmodels.errors import DataError
from pipeline.sources.archive import member_lines
from pipeline.sources.jsonl import UNLABELLED, Pair, parse_pair


def read_split(archive: Path, folder: str, split: str, expected: int | None) -> Iterator[Pair]:
    """Yield the pairs of `<folder>/snli_1.0_<split>.jsonl`, the unlabelled ones included.

    Args:
        folder: folder of the three files inside the archive.
        split: train, dev or test.
        expected: labelled pairs that the split must have; None does not check.

    Raises:
        DataError: the archive or a line is damaged (names the line), or the count differs.
    """
    member = f"{folder}/snli_1.0_{split}.jsonl"
    labelled = 0
    for number, line in member_lines(archive, member, f"snli {split}"):
        pair = parse_pair(line, member, number)
        labelled += pair.label != UNLABELLED
        yield pair
    if expected is not None and labelled != expected:
        raise DataError(
            f"{member} in {archive}: the {split} split has {labelled} labelled pairs, expected "
            f"{expected} (corpus.snli.labelled_pairs.{split}); for another version of the corpus "
            "correct the number, or switch the check off with corpus.snli.labelled_pairs: null"
        )
