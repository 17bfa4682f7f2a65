"""Settings of Graves' (2016) experiments: frozen, every number given by whoever asks for a run.

Imports neither torch nor anything outside.
"""

from dataclasses import dataclass
from typing import Literal

from actmodels.settings import ActConfig, FixedStepsConfig, Init, TargetStepsConfig

Cell = Literal["rnn", "lstm"]


@dataclass(frozen=True)
class ParityConfig:
    """Vectors of `bits` entries, of which a random number is 1 or -1 and the rest 0.

    Graves: 64.
    """

    bits: int


@dataclass(frozen=True)
class LogicConfig:
    """Sequences of 1 to `vectors` vectors, in each 1 to `gates` binary gates.

    Graves: 10 and 10.
    """

    vectors: int
    gates: int


@dataclass(frozen=True)
class AdditionConfig:
    """Sequences of 1 to `numbers` numbers of 1 to `digits` digits.

    Graves: 5 and 5.

    least_digit_first: order of digits, in inputs and sums. Our copy of the paper does not say;
        false is the order of writing.
    """

    numbers: int
    digits: int
    least_digit_first: bool


@dataclass(frozen=True)
class SortConfig:
    """Sequences of 2 to `numbers` numbers. Graves: 15."""

    numbers: int


@dataclass(frozen=True)
class CharactersConfig:
    """Windows of `window` bytes (Graves: 500) at random places of a file.

    held_out_bytes: the end of the file, which dev alone reads; Graves held nothing out.
    """

    window: int
    held_out_bytes: int


TaskConfig = ParityConfig | LogicConfig | AdditionConfig | SortConfig | CharactersConfig


@dataclass(frozen=True)
class SequenceNetworkConfig:
    """A recurrent network of one layer. init_std is read where init is `normal`."""

    cell: Cell
    state_size: int
    init: Init
    init_std: float


@dataclass(frozen=True)
class SequenceTrainConfig:
    """Optimisation with Adam, on data that is made as it goes.

    clip_norm: largest norm of a gradient; 0 for no limit, as Graves names none.
    updates_per_epoch: what an epoch is.
    dev_sequences, dev_seed: the dev set, the same for all trials that name the same.
    """

    learning_rate: float
    clip_norm: float
    batch_size: int
    updates_per_epoch: int
    dev_sequences: int
    dev_seed: int


# None is the network without ACT: one step for each input, and no flag.
SequenceHaltingConfig = ActConfig | TargetStepsConfig | FixedStepsConfig | None
