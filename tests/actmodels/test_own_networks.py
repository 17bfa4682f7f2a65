"""Networks of other people: states, losses, masks, budgets; and what is ambiguous."""

import itertools
import weakref
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from actmodels.halting import ActConfig, PonderNetConfig, adapt_steps
from actmodels.registry import HALTINGS, load_class
from tests.actmodels.outside import MECHANISMS, SIZE, build, parts

POOLING = ("act", "target_steps", "mlp_act", "change_act", "step_act", "dact", "fixed_steps")
LABELS = torch.tensor([1, 2, 0, 1, 2, 0])


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(7)


class Pair(NamedTuple):
    query: Tensor
    memory: Tensor


@dataclass
class Notes:
    query: Tensor
    memory: Tensor


def attended(query: Tensor, memory: Tensor, inputs: Tensor) -> tuple[Tensor, Tensor]:
    """A step on a query [batch, 8] and a memory [batch, slots, 8]."""
    over = torch.softmax((memory @ query[..., None]).squeeze(-1), dim=-1)
    read = (over[..., None] * memory).sum(dim=-2)
    return torch.tanh(query + read + inputs), memory + 0.1 * torch.tanh(query[..., None, :])


STRUCTURES: dict[str, tuple[Any, Any]] = {
    "tuple": (lambda q, m: (q, m), lambda s: s),
    "NamedTuple": (Pair, lambda s: s),
    "dict": (lambda q, m: {"query": q, "memory": m}, lambda s: (s["query"], s["memory"])),
    "dataclass": (Notes, lambda s: (s.query, s.memory)),
    "nested": (lambda q, m: [q, {"rest": (m, None)}], lambda s: (s[0], s[1]["rest"][0])),
}


@MECHANISMS
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize(("train", "compact"), [*itertools.product((True, False), repeat=2)])
def test_states_of_any_structure(name: str, structure: str, train: bool, compact: bool) -> None:
    """A batch gives what its examples give alone, with as many memory slots as examples, too."""
    make, take = STRUCTURES[structure]
    halting, classify = build(name).train(train), nn.Linear(SIZE, 3).double()
    query, memory, inputs = (torch.randn(*s, SIZE).double() for s in ((6,), (6, 6), (6,)))

    def run(rows: slice) -> Any:
        start = make(3 * query[rows], memory[rows])
        step = lambda state, inputs: make(*attended(*take(state), inputs))  # noqa: E731
        torch.manual_seed(3)
        with torch.set_grad_enabled(train):
            return adapt_steps(
                step,
                start,
                halting,
                lambda state: classify(take(state)[0]),
                inputs=inputs[rows],
                compact=compact,
            )

    together = run(slice(6))
    for row in range(6):
        alone = run(slice(row, row + 1))
        torch.testing.assert_close(together.logits[row], alone.logits[0])
        assert together.steps[row] == alone.steps[0]
        if alone.state is not None:
            assert type(together.state) is type(make(query, memory))
            for one, other in zip(take(together.state), take(alone.state), strict=True):
                torch.testing.assert_close(one[row], other[0])


@MECHANISMS
def test_images_are_read_whole(name: str) -> None:
    """States [batch, channels, height, width] with batch_dims=1, as wide as they have channels."""
    halting = build(name).eval()
    halting.reads_first_units = True
    step, images = nn.Conv2d(4, 4, 3, padding=1).double(), torch.randn(5, 4, 4, 4).double()
    head = nn.Linear(64, 3).double()
    options = {"batch_dims": 1, "inputs": torch.zeros(5)}
    classify = lambda state: head(state.flatten(-3))  # noqa: E731
    with torch.no_grad():
        whole = adapt_steps(lambda s, _: torch.tanh(step(s)), images, halting, classify, **options)
        flat = adapt_steps(
            lambda s: torch.tanh(step(s.view(-1, 4, 4, 4))).flatten(1),
            images.flatten(1),
            halting,
            head,
        )
    torch.testing.assert_close(whole.logits, flat.logits)
    assert torch.equal(whole.steps, flat.steps) and whole.steps.shape == (5,)


