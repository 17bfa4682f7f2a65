"""The vocabulary artefact, written and read back."""

from pathlib import Path

from pipeline.sources.tokens import read_counts, read_words, write_words

COUNTS = [("the", 9), ("café", 3), ("a\u2028b", 2), ("x\r", 1)]


def test_round_trip(tmp_path: Path) -> None:
    write_words(tmp_path / "words.tsv", COUNTS)
    assert read_counts(tmp_path / "words.tsv") == COUNTS
    assert read_words(tmp_path / "words.tsv") == [word for word, _ in COUNTS]
    assert (tmp_path / "words.tsv").read_bytes().startswith("the\t9\ncafé\t3\n".encode())
