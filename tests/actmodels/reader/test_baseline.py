"""The most frequent candidate, by hand."""

import pytest
import torch

from actmodels.reader.questions import QuestionTensors, most_frequent_accuracy, occurrences


def test_by_hand() -> None:
    """Right; wrong; one of two; and one of three whose padding to four counts for nothing."""
    split = QuestionTensors(
        document_ids=torch.arange(13, dtype=torch.int32),
        candidate_at=torch.tensor([1, 1, 0, -1, 0, 0, 2, 0, 1, -1, 2, 1, 0], dtype=torch.int32),
        document_offsets=torch.tensor([0, 4, 7, 10, 13]),
        query_ids=torch.tensor([2, 2, 2, 2], dtype=torch.int32),
        query_offsets=torch.arange(5),
        candidate_counts=torch.tensor([2, 4, 2, 3]),
        answers=torch.tensor([1, 2, 0, 1]),
    )
    assert occurrences(split).tolist() == [[1, 2, 0, 0], [2, 0, 1, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
    assert most_frequent_accuracy(split) == pytest.approx((1 + 0 + 1 / 2 + 1 / 3) / 4)
