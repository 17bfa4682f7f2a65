"""Computations with a hand-written backward pass, which are one operation for autograd.

Both passes run in inference mode, in which torch calls an operation without autograd's dispatch and
version counters. The functions here return an output and its backward pass, a closure.
"""

from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn

from actmodels.halting.loop import DerivedStep
from actmodels.halting.states import ActiveExamples
from actmodels.modules.linear import affine, consists_of, in_one_precision

TensorPair = tuple[Tensor, Tensor]
Back = Callable[[Tensor], Tensor]  # maps the gradient of an output to that of the input


def sigmoid_back(gradient: Tensor, output: Tensor) -> Tensor:
    """Return the gradient of x from that of sigmoid(x)."""
    return torch.addcmul(output, output, output, value=-1).mul_(gradient)


def tanh_back(gradient: Tensor, output: Tensor) -> Tensor:
    """Return the gradient of x from that of tanh(x)."""
    return torch.addcmul(gradient, gradient * output, output, value=-1)


def relu_back(gradient: Tensor, output: Tensor) -> Tensor:
    """Return the gradient of x from that of relu(x), possibly times a mask; overwrites it."""
    return gradient.mul_(output.sign())  # on CPUs five times as fast as with `output > 0`


def softmax_back(gradient: Tensor, output: Tensor) -> Tensor:
    """Return the gradient of x from that of softmax(x) over the last dimension."""
    product = gradient * output
    return product.addcmul_(output, product.sum(dim=-1, keepdim=True), value=-1)


def applies(
    model: nn.Module, parts: Sequence[nn.Module], types: Collection[type], inputs: Tensor
) -> bool:
    """Return whether a hand-written derivative may replace parts of a model.

    It reads the weights of layers of these types, so a layer of another type or with a hook would
    be left out. It has first derivatives only, in one precision, which compilers and torch.func
    cannot see. `model.by_hand = False` switches it off.

    Args:
        types: the types of all modules of the parts.
        inputs: a tensor that the parts read.
    """
    if not model.by_hand or torch.compiler.is_compiling() or inputs.is_meta:
        return False
    if torch.is_grad_enabled() and not model.training:  # attributions, second derivatives
        return False
    if not all(consists_of(part, types) for part in parts):
        return False
    parameter = next(parts[0].parameters())
    return in_one_precision(parameter) and all(map(has_values, (parameter, inputs)))


def has_values(tensor: Tensor) -> bool:
    """Return whether a tensor has memory; those that torch.func transforms have none."""
    try:
        tensor.data_ptr()
    except RuntimeError:
        return False
    return True


class Weight:
    """Matrix and bias of a linear layer.

    The backward pass of a use stores the factors of the gradients of matrix and bias. One product
    for all uses is less memory traffic and has larger matrices than one for each use.

    matrix: [outputs, inputs], bias: [outputs]; when fused [trials, ...].
    """

    def __init__(self, matrix: Tensor, bias: Tensor | None) -> None:
        self.inputs = [part for part in (matrix, bias) if part is not None]
        self.matrix, self.bias = matrix.detach(), None if bias is None else bias.detach()
        self.uses: list[TensorPair] = []  # inputs and output gradients, last use first

    def __call__(self, inputs: Tensor) -> Tensor:
        """Return W x + b."""
        return affine(inputs, self.matrix, self.bias)

    def back(self, inputs: Tensor, gradient: Tensor) -> Tensor:
        """Store the factors and return the gradient of the inputs."""
        self.uses.append((inputs, gradient))
        matrix = self.matrix
        return gradient @ (matrix if matrix.dim() == 2 else matrix[: len(gradient)])

    def gradients(self) -> list[Tensor]:
        """Return the gradients of matrix and bias, summed over the uses."""
        fused = self.matrix.dim() == 3
        matrix = bias = None
        # When fused, the last trials may have no later steps, which come first here.
        for trials, group in groupby(self.uses, key=lambda use: len(use[0]) if fused else 0):
            inputs, gradients = (
                parts[0] if len(parts) == 1 else torch.cat(parts, dim=-2)
                for parts in zip(*group, strict=True)
            )
            product, total = gradients.transpose(-1, -2) @ inputs, gradients.sum(dim=-2)
            if fused and trials < len(self.matrix):
                missing = (0, 0, 0, 0, 0, len(self.matrix) - trials)
                product = torch.nn.functional.pad(product, missing)
                total = torch.nn.functional.pad(total, missing[2:])
            matrix = product if matrix is None else matrix.add_(product)
            bias = total if bias is None else bias.add_(total)
        self.uses.clear()
        assert matrix is not None and bias is not None
        return [matrix, bias][: len(self.inputs)]


