"""Stage `vocabulary`: tokens, counts, dropped pairs."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import vocabulary
from pipeline.datasets.pairs import PARSES, Pair, write_splits
from pipeline.datasets.tokens import read_counts, read_token_pairs, write_words
from pipeline.parameters.labels import NLI, ClassReader
from tests.pipeline.project import read_output, transcribe, write_params


def pair(name: str, label: str, premise: str, hypothesis: str, *parses: str) -> Pair:
    sentences = {"sentence1": premise, "sentence2": hypothesis}
    row = {"gold_label": label, "pairID": name} | sentences
    return row | dict(zip(PARSES, parses, strict=False))


CORPUS = {
    "train": [
        pair("t1", "neutral", "A dog's ball.", "A ball") | {"reasoning_depth": 2},
        pair("t2", "-", "Unlabeled words", "here"),
        pair("t3", "entailment", "A dog", "a DOG"),
    ],
    "dev": [pair("d1", "contradiction", "A cat", "no cat")],
    "test": [pair(name, "neutral", "A bird", "a bird") for name in ("e1", "e2")],
}


def run_stage(folder: Path, **corpus: list[Pair]) -> Path:
    write_params(folder)
    write_splits(folder / "artifacts" / "corpus", "snli", ClassReader(NLI, {}), CORPUS | corpus)
    vocabulary.main()
    return folder / "artifacts" / "vocabulary"


PARSED = pair("t1", "neutral", "A dog's ball.", "A", "( ( A ( dog 's ) ) ( ball . ) )", "A")
UNFIT = pair("t2", "neutral", "A dog's ball.", "no cat", "( ( A dog's ) ball. )", "")


def test_stage(
    folder: Path, golden: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    """Words are sorted by count, then by spelling."""

    def stage(**splits: list[Pair]) -> list[str]:
        shutil.rmtree(folder / "artifacts", ignore_errors=True)
        result = run_stage(folder, **splits)
        texts = [(result / name).read_text() for name in ("train.tsv", "dev.tsv", "words.tsv")]
        trees = [
            (p.premise_tree, p.hypothesis_tree) for p in read_token_pairs(result / "train.tsv")
        ]
        lines = "".join(texts).split("\n")
        return [
            *lines,
            f"{trees}",
            json.dumps(read_output(folder, "vocabulary")),
            capsys.readouterr().out,
        ]

    names = {"stage": stage, "PARSED": PARSED, "UNFIT": UNFIT}
    transcribe(golden, "vocabulary.txt", names | {"pair": pair}, f"{folder}/")
    assert not (folder / "artifacts" / "vocabulary" / "dev.tsv").exists()  # the last line fails


def test_words_with_unusual_line_breaks(tmp_path: Path) -> None:
    write_words(tmp_path / "words.tsv", counts := [("café", 3), ("a\u2028b", 2), ("x\r", 1)])
    assert read_counts(tmp_path / "words.tsv") == counts
