"""Halting in half precision, compiled, exported, mapped and without values."""

import operator
import shutil
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import actmodels.halting
from actmodels.halting import adapt_steps
from tests.actmodels.outside import LABELS, MECHANISMS, SIZE, build, parts


@MECHANISMS
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("autocast", [False, True])
def test_half_precision_halts_in_float32(name: str, dtype: torch.dtype, autocast: bool) -> None:
    step, classify, _ = parts(double=False)
    halting, states = build(name, double=False).eval(), 3 * torch.randn(500, SIZE)
    if not autocast:
        step, classify, halting, states = (x.to(dtype) for x in (step, classify, halting, states))
    with torch.autocast("cpu", dtype, enabled=autocast):
        prediction = adapt_steps(step, states, halting, classify)
        probabilities = actmodels.halting.unroll(step, states, halting, classify).probabilities
        alone = [adapt_steps(step, states[i : i + 1], halting, classify) for i in range(40)]
    weights = prediction.weights
    assert weights.dtype == prediction.steps.dtype == probabilities.dtype == torch.float32
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(500), rtol=0, atol=1e-6)
    for n in range(1, probabilities.shape[1] + 1):
        over = halting.has_halted(probabilities[:, :n])
        assert bool((prediction.steps[over] <= n).all())
    same = torch.cat([one.steps for one in alone]) == prediction.steps[:40]
    assert int(same.sum()) >= 39  # states differ by the rounding of matrix products
    assert halting.objective(prediction, torch.zeros(500, dtype=torch.int64)).isfinite()


class Network(nn.Module):
    def __init__(self, name: str, *, until_halted: bool = False, fields: int | None = 3) -> None:
        super().__init__()
        self.step, self.classify, _ = parts(double=False)
        self.halting, self.until_halted = build(name, double=False), until_halted
        self.fields = fields

    def forward(self, states: Tensor) -> Any:
        loop = (self.step, states, self.halting, self.classify)
        options = {} if self.until_halted else {"until_halted": False}
        prediction = adapt_steps(*loop, **options)
        if self.fields is None:
            return prediction
        return [part for part in prediction[: self.fields] if part is not None]


BATCH = ({0: torch.export.Dim("batch", min=2, max=64)},)


def exported(model: nn.Module, states: Tensor) -> Any:
    return torch.export.export(model, (states[:3],), dynamic_shapes=BATCH).module()(states)


def compiled(model: nn.Module, states: Tensor, backend: str = "eager") -> Any:
    torch._dynamo.reset()
    return torch.compile(model, fullgraph=True, backend=backend)(states)


def mapped(model: nn.Module, states: Tensor) -> Any:
    return torch.func.vmap(model)(states)


def on_meta(model: nn.Module, states: Tensor) -> Any:
    return model.to("meta")(states.to("meta"))


WITHOUT_VALUES = [exported, compiled, mapped, on_meta]


@MECHANISMS
@pytest.mark.parametrize("run", WITHOUT_VALUES)
def test_without_control_flow_that_depends_on_data(name: str, run: Callable[..., Any]) -> None:
    model, states = Network(name).eval(), parts(double=False)[2].flatten(0, 1)
    plain = Network(name, until_halted=True).eval()(states)
    results = run(model, states)
    for one, other in zip(results, plain, strict=True):
        if run is on_meta:
            assert one.is_meta and one.shape == other.shape
        else:
            torch.testing.assert_close(one, other)


@MECHANISMS
@pytest.mark.parametrize("training", [False, True])
def test_gradients_of_each_example(name: str, training: bool) -> None:
    """torch.func.grad in torch.func.vmap equals a loop over the examples with autograd."""
    model = Network(name, fields=None).train(training)
    states, labels = parts(double=False)[2].flatten(0, 1), LABELS.flatten()
    weights = dict(model.named_parameters())

    def loss(weights: dict[str, Tensor], state: Tensor, label: Tensor) -> Any:
        prediction = torch.func.functional_call(model, weights, (state,))
        return model.halting.objective(prediction, label)

    mapped = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0), randomness="same")
    torch.manual_seed(1)
    grads = mapped(weights, states, labels)
    for number, (state, label) in enumerate(zip(states, labels, strict=True)):
        torch.manual_seed(1)
        options = {"allow_unused": True, "materialize_grads": True}
        alone = torch.autograd.grad(loss(weights, state, label), [*weights.values()], **options)
        torch.testing.assert_close([grad[number] for grad in grads.values()], [*alone])


@MECHANISMS
def test_a_mechanism_is_a_module(name: str) -> None:
    model, calls = Network(name, fields=None), []
    model.halting.register_forward_hook(lambda _, inputs, output: calls.append(output))
    model.halting.register_forward_pre_hook(lambda *_: calls.append("before"))
    prediction = model(parts(double=False)[2][0])
    assert calls[0] == "before" and calls[1] is prediction and len(calls) == 2
    parameters = [*model.halting.parameters()]
    for container in (nn.Sequential(model.halting), nn.ModuleList([model.halting])):
        assert all(map(operator.is_, container.parameters(), parameters))
        assert container.state_dict().keys() == {f"0.{key}" for key in model.halting.state_dict()}


@pytest.mark.parametrize("run", WITHOUT_VALUES)
def test_otherwise_one_sentence(run: Callable[..., Any]) -> None:
    model, states = Network("act", until_halted=True).eval(), torch.randn(4, SIZE)
    with pytest.raises((ValueError, RuntimeError), match="pass until_halted=False: the same"):
        run(model, states)


@pytest.mark.slow(minutes=1)
@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
@pytest.mark.parametrize("name", ["act", "ponder_net", "dact", "patience_exit"])
def test_compiled_to_machine_code(name: str) -> None:
    model, states = Network(name).eval(), parts(double=False)[2].flatten(0, 1)
    for one, other in zip(compiled(model, states, "inductor"), model(states), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.slow(minutes=1)
@pytest.mark.filterwarnings("ignore")  # the exporter's own
@pytest.mark.parametrize("name", ["act", "ponder_net", "dact", "patience_exit"])
def test_onnx_runtime_has_the_results(name: str) -> None:
    runtime, _ = pytest.importorskip("onnxruntime"), pytest.importorskip("onnxscript")
    model, states = Network(name, fields=7).eval(), parts(double=False)[2].flatten(0, 1)
    program = torch.onnx.export(model, (states[:3],), dynamo=True, dynamic_shapes=BATCH)
    assert program is not None
    session = runtime.InferenceSession(program.model_proto.SerializeToString())
    results = session.run(None, {session.get_inputs()[0].name: states.numpy()})
    for one, other in zip(results, model(states), strict=True):
        torch.testing.assert_close(torch.from_numpy(one), other)