@pytest.mark.parametrize("bias", [-9.0, -1.0, 5.0])
@pytest.mark.parametrize("name", ["act", "ponder_net", "dact", "mlp_act", "correctness_exit"])
def test_the_halting_bias_is_that_of_the_settings(name: str, bias: float) -> None:
    of = HALTINGS[name]
    halting = load_class(of.halting)(of.settings(halting_bias=bias, max_steps=1000), SIZE)
    unit = halting.unit[-1] if name == "mlp_act" else halting.unit
    assert unit.linear.bias.item() == bias
    if name == "act" and bias > -9:  # from a zero state, 1 / sigmoid(bias) steps
        steps = adapt_steps(lambda s: s, torch.zeros(1, SIZE), halting, lambda s: s).steps.item()
        assert abs(steps - 1 / torch.sigmoid(torch.tensor(bias)).item()) <= 1


def test_numpy_scalars_are_numbers() -> None:
    np = pytest.importorskip("numpy")  # torch does not need it
    config = PonderNetConfig(prior_steps=np.float32(3), max_steps=np.int64(5))
    assert (type(config.prior_steps), type(config.max_steps)) == (float, int)
    assert config == PonderNetConfig(prior_steps=3.0, max_steps=5)
    with pytest.raises(ValueError, match=r"max_steps is .*0.*; must be at least 1"):
        ActConfig(max_steps=np.int64(0))
    with pytest.raises(ValueError, match=r"max_steps is .*; must be a whole number"):
        ActConfig(max_steps=np.float64(2.5))


def predicted(name: str, *, training: bool = False) -> tuple[Any, Any]:
    step, classify, _ = parts()
    halting = build(name).train(training)
    states = 3 * torch.randn(2, 3, SIZE).double()
    torch.manual_seed(3)
    return halting, adapt_steps(step, states, halting, classify, batch_dims=2)


def rows_of(prediction: Any, rows: Tensor) -> Any:
    return type(prediction)(*(None if part is None else part[rows] for part in prediction))


@MECHANISMS
def test_the_objective_is_of_the_examples_that_count(name: str) -> None:
    """By mask, ignored label, or weight 0; an example of weight 2 counts as two."""
    halting, prediction = predicted(name)
    labels, weights = LABELS.view(2, 3), torch.tensor([[2, 0, 1], [1, 1, 2]])
    objective, close, mask = halting.objective, torch.testing.assert_close, weights != 1
    alone = objective(rows_of(prediction, mask), labels[mask])
    close(objective(prediction, labels, mask=mask), alone)
    close(objective(prediction, labels, weights=mask.float()), alone)
    for ignored in (-100, -1, 2):
        mixed = torch.where(mask, labels, ignored)
        kept = mixed != ignored
        expected = objective(rows_of(prediction, kept), mixed[kept])
        close(objective(prediction, mixed, ignore_index=ignored), expected)
        loss = partial(functional.cross_entropy, ignore_index=ignored, reduction="none")
        if name != "correctness_exit":
            flat = flattened(prediction)
            by_loss = objective(flat, mixed.flatten(), loss, mask=kept.flatten())
            close(by_loss, expected)
        assert objective(prediction, 0 * labels + ignored, ignore_index=ignored).item() == 0
    twice = rows_of(flattened(prediction), torch.arange(6).repeat_interleave(weights.flatten()))
    expected = objective(twice, LABELS.repeat_interleave(weights.flatten()))
    for scale in (1, 0.01):  # a mean does not depend on the scale of its weights
        close(objective(prediction, labels, weights=scale * weights), expected)
    each = objective(prediction, labels, reduction="none")
    assert each.shape == (2, 3)
    close(each.mean(), objective(prediction, labels))
    close(each.sum(), objective(prediction, labels, reduction="sum"))


@pytest.mark.parametrize("name", ["confidence_exit", "patience_exit"])
def test_the_loss_of_an_exit_is_the_mean_of_its_steps(name: str) -> None:
    halting, prediction = predicted(name)
    both, steps = flattened(prediction), prediction.steps.flatten().int().tolist()
    assert len(set(steps)) > 1  # otherwise the test is void
    expected = []
    for row, (count, label) in enumerate(zip(steps, LABELS.tolist(), strict=True)):
        chances = both.step_logits[row, :count].softmax(-1)[:, label]
        expected.append(-sum(chance.log() for chance in chances) / count)
    value = halting.objective(both, LABELS)
    torch.testing.assert_close(value, torch.stack(expected).mean())


def flattened(prediction: Any) -> Any:
    return type(prediction)(*(None if p is None else p.flatten(0, 1) for p in prediction))


