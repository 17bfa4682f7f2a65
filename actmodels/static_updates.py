"""Updates that a CUDA graph can hold: the operations of a fused update do not depend on the data.

A trial alone launches some thousand small operations for an update, and the GPU waits for Python. A
graph replays them all by one call. What the host would decide is fixed beforehand: sentences are
padded to one of a few lengths, all examples take the same number of steps, and each token is
projected. An update is recorded in two halves: the steps, and the rest. Between them the host reads
whether an example is open, has not halted; then more steps are taken, and nothing has been changed
yet. So a trial has the results of `FusedTraining`, up to rounding.

On a CPU nothing is recorded; the same code runs each time.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from actmodels.data.pairs import FILLER, PairTensors, collate
from actmodels.data.trial_data import TrialData
from actmodels.fused import (
    FusedOptimizer,
    FusedTraining,
    finish_update,
    fuse,
    load_member,
)
from actmodels.halting.base import Halting
from actmodels.halting.steps import AllSteps
from actmodels.metrics import Outcome
from actmodels.models.alternating import AlternatingAttention
from actmodels.models.pair_model import PairModel
from actmodels.modules.dropout import Dropout
from actmodels.modules.projection import ProjectedWords
from actmodels.prediction import Prediction
from actmodels.training import Training
from actmodels.trial_config import TrialConfig

# Run a function once, and return a function that repeats its operations.
Record = Callable[[Callable[[], None]], Callable[[], None]]
WARM_UPS = 3  # updates of a kind before it is recorded; rarer ones are not worth it
MOST_KINDS = 128  # recorded kinds of updates of a fusion
FIRST_STEPS = 8  # in the first epoch
SPREAD = 3.0  # standard deviations of the steps above their mean


class Kind(NamedTuple):
    """What fixes the operations of an update: padded words of each sentence, number of steps."""

    premise: int
    hypothesis: int
    steps: int


def rounded_up(number: int, least: int) -> int:
    """Round up to a multiple of `least`, of larger numbers to two or three significant bits."""
    unit = max(least, 2 ** ((number - 1).bit_length() - 2)) if number > 1 else least
    return -(-number // unit) * unit


class StaticTraining(FusedTraining):
    """A `FusedTraining` whose updates are recorded; the arguments are its own, and

    record: how; by default as CUDA graphs on a GPU, and not at all on a CPU.
    warm_ups: number of updates of a kind before one is recorded, at least 1.
    """

    def __init__(
        self,
        configs: Sequence[TrialConfig],
        data: TrialData,
        device: str = "cpu",
        record: Record | None = None,
        warm_ups: int = WARM_UPS,
    ) -> None:
        super().__init__(configs, data, device)
        self.warm_ups = warm_ups
        self.record = record or (CudaRecorder() if self.device.type == "cuda" else None)
        self.pairs = on_device(self.members[0].train, self.device)
        self.updates: StaticUpdates | None = None

    @property
    def running(self) -> list[Training]:
        """The unfinished trials in a fixed order, so that they stay where updates expect them."""
        return [member for member in self.members if not member.finished]

    def fused(self, members: Sequence[Training]) -> tuple[PairModel, FusedOptimizer]:
        """Return the members as one model: that of the last epoch while no trial has left."""
        if self.updates is None or self.updates.members != members:
            settings = (self.record, self.warm_ups)
            self.updates = StaticUpdates(*fuse(members), self.pairs, members, *settings)
        else:
            self.updates.load()
        return self.updates.fusion, self.updates.optimizer

    def train_epoch(self, *work: Any) -> Any:
        assert self.updates is not None
        self.updates.start_epoch()
        with static_shapes(self.updates.fusion):
            return super().train_epoch(*work)

    def batches(
        self, members: Sequence[Training], draws: Sequence[torch.Generator]
    ) -> Iterator[Tensor]:
        """Yield the pairs of each update [trials, batch], a repeated pair as -1 - index."""
        size, pairs = members[0].config.training.batch_size, members[0].train
        same = len({one.initial_seed() for one in draws}) == 1
        drawn = draws[:1] if same else draws
        batches = [members[0].model.batches(pairs, size, one) for one in drawn]
        for parts in zip(*batches, strict=True):
            rows = torch.stack([filled(part, size) for part in parts])
            yield rows.expand(len(members), -1)

    def update(
        self, fusion: PairModel, optimizer: FusedOptimizer, batch: Any, alive: Tensor
    ) -> Outcome:
        assert self.updates is not None
        return self.updates.run(batch, alive)


def filled(rows: Tensor, size: int) -> Tensor:
    """Fill up a smaller batch with its last pair, as -1 - index."""
    missing = size - len(rows)
    return torch.cat([rows, (-1 - rows[-1]).expand(missing)]) if missing else rows


def pairs_of(rows: Tensor) -> Tensor:
    """Return the pairs of filled rows."""
    return torch.where(rows < 0, -1 - rows, rows)


def on_device(pairs: PairTensors, device: torch.device) -> PairTensors:
    """Copy a split to a device."""
    tensors = {name: part for name, part in vars(pairs).items() if isinstance(part, Tensor)}
    moved: dict[str, Any] = {name: part.to(device) for name, part in tensors.items()}
    return replace(pairs, **moved)


@contextmanager
def static_shapes(fusion: PairModel) -> Iterator[None]:
    """Let no operation of a model depend on the values of a batch."""
    words = [module for module in fusion.modules() if isinstance(module, ProjectedWords)]
    by_hand = fusion.by_hand
    try:
        fusion.by_hand = False
        for module in words:
            module.static = True
        yield
    finally:
        fusion.by_hand = by_hand
        for module in words:
            module.static = False


class StaticUpdates:
    """The updates of a fusion, of one size of batch.

    Args:
        pairs: on the fusion's device.
        members: of the fusion, in its order.
        record: how updates are recorded; None: not at all.
        warm_ups: see StaticTraining.
    """

    def __init__(
        self,
        fusion: PairModel,
        optimizer: FusedOptimizer,
        pairs: PairTensors,
        members: Sequence[Training],
        record: Record | None,
        warm_ups: int,
    ) -> None:
        self.fusion, self.optimizer, self.pairs = fusion, optimizer, pairs
        self.members, self.record, self.warm_ups = members, record, warm_ups
        self.config, device = members[0].config, pairs.labels.device
        trials, size = len(members), self.config.training.batch_size
        self.rows = torch.zeros(trials, size, dtype=torch.int64, device=device)
        self.key = torch.zeros(trials, dtype=torch.int32, device=device)
        self.alive = torch.ones(trials, dtype=torch.bool, device=device)
        for module in fusion.modules():  # masks of a number are cached, not for ever
            if isinstance(module, Dropout) and not isinstance(module.rate, Tensor) and module.rate:
                rates = [module.rate] * trials
                module.rate = torch.tensor(rates, dtype=torch.float64, device=device)
        self.lengths = [offsets.diff().cpu() for _, offsets, _ in pairs.sides]
        self.seen: Counter[Kind] = Counter()
        self.recorded: dict[Kind, Halves] = {}

    def load(self) -> None:
        """Copy the states of the members into the fusion, whose tensors stay where they are."""
        for trial, member in enumerate(self.members):
            load_member(self.fusion, trial, member.model.state_dict())
        self.optimizer.load([member.optimizer.state_dict() for member in self.members])

    def start_epoch(self) -> None:
        """Choose the number of steps from those of the last epoch, which a checkpoint holds."""
        last = [member.history[-1] for member in self.members if member.history]
        most = [(r.train_mean_steps or 0.0) + SPREAD * (r.train_sd_steps or 0.0) for r in last]
        self.first_steps = int(max(most)) + 1 if most else FIRST_STEPS
        self.steps: dict[tuple[int, int], int] = {}  # by padded words of both sentences

    @property
    def most_steps(self) -> int:
        """The maximum number of steps; 0 for a model without."""
        halting = self.fusion.halting
        return halting.step_limit() if isinstance(halting, Halting) else 0

    def run(self, rows: Tensor, alive: Tensor) -> Outcome:
        """Update on pairs [trials, batch]; see `FusedTraining.update`."""
        assert self.fusion.dropout_stream.key is not None
        self.rows.copy_(rows, non_blocking=True)
        self.key.copy_(self.fusion.dropout_stream.key)
        self.alive.copy_(alive)
        real = pairs_of(rows).flatten()
        premise, hypothesis = (rounded_up(int(part[real].max()), least=4) for part in self.lengths)
        most = self.most_steps
        steps = self.steps.get((premise, hypothesis), self.first_steps)
        while True:
            kind = Kind(premise, hypothesis, min(rounded_up(steps, least=2), most))
            halves = self.first_half(kind)
            if kind.steps == most or not bool(halves.open):
                break
            steps = kind.steps + 1
        self.steps[premise, hypothesis] = kind.steps
        self.second_half(kind, halves)
        alive.copy_(self.alive)
        return tuple(None if part is None else part.clone() for part in halves.outcome)

    def first_half(self, kind: Kind) -> "Halves":
        """Take the steps."""
        if kind in self.recorded:
            self.recorded[kind].repeat_first()
            return self.recorded[kind]
        self.seen[kind] += 1
        halves = Halves()
        work = partial(self.take_steps, kind, halves)
        if self.record and self.seen[kind] > self.warm_ups and len(self.recorded) < MOST_KINDS:
            halves.repeat_first = self.record(work)
            self.recorded[kind] = halves
        else:
            work()
        return halves

    def second_half(self, kind: Kind, halves: "Halves") -> None:
        """Update on what the steps have led to."""
        work = partial(self.finish, halves)
        if halves.repeat_second:
            halves.repeat_second()
        elif self.record and kind in self.recorded:
            halves.repeat_second = self.record(work)
        else:
            work()

    def take_steps(self, kind: Kind, halves: "Halves") -> None:
        """Gather a batch and take the steps; a model without steps predicts."""
        fusion, real = self.fusion, pairs_of(self.rows)
        null_token, words = self.config.input.null_token, (kind.premise, kind.hypothesis)
        batch = collate(self.pairs, real, null_token=null_token, device=real.device, words=words)
        halves.labels = batch.labels.masked_fill(self.rows < 0, FILLER)
        fusion.dropout_stream.restart(self.key)
        if not isinstance(fusion, AlternatingAttention):
            halves.prediction = fusion(batch)
            return
        halves.steps = fusion.all_steps(batch, kind.steps)
        read, halting = halves.steps.probabilities.detach(), fusion.halting
        halted = halting.has_halted_by(read.sum(dim=-1) if halting.halts_by_sum else read)
        halves.open = (~halted & self.alive[:, None]).any()

    def finish(self, halves: "Halves") -> None:
        """Answer, and update."""
        if halves.steps is not None:
            assert isinstance(self.fusion, AlternatingAttention)
            halves.prediction = self.fusion.answer(halves.steps)
        assert halves.prediction is not None
        outcome = finish_update(
            self.fusion, self.optimizer, halves.prediction, halves.labels, self.alive
        )
        halves.outcome = tuple(None if part is None else part.detach() for part in outcome)
        halves.steps = halves.prediction = None


class Halves:
    """What the first half of an update leaves for the second, and that for metrics."""

    repeat_first: Callable[[], None]  # if they are recorded
    repeat_second: Callable[[], None] | None = None
    labels: Tensor  # [trials, batch]
    open: Tensor  # whether an example has not halted []
    steps: AllSteps | None = None
    prediction: Prediction | None = None
    outcome: Outcome


class CudaRecorder:
    """Record operations as CUDA graphs, which share their memory: one is replayed at a time."""

    def __init__(self) -> None:
        self.pool = torch.cuda.graph_pool_handle()

    def __call__(self, function: Callable[[], None]) -> Callable[[], None]:
        """Record, then run."""
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, pool=self.pool):
                function()
        except RuntimeError as error:
            raise RuntimeError(
                f"a CUDA graph cannot hold an update of this model ({error}); "
                "set cluster.gpu_graphs=false"
            ) from error
        graph.replay()
        return graph.replay
