"""Everything a trial reads, from one folder, by memory map."""

import functools
from dataclasses import dataclass
from pathlib import Path

from actmodels.config import TrialConfig
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


load_data = functools.lru_cache(maxsize=1)(TrialData.load)  # a worker runs many trials


def trial_data(config: TrialConfig, folder: Path, text: Path | None = None) -> TrialData:
    """What a trial is trained on; see actmodels.kinds."""
    return load_data(folder)