class ByHand:
    """A computation of one forward pass. `inputs`: its inputs, in the order of `gradients`."""

    inputs: Sequence[Tensor]

    @abstractmethod
    def output(self) -> tuple[Tensor, Callable[[Tensor], None]]:
        """Return the output, which must not be a tensor of inference mode, and its backward pass.

        The backward pass runs in inference mode. Only it may refer to the tensors that it needs:
        autograd frees it with the graph.
        """

    @abstractmethod
    def gradients(self) -> Sequence[Tensor | None]:
        """Return the gradients of the inputs, which must not be tensors of inference mode."""

    def apply(self) -> Tensor:
        """Return the output, with its place in autograd's graph."""
        return _Operation.apply(self, *self.inputs)  # type: ignore[no-untyped-call]


class _Operation(torch.autograd.Function):
    """Autograd function from the inputs of a `ByHand` to its output."""

    @staticmethod
    def forward(ctx: Any, computation: ByHand, *_: Tensor) -> Tensor:
        ctx.computation = computation
        output, ctx.back = computation.output()
        return output

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        with torch.inference_mode():
            ctx.back(gradient)
        with torch.no_grad():
            gradients = ctx.computation.gradients()
        if torch.is_grad_enabled():  # create_graph=True
            inputs = [one for one in ctx.computation.inputs if one.requires_grad]
            gradients = [g if g is None else _Once.apply(g, *inputs) for g in gradients]  # type: ignore[no-untyped-call]
        return None, *gradients


class _Once(torch.autograd.Function):
    """Identity of a gradient that has no derivative."""

    @staticmethod
    def forward(ctx: Any, gradient: Tensor, *inputs: Tensor) -> Tensor:
        return gradient.clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        raise RuntimeError(
            "hand-written derivatives have no second ones; set model.by_hand = False before the "
            "forward pass"
        )


class StepsByHand(ByHand, DerivedStep):
    """Steps on the active examples of a batch; the output is the states of all steps."""

    def __init__(self) -> None:
        self.states: list[Tensor] = []
        # of each step: indices of its examples in the step before, None for all in order; and back
        self.backs: list[tuple[Tensor | None, Back]] = []
        self.indices: Tensor | None = None
        self.trains = torch.is_grad_enabled()
        self.to_start: Tensor | None = None  # gradient of the initial state

    @abstractmethod
    def advance(self, state: Tensor) -> tuple[Tensor, Back]:
        """Return the next state of active examples [batch, state], and the backward pass."""

    def step(self, state: Tensor) -> Tensor:
        """Map the state [batch, state] to the next one, in inference mode."""
        following, back = self.advance(state)
        if self.trains:
            self.states.append(following)
            self.backs.append((self.indices, back))
        self.indices = None
        return following

    def select(self, indices: Tensor, active: ActiveExamples) -> None:
        """Keep only the rows at `indices`; active: the examples that remain."""
        self.indices = indices

    def output(self) -> tuple[Tensor, Callable[[Tensor], None]]:
        """Return the states [examples of step 1, of step 2, ..., state]."""
        shapes = [state.shape for state in self.states]
        states = torch.cat([state.flatten(0, -2) for state in self.states])
        backs, self.backs, self.states = self.backs, [], []

        def back(gradient: Tensor) -> None:
            to_state = indices = None
            by_step = gradient.split([shape[:-1].numel() for shape in shapes])
            steps = zip(reversed(backs), reversed(shapes), reversed(by_step), strict=True)
            for (selected, step_back), shape, total in steps:
                if to_state is not None:
                    rows = to_state.flatten(0, -2)
                    total = total + rows if indices is None else total.index_add(0, indices, rows)
                to_state, indices = step_back(total.view(shape)), selected
            self.to_start = to_state

        return states, back
