"""Vectors from GloVe's text format, and random vectors."""

import math
from pathlib import Path

import pytest
import torch

from pipeline.datasets.vectors import draw_vectors, read_vectors
from tests.pipeline.project import make_zip

TEXT = """the 1 2 3
, -0.5 1e-3 .25
. . . 7 7 7
. 4 5 6
at name@domain.com 8 8 8
the 9 9 9
café 0.1 0.2 0.3
unwanted 1 2
"""


def pick(tmp_path: Path, text: str, *words: str, dimensions: int = 3) -> list[list[float] | None]:
    """Return the vector of each word, None if not found."""
    archive = make_zip(tmp_path / "v.zip", {"v.txt": text.encode(errors="surrogateescape")})
    vectors, found = read_vectors(archive, "v.txt", words, dimensions)
    assert vectors.dtype == torch.float32 and vectors.shape == (len(words), dimensions)
    assert not vectors[~found].any()
    return [row.tolist() if has else None for row, has in zip(vectors, found, strict=True)]


def test_reads_the_wanted_rows(tmp_path: Path) -> None:
    assert pick(tmp_path, TEXT, "absent", "café", ",", "the") == [
        None,
        pytest.approx([0.1, 0.2, 0.3]),
        pytest.approx([-0.5, 0.001, 0.25]),
        [1, 2, 3],  # the first of two lines
    ]
    # `.` differs from `. . .`, and `at` from the address after it
    assert pick(tmp_path, TEXT, ".", "at", "at name@domain.com") == [[4, 5, 6], None, [8, 8, 8]]
    # a line of another word is not parsed
    assert pick(tmp_path, TEXT.replace("unwanted 1 2", "junk x y z"), "the") == [[1, 2, 3]]
    assert pick(tmp_path, "", "the") == [None]
    # either form of a letter with an accent
    assert pick(tmp_path, "cafe\u0301 1 2 3\n", "café") == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("text", "promised"),
    [
        ("2 3\r\n2 1 2 3 \r\nthe 4 5 6 \r\n", 0),
        ("1\t3\n2\t1\t2\t3\nthe\t4 5 6\t\n", 0),
        (" 2   1  2 3\nx\nthe    4 5    6", 0),
        ("9 3\n2 1 2 3\nthe 4 5 6\nx 1", 9),
        ("\ufeff2 3\n2 1 2 3\nthe 4 5 6", 0),
        ("2 3 float32\n2 1 2 3\nthe 4 5 6", 0),
        ("the 4 5 6\n2 000 7 8 9\n2 000 7 8 9 10\n2 1 2 3", 0),  # words with blanks
    ],
)
def test_headers_and_separators(
    tmp_path: Path, text: str, promised: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pick(tmp_path, text.lstrip(), "2", "the") == [[1, 2, 3], [4, 5, 6]]
    problem = "its header promises 9 words, and 3 came; the file may be cut short"
    assert capsys.readouterr().err.count(problem) == bool(promised)
    assert pick(tmp_path, "2 3\nthe 4\n", "2", dimensions=1) == [[3]]  # no header


STORED = [-0.934462547, 0.751417696, -0.267764628, -0.32667461]
WORDS = ["the", "a", "café", "", "x" * 1000]


def test_a_random_vector_depends_only_on_seed_and_word() -> None:
    few = draw_vectors(WORDS, 300, seed=1, std=1.0)
    more = draw_vectors(["other", *WORDS[::-1]], 300, seed=1, std=1.0)
    assert torch.equal(few, more[1:].flip(0))
    assert not torch.isclose(few, draw_vectors(WORDS, 300, seed=2, std=1.0)).any(1).all()
    # another machine or version draws the same numbers
    drawn = draw_vectors(["the"], 4, seed=2016, std=1.0)
    torch.testing.assert_close(drawn, torch.tensor([STORED]), rtol=1e-6, atol=0)


def test_values_are_normal_and_independent() -> None:
    """Moments and the share below -1 SD are within 5 standard errors."""
    std = 0.3
    drawn = draw_vectors([str(i) for i in range(1000)], 200, seed=3, std=std).double() / std
    count = drawn.numel()
    assert drawn.isfinite().all()
    assert abs(drawn.mean().item()) < 5 / math.sqrt(count)
    assert abs(drawn.var().item() - 1) < 5 * math.sqrt(2 / count)
    assert abs((drawn < -1).double().mean().item() - 0.158655) < 5 * 0.366 / math.sqrt(count)
    correlation = torch.corrcoef(drawn.T) - torch.eye(200)  # of dimensions, then of words
    assert correlation.abs().max() < 6 / math.sqrt(1000)
    assert abs((drawn[1:] * drawn[:-1]).mean().item()) < 5 / math.sqrt(count)
