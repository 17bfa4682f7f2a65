"""The data of a cloze trial: questions, and the vectors of their words."""

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
    """Pre-trained vectors of a vocabulary."""

    what, stage = "a vocabulary's vectors", "cloze_data"

    vectors: Tensor  # [words, dimensions], zeros for a word without a vector
    found: Tensor  # whether the word has a vector [words]


@dataclass(frozen=True)
class ReaderData:
    """Questions of one type, such as NE, and their words."""

    train: QuestionTensors
    dev: QuestionTensors
    words: WordRows

    @classmethod
    def load(cls, folder: Path) -> "ReaderData":
        """Load the files of stage `cloze_data`; ArtifactError if one is missing or corrupt."""
        train, dev = (QuestionTensors.load(folder / f"{split}.pt") for split in ("train", "dev"))
        return cls(train, dev, WordRows.load(folder / "vectors.pt"))


def reader_data(config: ReaderTrialConfig, folder: Path, text: Path | None = None) -> ReaderData:
    """Load the data of a trial; see BaseTrialConfig."""
    return ReaderData.load(folder / config.questions)


def embedding_rows(config: ReaderTrialConfig, words: WordRows) -> Tensor:
    """Return the initial embedding [FIRST_WORD + words, dimensions] (section 4.1).

    The row of padding is zero. The placeholder, unknown words and words without a pre-trained
    vector have uniform rows, drawn with the trial's seed.
    """
    vectors, bound = words.vectors, config.reader.embedding_range
    shape = (FIRST_WORD + len(vectors), vectors.shape[1])
    rows = torch.rand(shape, generator=generator("word rows", config.seed)) * 2 * bound - bound
    rows[FIRST_WORD:][words.found] = vectors[words.found].to(rows.dtype)
    rows[PAD] = 0.0
    return rows.to(vectors.dtype)


def load_reader(config: ReaderTrialConfig, words: WordRows, weights: BytesIO) -> Reader:
    """Load a trained reader from the best parameters of its trial."""
    model = Reader(config.reader, embedding_rows(config, words), config.seed)
    model.load_state_dict(torch.load(weights, weights_only=True))
    return model.eval()
