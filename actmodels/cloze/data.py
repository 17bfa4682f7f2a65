"""What readers are trained on: questions and the vectors of their words."""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import torch
from torch import Tensor

from actmodels.cloze.config import ReaderTrialConfig
from actmodels.cloze.model import Reader
from actmodels.cloze.questions import FIRST_WORD, PAD, QuestionTensors
from actmodels.data.stored import StoredTensors
from actmodels.seeding import generator


@dataclass(frozen=True)
class WordRows(StoredTensors):
    """Vectors of a vocabulary [words, dimensions], zeros where not `found` [words]."""

    what, stage = "a vocabulary's vectors", "cloze_data"

    vectors: Tensor
    found: Tensor


@dataclass(frozen=True)
class ReaderData:
    """Questions of one kind."""

    train: QuestionTensors
    dev: QuestionTensors
    words: WordRows

    @classmethod
    def load(cls, folder: Path) -> "ReaderData":
        """Read the files of the stage `cloze_data`; ArtifactError if one is missing or damaged."""
        train, dev = (QuestionTensors.load(folder / f"{split}.pt") for split in ("train", "dev"))
        return cls(train, dev, WordRows.load(folder / "vectors.pt"))


def embedding_rows(config: ReaderTrialConfig, words: WordRows) -> Tensor:
    """Pre-trained vectors where there are any, uniform ones elsewhere (section 4.1).

    Return the start of the rows that token ids index [FIRST_WORD + words, dimensions]; padding is
    zeros, the placeholder and unknown words are like words without a vector.
    """
    vectors, found, spread = words.vectors, words.found, config.reader.embedding_range
    shape = (FIRST_WORD + len(vectors), vectors.shape[1])
    rows = torch.rand(shape, generator=generator("word rows", config.seed)) * 2 * spread - spread
    rows[FIRST_WORD:][found] = vectors[found].to(rows.dtype)
    rows[PAD] = 0.0
    return rows.to(vectors.dtype)


def load_reader(config: ReaderTrialConfig, words: WordRows, weights: BytesIO) -> Reader:
    """A trained reader, from the best parameters that its trial stored."""
    model = Reader(config.reader, embedding_rows(config, words), config.seed)
    model.load_state_dict(torch.load(weights, weights_only=True))
    return model.eval()


def reader_data(config: ReaderTrialConfig, folder: Path, text: Path | None = None) -> ReaderData:
    """What a trial is trained on; see actmodels.trial_types."""
    return ReaderData.load(folder / config.questions)
