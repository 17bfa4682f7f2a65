"""How much is measured: for figures that count, or in seconds to see that all of it runs."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from actmodels.bench.workload import PAPER, TINY, Sizes, drawn_data, stored_data
from actmodels.data.trial_data import TrialData

Say = Callable[[str], None]  # is told what is being done


@dataclass(frozen=True)
class Plan:
    """The sizes of every part.

    repeats: rounds that count. processes: at once, None for as many as there are processors.
    examples: of one trial in a run, at least.
    default_threads: measure the plain way with all of torch's threads too, which is slow.
    cubes: sizes of the matrix products that the peak is looked for with.
    packs: trials in a pack; pack_batches, pack_updates, pack_repeats: their batch sizes, updates
        in a run, and rounds.
    inference_batches, inference_examples: batch sizes of inference, and examples in a run.
    memory_packs: packs whose memory is measured.
    gpu_packs, gpu_updates: packs on a GPU, and updates in a run.
    dry_run: where there is no GPU, run its part on the CPU at tiny sizes.
    tensors: a folder of tensors in place of drawn sentences.
    """

    sizes: Sizes
    repeats: int
    processes: int | None
    examples: int
    batch_sizes: tuple[int, ...]
    default_threads: bool
    cubes: tuple[int, ...]
    packs: tuple[int, ...]
    pack_batches: tuple[int, ...]
    pack_updates: int
    pack_repeats: int
    inference_batches: tuple[int, ...]
    inference_examples: int
    memory_packs: tuple[int, ...]
    gpu_packs: tuple[int, ...]
    gpu_updates: int
    dry_run: bool = False
    tensors: Path | None = None

    def updates(self, batch_size: int) -> int:
        """Updates of one trial in a run."""
        return max(2, -(-self.examples // batch_size))

    def data(self) -> TrialData:
        """The sentences and vectors; the same at every call.

        Raises:
            ArtefactError: a file of the folder of tensors is missing or damaged.
        """
        return drawn_data(self.sizes) if self.tensors is None else stored_data(self.tensors)


FULL = Plan(
    sizes=PAPER,
    repeats=5,
    processes=None,
    examples=640,
    batch_sizes=(8, 16, 32),
    default_threads=True,
    cubes=(1024, 1536, 2048),
    packs=(1, 2, 4, 8, 16, 24, 48),
    pack_batches=(8, 32),
    pack_updates=6,
    pack_repeats=3,
    inference_batches=(32, 256, 1024),
    inference_examples=2048,
    memory_packs=(1, 8, 48),
    gpu_packs=(1, 8, 48),
    gpu_updates=16,
)
QUICK = Plan(
    sizes=TINY,
    repeats=2,
    processes=1,
    examples=16,
    batch_sizes=(4,),
    default_threads=False,  # beside other work two threads can be a hundred times slower than one
    cubes=(64,),
    packs=(1, 2),
    pack_batches=(4,),
    pack_updates=2,
    pack_repeats=1,
    inference_batches=(16,),
    inference_examples=64,
    memory_packs=(2,),
    gpu_packs=(1, 2),
    gpu_updates=2,
)
