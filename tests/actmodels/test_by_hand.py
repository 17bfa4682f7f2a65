"""Hand-written backward passes: values and all gradients of plain PyTorch, in double precision."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from actmodels.configs import ActRnnConfig, AnsweringConfig, FixedStepsConfig
from actmodels.models.act_rnn import ActRnn
from studies.sequences.config import LogicConfig, ParityConfig
from studies.sequences.training import build_task, score
from tests.model_checks import make
from tests.samples import sample_batch, sample_trial
from tests.studies.sequences.samples import ACT, DACT, PONDER_NET

TARGET = sample_trial("adaptive_attention_target_steps").halting
HALTINGS = (ACT, TARGET, FixedStepsConfig(steps=3), PONDER_NET, DACT)


def is_by_hand(output: Tensor) -> bool:
    """Whether the graph of an output has an operation with a hand-written derivative."""
    nodes, seen = [output.grad_fn], set()
    while nodes:
        node = nodes.pop()
        if node is None or node in seen:
            continue
        if type(node).__name__ == "_OperationBackward":
            return True
        seen.add(node)
        nodes += [one for one, _ in node.next_functions]
    return False


def assert_equal_by_hand(model: nn.Module, run: Any) -> None:
    """Compare outputs and gradients of both ways; `run` returns outputs, the objective first."""
    results = []
    for by_hand in (True, False):
        model.by_hand = by_hand
        model.zero_grad()
        objective, *outputs = run()
        assert is_by_hand(objective) is by_hand
        objective.backward()
        results.append([objective, *outputs, *(p.grad for p in model.parameters())])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-14, equal_nan=True)


@pytest.mark.parametrize("oov_rule", ["own", "trained"])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("count", [1, 24])
def test_decomposable_attention(oov_rule: str, dropout: float, count: int) -> None:
    model = make(sample_trial("decomposable_attention", dropout=dropout, oov_rule=oov_rule)).train()
    batch = sample_batch(count)

    def run() -> list[Tensor]:
        model.dropout_stream.restart(torch.tensor(5, dtype=torch.int32))
        prediction = model(batch)
        return [model.objective(prediction, batch.labels), prediction.logits]

    assert_equal_by_hand(model, run)


def test_a_sentence_without_words_is_nan_in_both() -> None:
    """And training ends there, because the loss is not finite."""
    model = make(sample_trial("decomposable_attention", dropout=0.0)).train()
    batch = sample_batch(6)
    batch.hypothesis_mask[2] = False
    for model.by_hand in (True, False):
        logits = model(batch).logits
        assert logits.isnan().all(dim=1).tolist() == [row == 2 for row in range(6)]


@pytest.mark.parametrize("cell", ["rnn", "lstm"])
@pytest.mark.parametrize("halting", HALTINGS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("count", [1, 16])
def test_act_rnn(cell: Any, halting: Any, count: int) -> None:
    """Sequences of several lengths; examples halt at different steps, some at the cap."""
    answers = isinstance(halting, AnsweringConfig)
    task = build_task(ParityConfig(bits=6) if answers else LogicConfig(vectors=4, gates=3))
    torch.manual_seed(1)
    config = ActRnnConfig(cell=cell, state_size=5, init="normal", init_std=0.6)
    model = ActRnn(task.inputs, task.outputs.size, config, halting).double()
    for name, parameter in model.halting.named_parameters():
        parameter.data = parameter * 6 if name.endswith("weight") else parameter * 0 - 1.5
    batch = task.sample(count, torch.Generator().manual_seed(4))
    batch = batch._replace(inputs=batch.inputs.double())

    def run() -> list[Tensor]:
        pondered = model(batch.inputs, batch.mask)
        return [score(task.outputs, pondered, batch).objective(model.halting), *pondered[:2]]

    assert_equal_by_hand(model, run)
    steps = run()[2][batch.mask]
    varied = not isinstance(halting, FixedStepsConfig) and count > 1
    assert not varied or len(steps.unique()) > 2  # otherwise the test is void


MODELS = ["decomposable_attention", "adaptive_attention", "hop_attention"]
EVERY_MODEL = pytest.mark.parametrize("name", MODELS)


class Scaled(nn.Linear):
    def forward(self, inputs: Tensor) -> Tensor:
        return 2 * super().forward(inputs)


CHANGES: dict[str, Callable[[nn.Linear], object]] = {
    "subclass": lambda linear: setattr(linear, "__class__", Scaled),
    "hook": lambda linear: linear.register_forward_hook(lambda module, inputs, output: 2 * output),
    "pre-hook": lambda linear: linear.register_forward_pre_hook(lambda _, inputs: 2 * inputs[0]),
}
LAYERS = {"decomposable_attention": "compare", "adaptive_attention": "step.premise_gate"}


@EVERY_MODEL
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_layer_is_computed_as_it_is(name: str, training: bool, change: str) -> None:
    """LoRA, any subclass with its own forward, and hooks; also in a model in evaluation."""
    model = make(sample_trial(name, dropout=0.0)).train(training)
    batch, layer = sample_batch(6), model.get_submodule(LAYERS.get(name, "step.gate"))
    linear = next(one for one in layer.modules() if isinstance(one, nn.Linear))
    with torch.set_grad_enabled(training):
        plain = model(batch).logits
        CHANGES[change](linear)
        changed = model(batch).logits
        model.by_hand = False
        torch.testing.assert_close(changed, model(batch).logits, rtol=1e-12, atol=1e-14)
    assert not torch.allclose(changed, plain)


@pytest.mark.parametrize(
    ("name", "changed"), [*((name, {}) for name in MODELS), ("hop_attention", {"log_scale": 0.3})]
)
def test_gradients_by_torch_func(name: str, changed: dict[str, float]) -> None:
    model, batch = make(sample_trial(name, dropout=0.0, **changed)).train(), sample_batch(4)
    parameters = dict(model.named_parameters())
    options = {"loop": "cap"} if hasattr(model, "all_steps") else {}

    def loss(parameters: dict[str, Tensor]) -> Tensor:
        prediction = torch.func.functional_call(model, parameters, (batch,), options)
        return model.objective(prediction, batch.labels)

    gradients = torch.func.grad(loss)(parameters)
    model.objective(model(batch), batch.labels).backward()
    for key, parameter in parameters.items():
        torch.testing.assert_close(gradients[key], parameter.grad, rtol=1e-10, atol=1e-12)


@EVERY_MODEL
@pytest.mark.parametrize(("training", "by_hand"), [(True, True), (True, False), (False, True)])
def test_second_derivatives_and_graphs_used_twice(name: str, training: bool, by_hand: bool) -> None:
    """Second derivatives are those of plain PyTorch; the message names a remedy that works."""
    model, batch = make(sample_trial(name)).train(training), sample_batch(4)
    model.by_hand = by_hand
    logits, weight = model(batch).logits, model.words.projection.weight
    assert is_by_hand(logits) is (training and by_hand)
    objective, weights = model.objective(model(batch), batch.labels), [*model.parameters()]
    first = torch.autograd.grad(objective, weights, retain_graph=True)
    assert all(map(torch.equal, first, torch.autograd.grad(objective, weights)))
    (gradient,) = torch.autograd.grad(logits.square().sum(), weight, create_graph=True)
    if training and by_hand:
        with pytest.raises(RuntimeError, match=r"set model\.by_hand = False before the forward"):
            torch.autograd.grad(gradient.sum(), weight)
    else:
        assert bool(torch.autograd.grad(gradient.sum(), weight)[0].abs().sum() > 0)


@EVERY_MODEL
def test_mixed_precision_is_by_plain_pytorch(name: str) -> None:
    model, batch = make(sample_trial(name, dropout=0.0)).float().train(), sample_batch(6)
    expected = model(batch).logits
    with torch.autocast("cpu", dtype=torch.bfloat16):
        prediction = model(batch)
    model.objective(prediction, batch.labels).backward()
    torch.testing.assert_close(prediction.logits.float(), expected, rtol=0.1, atol=0.1)
