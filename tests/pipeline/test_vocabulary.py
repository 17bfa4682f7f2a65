"""Stage `vocabulary`: tokens, counts, dropped pairs."""

from pathlib import Path

import pytest

from actmodels.errors import DataError
from pipeline import vocabulary
from pipeline.datasets.pairs import PARSES, Pair, write_splits
from pipeline.datasets.tokens import read_counts, read_token_pairs, write_words
from pipeline.parameters.labels import NLI, ClassReader
from tests.pipeline.project import read_output, write_params


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


def test_stage(folder: Path) -> None:
    result = run_stage(folder)
    assert (result / "train.tsv").read_text().splitlines() == [
        "t1\tneutral\t2\ta dog 's ball .\ta ball",
        "t3\tentailment\t0\ta dog\ta dog",
    ]
    # By count, then by spelling.
    assert (result / "words.tsv").read_text().splitlines()[:5] == [
        *("a\t9", "bird\t4", "dog\t3", "ball\t2", "cat\t2")
    ]
    assert read_output(folder, "vocabulary")["splits"]["train"] == {"labeled": 2, "dropped": 1}
    assert next(read_token_pairs(result / "dev.tsv")).hypothesis == ["no", "cat"]


def test_characters_are_tokens(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of scripts without blanks; the summary has their share."""
    run_stage(folder, train=[pair("t1", "neutral", "两个人。", "两 人 the")])
    note = "9 words, 19 tokens by the rules of the Penn Treebank; 26.3 % of them are characters of"
    assert capsys.readouterr().out.startswith(note)
    assert read_output(folder, "vocabulary")["characters"] == 0.263158


def test_words_with_unusual_line_breaks(tmp_path: Path) -> None:
    write_words(tmp_path / "words.tsv", counts := [("café", 3), ("a\u2028b", 2), ("x\r", 1)])
    assert read_counts(tmp_path / "words.tsv") == counts


PARSED = pair("t1", "neutral", "A dog's ball.", "A", "( ( A ( dog 's ) ) ( ball . ) )", "A")
UNFIT = pair("t2", "neutral", "A dog's ball.", "no cat", "( ( A dog's ) ball. )", "")


def test_parses_that_do_not_fit_become_right_branching(folder: Path) -> None:
    parsed, unfit = read_token_pairs(run_stage(folder, train=[PARSED, UNFIT]) / "train.tsv")
    assert (parsed.premise_tree, parsed.hypothesis_tree) == ([0, 0, 2, 0, 2], [0])
    assert (unfit.premise_tree, unfit.hypothesis_tree) == ([0, 0, 0, 0, 4], [0, 1])
    counted = read_output(folder, "vocabulary")["splits"]["train"]
    assert counted == {"labeled": 2, "dropped": 0, "parsed": 2, "right_branching": 2}


def test_parses_that_never_fit(folder: Path) -> None:
    advice = "use a corpus with binary parses, or set corpus.parses to false"
    with pytest.raises(DataError, match=rf"dev\.jsonl: no parse fits its sentence; {advice}"):
        run_stage(folder, dev=[UNFIT])
    assert not (folder / "artifacts" / "vocabulary" / "dev.tsv").exists()
