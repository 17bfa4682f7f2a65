"""The loop over steps: apply a step function until each example has halted."""

from abc import abstractmethod
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from actmodels.halting.base import Halting
from actmodels.halting.states import (
    ActiveExamples,
    Classify,
    batch_of,
    each,
    first_tensor,
    read_units,
    tensors,
    unless,
)
from actmodels.halting.steps import ActiveSteps, AllSteps, KeptSteps, Steps, scattered
from actmodels.prediction import Prediction


class Trajectory(NamedTuple):
    """All steps: states [batch, steps, ...] and halting probabilities [batch, steps]."""

    states: Any
    probabilities: Tensor


class DerivedStep:
    """A step function with a derivative of its own, computed after all steps (actmodels.by_hand).

    The loop calls it in inference mode, and then `apply` for the states with gradients.
    """

    @abstractmethod
    def step(self, state: Tensor) -> Tensor:
        """Map the states of the active examples to the next ones."""

    @abstractmethod
    def select(self, indices: Tensor, active: ActiveExamples) -> None:
        """Keep only the rows at `indices`; active: the examples that remain."""

    @abstractmethod
    def apply(self) -> Tensor:
        """Return the states of all steps with gradients [rows of step 1, of step 2, ..., state]."""


class AdaptiveLoop:
    """The loop over the steps of one batch; `run` takes the steps.

    Args:
        halting: the mechanism.
        classify: maps states to outputs.
        batch: shape of the batch.
        max_steps: number of steps at most.
        budget: number of steps of each example at most [batch].
        compact: halted examples leave the step, which reads active ones only.
        freeze: halted examples keep their state, because others may read it.
        until_halted: end once all examples have halted.
        keeps_all: keep all states, also where the mechanism needs less.
        group: process group whose processes take the same number of steps.
    """

    def __init__(
        self,
        halting: Halting,
        classify: Classify,
        batch: torch.Size,
        *,
        max_steps: int,
        budget: Tensor | None = None,
        compact: bool = False,
        freeze: bool = True,
        until_halted: bool = True,
        keeps_all: bool = False,
        group: Any = None,
    ) -> None:
        self.halting, self.classify, self.batch = halting, classify, batch
        self.max_steps, self.budget, self.group = max_steps, budget, group
        self.compact, self.freeze = compact and len(batch) > int(halting.fused), freeze
        self.until_halted, self.keeps_all = until_halted, keeps_all
        self.states: list[Any] = []  # the states of each step
        self.probabilities: list[Tensor] = []
        self.indices: list[Tensor] = []  # original indices of the active examples of each step
        self.selected: list[Tensor | None] = []  # rows of the step before that take each step
        self.so_far: Tensor | None = None  # h_1 ... h_n of the active examples, or their sum

    def run(self, step: Any, state: Any, inputs: Any = None) -> Steps:
        """Take the steps.

        Args:
            step: a DerivedStep, or a function of the states and, unless they are None, of `inputs`.
            state: initial states [batch, ...].
            inputs: what else belongs to each example: tensors [batch, ...], or scalars.
        """
        trains = torch.is_grad_enabled()
        self.active: ActiveExamples | None = None
        if self.until_halted:
            device, fused = first_tensor(state).device, self.halting.fused
            self.active = ActiveExamples(self.batch, device, fused=fused)
        self.derived = step if isinstance(step, DerivedStep) else None
        self.differentiates = self.derived is not None and trains
        self.traces = trains and not self.differentiates  # autograd records the steps
        self.has_values = not (first_tensor(state).is_meta or torch.compiler.is_compiling())
        keeps = self.until_halted and not (self.keeps_all or trains) and self.halting.keeps
        self.kept = KeptSteps(self.batch) if keeps else None
        flat = len(self.batch) == 1 and first_tensor(state).dim() == 2
        quick = flat and (self.kept is not None or self.differentiates)
        self.quick = self.halting.quick_reader(first_tensor(state)) if quick else None
        with torch.inference_mode() if self.differentiates else nullcontext():
            self._take(step if self.derived is None else self.derived.step, state, inputs)
        return self._derived(state) if self.differentiates else self._recorded()

    def _take(self, step: Callable[..., Any], state: Any, inputs: Any) -> None:
        """Take steps until all examples have halted."""
        halted: Tensor | None = None
        budget = self.budget
        for number in range(1, self.max_steps + 1):
            before, state = state, step(state) if inputs is None else step(state, inputs)
            if self.freeze and halted is not None:
                state = each(partial(unless, halted), state, before)
            self._record(state, before, number, budget)
            if number == self.max_steps or not (self.until_halted or self.freeze):
                continue
            assert self.so_far is not None
            halted = self.halting.has_halted_by(self.so_far)
            halted = halted if budget is None else halted | (budget <= number)
            indices = self._remaining(halted) if self.until_halted else None
            if indices is None:
                continue
            if not indices.numel():
                break
            assert self.active is not None
            flat, rows = self.active.keep(indices), self.active.rows
            state, self.so_far = rows(state, flat), rows(self.so_far, flat)
            inputs, budget = rows(inputs, flat), rows(budget, flat)
            halted = rows(halted, flat) if self.freeze else None
            self.selected[-1] = flat
            if self.derived is not None:
                self.derived.select(flat, self.active)

    def _record(self, state: Any, before: Any, number: int, budget: Tensor | None) -> None:
        """Record a step of the active examples."""
        halting, output = self.halting, None
        if self.kept is not None and "outputs" in halting.keeps:
            output = self.classify(state)
        if self.quick is not None:
            probability = self.quick(first_tensor(state))
        else:
            units, dims = read_units(state, len(self.batch)), len(self.batch)
            outputs = partial(self.classify, state) if output is None else lambda: output
            earlier = read_units(before, dims) if halting.reads_change else units
            probability = halting.read(units, earlier, outputs)
        self.probabilities.append(probability)
        if self.active is not None:
            self.indices.append(self.active.original_indices)
        self.selected.append(None)
        newest = probability.detach() if self.traces else probability
        if halting.halts_by_sum:
            self.so_far = newest if self.so_far is None else self.so_far + newest
        else:
            parts = [] if self.so_far is None else [self.so_far]
            self.so_far = torch.cat([*parts, newest[..., None]], dim=-1)
        if self.kept is None:
            self.states += [] if self.differentiates else [state]
            return
        if output is not None:
            self.kept.rows.append(self._flat(output))
        if "state" in halting.keeps:
            self._keep_state(self.kept, state, newest, number, budget)

    def _keep_state(
        self, kept: KeptSteps, state: Any, newest: Tensor, number: int, budget: Tensor | None
    ) -> None:
        """Add the weighted states of a step."""
        ends = None if budget is None else budget == number
        if number == self.max_steps:
            ends = torch.ones_like(newest, dtype=torch.bool)
        assert self.so_far is not None
        weight = self.halting.newest_weight(self.so_far, newest, ends)
        if weight is not None:
            weight = weight if budget is None else weight * (budget >= number)
            kept.add(each(self._flat, state), weight.flatten(), self.indices[-1])

    def _remaining(self, halted: Tensor) -> Tensor | None:
        """Return the rows that take the next step; None for all, and nothing if all have halted.

        Raises:
            ValueError: a compiler, vmap or the device meta runs the code without values.
        """
        if not self.has_values:
            raise ValueError(NEEDS_VALUES)
        assert self.active is not None
        try:
            ended = self.group is None or not greatest((~halted).any(), self.group)
            if self.compact:
                indices = self.active.indices(halted)
            else:
                indices = self.active.original_indices[:0] if bool(halted.all()) else None
        except RuntimeError as error:
            if str(error).startswith("vmap"):
                raise ValueError(NEEDS_VALUES) from None
            raise
        waits = indices is not None and not indices.numel() and not ended
        return None if waits else indices

    def _flat(self, tensor: Tensor) -> Tensor:
        """Return a tensor [batch, ...] of the active examples as rows."""
        dims = len(self.batch)
        return tensor.flatten(0, dims - 1) if dims else tensor[None]

    def _index(self) -> Tensor:
        """Return the index of each recorded row in the flat [batch, steps]."""
        steps, examples = len(self.probabilities), torch.cat(self.indices)
        sizes = torch.tensor([len(part) for part in self.indices])
        numbers = torch.arange(steps).repeat_interleave(sizes).to(examples.device)
        return examples * steps + numbers

    def _recorded(self) -> Steps:
        """Return the recorded steps, whose states have their own gradients."""
        steps, dim = len(self.probabilities), len(self.batch)
        last = None if self.budget is None else self.budget.clamp(max=steps)
        if self.kept is None and (self.active is None or not self.active.changed):
            states = each(lambda *parts: torch.stack(parts, dim=dim), *self.states)
            return AllSteps(states, torch.stack(self.probabilities, dim=dim), last)
        index = self._index()
        recorded = torch.cat([self._flat(part) for part in self.probabilities])
        probabilities = scattered(recorded, index, torch.Size((*self.batch, steps)))
        if self.kept is not None:
            return self.kept.finish(index, probabilities, last)
        rows = each(lambda *parts: torch.cat([*map(self._flat, parts)]), *self.states)
        return ActiveSteps(rows, index, probabilities, last)

    def _derived(self, start: Tensor) -> Steps:
        """Return the steps of a DerivedStep; h_n have gradients and the values that halted."""
        assert self.derived is not None
        states, index, steps = self.derived.apply(), self._index(), len(self.probabilities)
        last = None if self.budget is None else self.budget.clamp(max=steps)
        shape = torch.Size((*self.batch, steps))
        recorded = torch.cat([part.flatten() for part in self.probabilities])
        if self.halting.fused:  # layers of fused models map [trials, ...]
            states, recorded = (scattered(part, index, shape) for part in (states, recorded))
            before = torch.cat([start[..., None, :], states[..., :-1, :]], dim=-2)
        else:
            before = self._before(states, start) if self.halting.reads_change else states
        again = self.halting.read(states, before, partial(self.classify, states))
        recorded = recorded + (again - again.detach())
        if self.halting.fused:
            return AllSteps(states, recorded, last)
        return ActiveSteps(states, index, scattered(recorded, index, shape), last)

    def _before(self, states: Tensor, start: Tensor) -> Tensor:
        """Return the state before each recorded one."""
        # Copies of the rows, which are tensors of inference mode.
        by_step = states.split([len(part) for part in self.indices])
        pairs = zip(self.selected, by_step, strict=True)
        rows = [part if at is None else part.index_select(0, at.clone()) for at, part in pairs]
        return torch.cat([start, *rows[:-1]])


