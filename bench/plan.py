"""How much is measured: for figures that count, or in a minute to see that all of it runs."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from actmodels.data.pairs import PairTensors
from actmodels.data.trial_data import TrialData, WordVectors
from bench.work import PAPER, TINY, Sizes, drawn_data

Say = Callable[[str], None]  # is told what is being done


@dataclass(frozen=True)
class Plan:
    """The sizes of every part.

    repeats: rounds that count. processes: at once, None for as many as there are processors.
    batch_sizes: of training; examples: of one trial in a run, at least. packs: trials in a pack.
    trials_per_worker: of a sweep; sweep_repeats: rounds of sweeps.
    corpora: training pairs of each generated corpus; vectors: words in the file of vectors.
    dry_run: where there is no GPU, run its part on the CPU.
    tensors: a folder of tensors in place of drawn sentences.
    workspace: a folder for large files, empty when a part begins.
    """

    sizes: Sizes
    repeats: int
    processes: int | None
    batch_sizes: tuple[int, ...]
    examples: int
    packs: tuple[int, ...]
    inference_batches: tuple[int, ...]
    trials_per_worker: int
    sweep_repeats: int
    corpora: tuple[int, ...]
    vectors: int
    dry_run: bool = False
    tensors: Path | None = None
    workspace: Path = Path()

    def updates(self, batch_size: int, trials: int = 1) -> int:
        """Updates in a run: fewer for a pack, whose updates are those of all its trials."""
        return max(6, -(-self.examples // batch_size // trials))


@functools.lru_cache(maxsize=1)
def data_of(plan: Plan) -> TrialData:
    """The sentences and vectors, whose splits are one; the same at every call.

    Raises:
        ArtefactError: a file of the folder of tensors is missing or damaged.
    """
    if plan.tensors is None:
        return drawn_data(plan.sizes)
    pairs = PairTensors.load(plan.tensors / "train.pt")
    return TrialData(pairs, pairs, WordVectors.load(plan.tensors / "embedding.pt"))


FULL = Plan(
    sizes=PAPER,
    repeats=5,
    processes=None,
    batch_sizes=(8, 16, 32),
    examples=640,
    packs=(8, 48),
    inference_batches=(32, 256),
    trials_per_worker=25,
    sweep_repeats=3,
    corpora=(10_000, 50_000, 550_000),  # the last is SNLI's
    vectors=400_000,  # as many as GloVe 6B has
)
QUICK = Plan(
    sizes=TINY,
    repeats=2,
    processes=1,
    batch_sizes=(4,),
    examples=16,
    packs=(2,),
    inference_batches=(16,),
    trials_per_worker=10,
    sweep_repeats=1,
    corpora=(300,),
    vectors=500,
    dry_run=True,
)
