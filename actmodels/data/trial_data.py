"""Everything a trial reads, from one folder, by memory map."""

from dataclasses import dataclass
from pathlib import Path

from actmodels.data.embeddings import WordVectors
from actmodels.data.pairs import PairTensors


@dataclass(frozen=True)
class TrialData:
    """The splits that training may see, and the vocabulary's vectors. Never the test split."""

    train: PairTensors
    dev: PairTensors
    words: WordVectors

    @classmethod
    def load(cls, folder: Path) -> "TrialData":
        """Memory-map the artefacts of the `tensors` stage in `folder`.

        Raises:
            ArtefactError: a file is missing or damaged.
        """
        return cls(
            train=PairTensors.load(folder / "train.pt"),
            dev=PairTensors.load(folder / "dev.pt"),
            words=WordVectors.load(folder / "embedding.pt"),
        )