NEEDS_VALUES = (
    "steps end once all examples have halted, which needs their values; for torch.compile, "
    "torch.export, vmap and the device meta pass until_halted=False: the same results from "
    "max_steps steps"
)


def greatest(value: Tensor, group: Any) -> int:
    """Return the greatest value [] of the processes of a group."""
    value = value.to(torch.int32)
    torch.distributed.all_reduce(value, torch.distributed.ReduceOp.MAX, group=group)
    return int(value)


def unroll(
    step: Callable[..., Any],
    state: Any,
    halting: Halting,
    classify: Classify,
    max_steps: int | None = None,
    *,
    inputs: Any = None,
    batch_dims: int | None = None,
    until_halted: bool = True,
    freeze: bool = False,
) -> Trajectory:
    """Apply a step function repeatedly to all examples of a batch, halted or not.

    Args: as of `adapt_steps`, and
        freeze: halted examples keep their state, for steps in which examples see each other.

    Returns:
        States [batch, steps, ...] and halting probabilities [batch, steps].
    """
    loop = AdaptiveLoop(
        halting,
        classify,
        batch_of(state, batch_dims),
        max_steps=max_steps or halting.step_limit(),
        freeze=freeze,
        until_halted=until_halted,
        keeps_all=True,
    )
    steps = loop.run(step, state, inputs)
    assert isinstance(steps, AllSteps)
    return Trajectory(steps.states, steps.probabilities)