def pooled(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(outputs.mean(dim=1), targets, reduction="none")


@MECHANISMS
def test_a_pooled_loss(name: str) -> None:
    """One label for tokens: as an objective per sentence, or refused where each step has a loss."""
    halting, prediction = predicted(name)
    labels = torch.tensor([1, 2])
    if name not in (*POOLING, "random_steps", "fixed_point_exit"):
        with pytest.raises(ValueError, match=r"this mechanism weights the loss of each step"):
            halting.objective(prediction, labels, pooled)
        return
    each = halting.objective(prediction, labels, pooled, reduction="none")
    assert each.shape == (2,)
    torch.testing.assert_close(each.mean(), halting.objective(prediction, labels, pooled))


@MECHANISMS
@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("train", [True, False])
def test_each_example_has_its_budget(name: str, compact: bool, train: bool) -> None:
    """As alone with that number of steps at most."""
    step, classify, _ = parts()
    halting, budget = build(name).train(train), torch.tensor([1, 4, 2, 9, 3, 1])
    states, initial = 3 * torch.randn(6, SIZE).double(), halting.max_steps

    def run(rows: slice, most: Any) -> Any:
        with torch.set_grad_enabled(train):
            options = {"inputs": torch.zeros(6)[rows], "compact": compact, "max_steps": most}
            return adapt_steps(lambda s, _: step(s), states[rows], halting, classify, **options)

    together = run(slice(6), budget)
    assert bool((together.steps <= budget).all()) and halting.max_steps == initial
    for row in range(6):
        alone = run(slice(row, row + 1), int(budget[row]))
        torch.testing.assert_close(together.steps[row], alone.steps[0])
        torch.testing.assert_close(together.logits[row], alone.logits[0])
        if alone.ponder_cost is not None:
            torch.testing.assert_close(together.ponder_cost[row], alone.ponder_cost[0])
        steps = alone.weights.shape[1]
        torch.testing.assert_close(together.weights[row, :steps], alone.weights[0])


@MECHANISMS
@pytest.mark.parametrize("train", [True, False])
def test_halted_examples_leave_the_step(name: str, train: bool) -> None:
    """The step sees active rows alone; values and gradients are those of all rows."""
    step, classify, _ = parts()
    halting = build(name).train(train)
    states, inputs = 3 * torch.randn(40, SIZE).double(), torch.randn(40, SIZE).double()
    results, rows = [], []
    for compact in (True, False):
        rows.clear()

        def run(state: Tensor, inputs: Tensor) -> Tensor:
            rows.append(len(state))
            assert len(inputs) == len(state)
            return step(state + inputs)

        torch.manual_seed(3)
        with torch.set_grad_enabled(train):
            options = {"inputs": inputs, "compact": compact}
            prediction = adapt_steps(run, states, halting, classify, **options)
        results.append([prediction.logits, prediction.steps, prediction.weights])
        if train:
            modules = (step, classify, halting)
            for module in modules:
                module.zero_grad()
            halting.objective(prediction, torch.arange(40) % 3).backward()
            results[-1] += [p.grad for module in modules for p in module.parameters()]
        if compact and len(prediction.steps.unique()) > 1:
            assert rows[-1] < 40
            assert sum(rows) <= max(1.15 * prediction.steps.sum().item(), 40 * len(rows) * 0.9)
            if name == "act":  # up to a tenth of the rows may have halted and not been removed yet
                active = [int((prediction.steps > n).sum()) for n in range(len(rows))]
                most = [max(n / 0.9, n + 1) for n in active]
                assert all(a <= b <= c for a, b, c in zip(active, rows, most, strict=True))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_inference_does_not_keep_the_states() -> None:
    """Weak references to the states of earlier steps die."""
    step, classify, _ = parts(double=False)
    states: list[Any] = []

    def run(state: Tensor) -> Tensor:
        following = step(state)
        states.append(weakref.ref(following))
        return following

    for name in HALTINGS:
        states.clear()
        halting = build(name, double=False).eval()
        with torch.no_grad():
            adapt_steps(run, 3 * torch.randn(9, SIZE), halting, classify)
        assert not any(one() is not None for one in states), name


def test_the_target_is_that_of_the_examples_that_count() -> None:
    halting, prediction = predicted("target_steps")
    mask = torch.tensor([[True, False, True], [False, True, True]])
    halting.on_update_end(prediction, LABELS.view(2, 3), mask=mask)
    excess = prediction.steps[mask].mean() - halting.target
    torch.testing.assert_close(halting.multiplier, halting.rate * excess)
