"""Word vectors from the training text, against a slow computation with dictionaries."""

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline import vectors
from pipeline.datasets.text_vectors import train_vectors
from pipeline.datasets.tokens import TokenPair, write_token_pairs, write_words
from tests.pipeline.project import read_output, write_params, written

SENTENCES = [
    sentence.split()
    for sentence in (
        "a dog runs in a park",
        "a cat sleeps in a house",
        "the dog sleeps",
        "the cat runs unknown in the park",
        "a man sleeps in the park",
    )
]
WORDS = [*dict.fromkeys(word for one in SENTENCES for word in one if word != "unknown"), "absent"]
SHAPE = {"dimensions": 20, "window": 3, "std": 0.5}


def slow_products(sentences: Sequence[Sequence[str]], window: int) -> Tensor:
    """Return the cosines of the rows of U S^(1/2), without the smallest singular value."""
    counts = Counter[tuple[str, str]]()
    for sentence in sentences:
        for i, word in enumerate(sentence):
            for j in range(max(i - window, 0), min(i + window + 1, len(sentence))):
                if i != j and {word, sentence[j]} <= set(WORDS):
                    counts[word, sentence[j]] += 1 / abs(i - j)  # type: ignore[assignment]
    total = sum(counts.values())
    of = {word: sum(n for (left, _), n in counts.items() if left == word) for word in WORDS}
    ppmi = np.zeros((len(WORDS), len(WORDS)))
    for (left, right), count in counts.items():
        value = math.log(count * total / (of[left] * of[right]))
        ppmi[WORDS.index(left), WORDS.index(right)] = max(value, 0)
    u, s, _ = np.linalg.svd(ppmi)
    rank = len(WORDS) - 1
    return cosines(torch.from_numpy(u[:, :rank] * s[:rank] ** 0.5))


def cosines(rows: Tensor) -> Tensor:
    normed = torch.nn.functional.normalize(rows.double(), dim=1)
    return normed @ normed.T


def test_equals_a_slow_computation() -> None:
    trained, found = train_vectors(WORDS, SENTENCES, **SHAPE)  # type: ignore[arg-type]
    assert (trained.dtype, trained.shape) == (torch.float32, (len(WORDS), 20))
    assert found.tolist() == [True] * (len(WORDS) - 1) + [False]
    assert trained[found].norm(dim=1).sub(0.5 * 20**0.5).abs().max() < 1e-3
    assert not trained[~found].any() and not trained[:, len(WORDS) - 1 :].any()
    assert not torch.signbit(trained[trained == 0]).any()  # processors differ in the sign
    expected = slow_products(SENTENCES, 3)[found][:, found]
    torch.testing.assert_close(cosines(trained[found]), expected, rtol=0, atol=1e-3)
    again, _ = train_vectors(WORDS, SENTENCES * 2, **SHAPE)  # type: ignore[arg-type]
    assert torch.equal(trained, again)  # a sentence counts once


def test_words_that_are_in_no_sentence_have_no_vector() -> None:
    """Their numbers are roots of a rounding error, which differs between runs."""
    drawn = Random(1)
    words = [str(number) for number in range(200)]
    sentences = [drawn.choices(words, k=8) for _ in range(400)]
    for _ in range(3):
        _, found = train_vectors([*words, "dev", "test", "more"], sentences, 300, 10, 0.35)
        assert found.tolist() == 200 * [True] + 3 * [False]


@pytest.mark.parametrize(
    ("words", "sentences"),
    [([], []), (["a"], [["a", "a"]]), (["a", "b"], [["a"], ["b"]]), (["a", "b"], [["c", "d"]])],
)
def test_without_two_words_that_are_neighbors_no_vector_is_defined(
    words: list[str], sentences: list[list[str]]
) -> None:
    trained, found = train_vectors(words, sentences, **SHAPE)  # type: ignore[arg-type]
    assert trained.shape == (len(words), 20) and not trained.any() and not found.any()


def test_the_stage_reads_the_training_pairs_alone(folder: Path) -> None:
    place = folder / "artifacts" / "vocabulary"
    write_words(place / "words.tsv", [(word, 2) for word in WORDS])
    pairs = [TokenPair(str(n), "neutral", 1, *SENTENCES[n : n + 2]) for n in (0, 2, 3)]
    write_token_pairs(place / "train.tsv", pairs)
    write_params(folder, vectors={"source": "text", "dimensions": 8, "text": {"window": 2}})
    vectors.main()
    stored = torch.load(folder / "artifacts" / "vectors" / "vectors.pt", weights_only=True)
    expected = train_vectors(WORDS, SENTENCES, 8, 2, 0.35)
    assert torch.equal(stored["vectors"], expected[0])
    assert torch.equal(stored["found"], expected[1])
    summary, count = read_output(folder, "vectors"), len(WORDS)
    assert (summary["source"], summary["words"], summary["found"]) == ("text", count, count - 1)
    assert summary["note"].startswith(f"{count - 1} of {count} words (90.9 %)")
    before = written(folder, "vectors")
    vectors.main()
    assert written(folder, "vectors") == before