def adapt_steps(
    step: Callable[..., Any] | DerivedStep,
    state: Any,
    halting: Halting,
    classify: Classify,
    *,
    inputs: Any = None,
    batch_dims: int | None = None,
    max_steps: int | Tensor | None = None,
    compact: bool | None = None,
    until_halted: bool = True,
    group: Any = None,
) -> Prediction:
    """Predict after as many steps as each example needs.

    Args:
        step: maps states to the next ones: `step(state)`, or `step(state, inputs)` with inputs.
        state: initial states: a tensor [batch, state], or tuples, lists, dicts and dataclasses of
            tensors [batch, ...].
        halting: the mechanism; it reads the first tensor.
        classify: maps states to outputs [..., outputs]; it must allow one leading dimension more.
        inputs: what else belongs to each example, of the same types. With it halted examples leave
            the step: the step reads rows of states and inputs, and its rows must not depend on each
            other. Without it the step reads all examples, and halted ones keep their state.
        batch_dims: how many leading dimensions are examples, which halt independently: 1 for
            [batch, ...], 2 for tokens [batch, tokens, state]. None: 1, of tensors [batch, state].
        max_steps: number of steps at most; by default that of the mechanism. Integers [batch]: of
            each example.
        compact: whether halted examples leave the step; by default with inputs, and without
            dependence on values of the data (`until_halted`).
        until_halted: stop once all examples have halted. False takes max_steps steps with the same
            results: for torch.compile(fullgraph=True), torch.export, vmap and the device meta.
        group: process group of torch.distributed whose processes take the same number of steps, for
            layers that communicate (FSDP).

    Raises:
        ValueError: the batch is ambiguous, inputs are not of its examples, max_steps is out of
            range, or values are needed where there are none.
    """
    batch = batch_of(state, batch_dims)
    rows = batch[: 1 + int(halting.fused)]
    for part in tensors(inputs):
        if part.dim() and part.shape[: len(rows)] != rows:
            raise ValueError(
                f"inputs have a tensor {list(part.shape)}; expected {list(rows)} as its leading "
                "dimensions: what all examples share belongs into the step function"
            )
    most, budget = step_limits(max_steps, halting.step_limit(), batch)
    if group is not None:  # processes may have other budgets, and RandomSteps other draws
        most = greatest(torch.tensor(most, device=first_tensor(state).device), group)
    compact = (inputs is not None or isinstance(step, DerivedStep)) if compact is None else compact
    compact = compact and until_halted
    loop = AdaptiveLoop(
        halting,
        classify,
        batch,
        max_steps=most,
        budget=budget,
        compact=compact,
        freeze=not (compact and len(batch) == 1 + int(halting.fused)),
        until_halted=until_halted,
        group=group,
    )
    prediction: Prediction = halting(loop.run(step, state, inputs), classify)
    return prediction


def step_limits(
    given: int | Tensor | None, default: int, batch: torch.Size
) -> tuple[int, Tensor | None]:
    """Return the maximum number of steps of all, and of each example [batch] if it differs.

    Raises:
        ValueError: it is below 1, or of another shape.
    """
    if given is None:
        return default, None
    own = given if isinstance(given, Tensor) and given.dim() else None
    if own is not None and (own.shape != batch or own.is_floating_point()):
        raise ValueError(
            f"max_steps is {own.dtype} {list(own.shape)}; expected an integer, or one of each "
            f"example {list(batch)}"
        )
    numbers = torch.ones(1) if own is not None and not own.numel() else torch.as_tensor(given)
    if int(numbers.min()) < 1:
        raise ValueError(f"max_steps is {int(numbers.min())}; expected at least 1")
    return int(numbers.max()), own
