"""Updates as CUDA graphs: a pack's kernels launched as one.

A graph cannot follow a loop whose length depends on the data. So the gradients of an update are
captured once per shape of the batch and number of steps, each example taking that many; if one
has not halted by then, the graph with more steps is run in its place, and only then are the
gradients applied. That changes no number but by rounding: steps after an example's own end
weigh nothing. Shapes are few because sentences are padded to a multiple of `BUCKET` tokens.

Where there is no CUDA nothing can be captured, and what would be is simply run each time: that
is for tests, which so go through all of it but the capture.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from actmodels.data.pairs import FILLER, Batch
from actmodels.models.alternating import AlternatingAttention
from actmodels.models.pair_model import PairModel
from actmodels.packed.batches import filled
from actmodels.packed.optimizer import PackOptimizer
from actmodels.prediction import Prediction

BUCKET = 4  # tokens
LADDER = (2, 3, 4, 5, 6, 8, 10, 13, 16, 20)  # numbers of steps worth a graph of their own
WARM_UPS = 2  # runs before a capture, in which libraries allocate what they need


def capture(work: Callable[[], None], device: torch.device, pool: Any) -> Callable[[], None]:
    """What runs `work` again, on the same tensors.

    Args:
        pool: memory that graphs share. One may overwrite what another has left there: what an
            update leaves is read before the next one runs, and is alive while others are captured.
    """
    if device.type != "cuda":
        return work
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(stream):
        for _ in range(WARM_UPS):
            work()
    torch.cuda.current_stream(device).wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=pool):
        work()
    return graph.replay


class _Results(NamedTuple):
    """What an update says besides its gradients; `enough`: every example has halted []."""

    prediction: Prediction
    objective: Tensor
    enough: Tensor


class _Captured:
    """The gradients of one shape and number of steps.

    Attributes:
        results: of the last run.
    """

    results: _Results

    def __init__(self, compute: Callable[[], _Results], device: torch.device, pool: Any) -> None:
        def work() -> None:
            self.results = compute()

        self.run = capture(work, device, pool)


class GraphedUpdates:
    """Updates of a pack by captured graphs; the same interface as EagerUpdates.

    Args:
        rows: examples of a batch; a smaller one is filled up.
    """

    def __init__(self, pack: PairModel, optimizer: PackOptimizer, trials: int, rows: int) -> None:
        self.pack, self.optimizer, self.rows = pack, optimizer, rows
        self.device = optimizer.table.device
        # each with memory of its own, some hundred graphs of a large pack would fill any GPU
        self.pool = torch.cuda.graph_pool_handle() if self.device.type == "cuda" else None
        self.alive = torch.ones(trials, dtype=torch.bool, device=self.device)
        self.keys = torch.zeros(trials, dtype=torch.int32, device=self.device)
        self.inputs: dict[tuple[int, int], Batch] = {}
        self.captured: dict[tuple[int, int, int], _Captured] = {}
        self.apply: dict[tuple[int, int, int], Callable[[], None]] = {}
        self.likely: dict[tuple[int, int], int] = {}

    @property
    def ladder(self) -> tuple[int, ...]:
        """The numbers of steps to try, the last of them the cap; (0,) for a model without."""
        if not isinstance(self.pack, AlternatingAttention):
            return (0,)
        cap = self.pack.halting.max_steps
        return (*(steps for steps in LADDER if steps < cap), cap)

    def run(self, batch: Batch, keys: Tensor) -> Prediction:
        """See EagerUpdates."""
        padded = bucketed(batch, self.rows)
        shape = (padded.premise.shape[-1], padded.hypothesis.shape[-1])
        if shape not in self.inputs:
            self.inputs[shape] = padded.each(lambda tensor: tensor.contiguous().clone())
        for static, tensor in zip(self.inputs[shape], padded, strict=True):
            if static is not None and tensor is not None:
                static.copy_(tensor)
        self.keys.copy_(keys)
        ladder = self.ladder
        place = self.likely.get(shape, 0)
        while True:
            name = (*shape, ladder[place])
            captured = self.gradients(name)
            captured.run()
            # the one wait for the device
            if place == len(ladder) - 1 or bool(captured.results.enough):
                break
            place += 1
        self.likely[shape] = max(place - 1, 0) if self.spare(captured, ladder, place) else place
        self.applied(name)()
        rows = batch.labels.shape[-1]
        return captured.results.prediction.each(lambda v: v[:, :rows].clone())

    def spare(self, captured: _Captured, ladder: tuple[int, ...], place: int) -> bool:
        """Fewer steps would have done for this batch, so that they are tried first next time."""
        steps = captured.results.prediction.steps
        return place > 0 and steps is not None and bool(steps.max() <= ladder[place - 1])

    def gradients(self, name: tuple[int, int, int]) -> _Captured:
        """The graph that fills the gradients, without applying them."""
        if name not in self.captured:
            compute = partial(self.compute, self.inputs[name[:2]], name[2])
            self.captured[name] = _Captured(compute, self.device, self.pool)
        return self.captured[name]

    def compute(self, batch: Batch, steps: int) -> _Results:
        """Loss and gradients with a fixed number of steps; 0 for a model without steps."""
        self.pack.dropout_stream.restart(self.keys)
        enough = torch.ones((), dtype=torch.bool, device=self.device)
        if isinstance(self.pack, AlternatingAttention):
            states, probabilities = self.pack.unroll(batch, steps, until_halted=False)
            real = self.alive[:, None] & (batch.labels != FILLER)
            enough = (self.pack.halting.done(probabilities.detach()) | ~real).all()
            prediction = self.pack.answer(states, probabilities)
        else:
            prediction = self.pack(batch)
        objective = self.pack.objective(prediction, batch.labels)
        self.optimizer.zero_grad()
        objective.sum().backward()
        return _Results(prediction.each(torch.Tensor.detach), objective.detach(), enough)

    def applied(self, name: tuple[int, int, int]) -> Callable[[], None]:
        """The graph that applies what `gradients` of the same name has filled."""
        if name not in self.apply:
            captured, labels = self.captured[name], self.inputs[name[:2]].labels
            optimizer = self.optimizer
            changed = [optimizer.table, *optimizer.moments, optimizer.updates, self.alive]
            changed += self.pack.buffers()
            saved = [tensor.clone() for tensor in changed]

            def work() -> None:
                self.alive &= torch.isfinite(captured.results.objective)
                optimizer.step(self.alive)
                self.pack.adapt(captured.results.prediction, labels)

            self.apply[name] = capture(work, self.device, self.pool)
            # warming up has applied gradients
            for tensor, copy in zip(changed, saved, strict=True):
                tensor.copy_(copy)
        return self.apply[name]


def bucketed(batch: Batch, rows: int) -> Batch:
    """The batch with sentences padded to a multiple of BUCKET tokens, and with FILLER rows.

    Args:
        batch: [trials, batch, ...].
    """
    premise, hypothesis = (
        -(-tensor.shape[-1] // BUCKET) * BUCKET for tensor in (batch.premise, batch.hypothesis)
    )
    return filled(batch, rows, premise, hypothesis)
