"""What a reader must beat: the candidate that stands in the document most often."""

import torch
from torch import Tensor

from actmodels.reader.questions import NO_CANDIDATE, QuestionTensors


def occurrences(questions: QuestionTensors) -> Tensor:
    """How often each candidate stands in its document [questions, candidates]."""
    most = int(questions.candidate_counts.max())
    rows = torch.arange(len(questions)).repeat_interleave(questions.document_offsets.diff())
    at = questions.candidate_at.long()
    stands = at != NO_CANDIDATE
    counts = torch.bincount(rows[stands] * most + at[stands], minlength=len(questions) * most)
    return counts.view(len(questions), most)


def most_frequent_accuracy(questions: QuestionTensors) -> float:
    """Accuracy, in [0, 1], of the most frequent candidate (Hill et al. 2015).

    Where several stand there equally often, each is right with the same chance.
    """
    counts = occurrences(questions)
    best = counts == counts.amax(dim=1, keepdim=True)
    right = best.gather(1, questions.answers[:, None]).squeeze(1)
    return (right / best.sum(dim=1)).double().mean().item()
