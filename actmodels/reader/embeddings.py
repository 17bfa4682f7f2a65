"""The rows that token ids index at the start of a training."""

import torch
from torch import Tensor

from actmodels.draws import generator
from actmodels.reader.questions import FIRST_WORD, PAD


def embedding_rows(vectors: Tensor, found: Tensor, spread: float, seed: int) -> Tensor:
    """Pre-trained vectors where there are any, uniform ones elsewhere (section 4.1).

    Args:
        vectors: [words, dimensions]; read where `found`.
        found: bool [words], whether a word has a pre-trained vector.
        spread: the others, the placeholder and unknown words start in [-spread, spread).

    Returns:
        [FIRST_WORD + words, dimensions] in the type of `vectors`; padding is zeros.
    """
    draws = generator("word rows", seed)
    count, dimensions = vectors.shape
    rows = torch.rand(FIRST_WORD + count, dimensions, generator=draws) * 2 * spread - spread
    rows[FIRST_WORD:][found] = vectors[found].to(rows.dtype)
    rows[PAD] = 0.0
    return rows.to(vectors.dtype)
