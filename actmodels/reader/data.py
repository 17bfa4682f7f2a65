"""What readers are trained on: questions and the vectors of their words, and training from them."""

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import torch
from torch import Tensor

from actmodels.data.stored import load_stored
from actmodels.draws import generator
from actmodels.reader.config import ReaderTrialConfig
from actmodels.reader.model import Reader
from actmodels.reader.questions import FIRST_WORD, PAD, STAGE, QuestionTensors
from actmodels.reader.training import ReaderTraining


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


@dataclass(frozen=True)
class WordRows:
    """The vectors of a vocabulary.

    vectors: [words, dimensions], zeros where not found. found: bool [words].
    """

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
        """Memory-map what the stage `questions` wrote for one kind.

        Raises:
            ArtefactError: a file is missing or damaged.
        """
        train, dev = (QuestionTensors.load(folder / f"{split}.pt") for split in ("train", "dev"))
        return cls(train, dev, load_words(folder))


def load_words(folder: Path) -> WordRows:
    """The vectors alone; raises as `ReaderData.load` does."""
    return load_stored(WordRows, folder / "vectors.pt", "a vocabulary's vectors", STAGE)


def rows_of(config: ReaderTrialConfig, words: WordRows) -> Tensor:
    """The rows that a trial's token ids index at its start."""
    spread = config.reader.embedding_range
    return embedding_rows(words.vectors, words.found, spread, config.seed)


def load_reader(config: ReaderTrialConfig, words: WordRows, weights: BytesIO) -> Reader:
    """A trained reader, from the best parameters that its trial stored."""
    model = Reader(config.reader, rows_of(config, words), config.seed)
    model.load_state_dict(torch.load(weights, weights_only=True))
    return model.eval()


def reader_data(config: ReaderTrialConfig, folder: Path, text: Path | None = None) -> ReaderData:
    """What a trial is trained on; see actmodels.kinds."""
    return ReaderData.load(folder / config.questions)


def reader_training(
    config: ReaderTrialConfig, data: ReaderData, device: str = "cpu"
) -> ReaderTraining:
    """A trial at its beginning."""
    return ReaderTraining(config, rows_of(config, data.words), data.train, data.dev, device)
