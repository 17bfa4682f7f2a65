"""The 2016 code's deviations and batches against slow transcriptions of what that code did."""

from typing import Any

import pytest
import torch
from torch import Tensor

from actmodels.data.pairs import FIRST_WORD, Batch, PairTensors, collate
from actmodels.errors import DataError
from actmodels.halting.steps import truncate
from actmodels.models.pair_model import PairModel
from actmodels.modules.attention import SoftAlignment
from actmodels.published_2016 import BUCKETS, ScrambledAlignment, batch_remainder, rows_by_bucket
from actmodels.training import Training, evaluate
from tests import model_checks
from tests.samples import CLASSES, MODELS, sample_batch, sample_data, sample_pairs, sample_trial

SHARED = ("scrambled_alignment", "no_mask", "file_order_batches", "dropped_last_batches")
SWITCHES = {
    "decomposable_attention": SHARED,
    "adaptive_attention": (*SHARED, "compounding_dropout", "batch_remainder", "no_ponder_cost"),
}
SINGLE = [(name, switch) for name, switches in SWITCHES.items() for switch in switches]


def twin(name: str, **settings: Any) -> Any:
    """The model as published, with all switches off except those in `settings`."""
    return model_checks.make(sample_trial(f"{name}_as_published", **settings))


def correct(name: str, **settings: Any) -> Any:
    return model_checks.make(sample_trial(name, **settings))


def trained_step(model: PairModel) -> Tensor:
    """Logits of a training step, with dropout drawn from one seed."""
    torch.manual_seed(5)
    return model.train()(sample_batch(6)).logits


@pytest.mark.parametrize("name", SWITCHES)
def test_all_off_is_the_correct_model_to_the_bit(name: str) -> None:
    histories = [
        [epoch.result() for epoch in Training(sample_trial(model), sample_data()).epochs()]
        for model in (name, f"{name}_as_published")
    ]
    assert histories[0] == histories[1]


@pytest.mark.parametrize(("name", "switch"), SINGLE)
def test_a_switch_changes_only_its_own_behavior(name: str, switch: str) -> None:
    changed, model = twin(name, dropout=0.3, **{switch: True}), correct(name, dropout=0.3)
    batch, pairs = sample_batch(6), sample_pairs(30)
    loop = (
        {"loop": "until_halted"} if hasattr(model, "all_steps") else {}
    )  # of both, for equal bits
    logits = torch.equal(changed(batch, **loop).logits, model(batch, **loop).logits)
    assert logits == (switch not in ("scrambled_alignment", "no_mask", "batch_remainder"))
    dropped_out = torch.equal(trained_step(changed), trained_step(model))
    assert dropped_out == (logits and switch != "compounding_dropout")
    prediction = model(batch)
    objectives = [m.objective(prediction, batch.labels) for m in (changed, model)]
    assert torch.equal(*objectives) == (switch != "no_ponder_cost")
    assert (changed.ponder_weight == model.ponder_weight) == (switch != "no_ponder_cost")
    epochs = [
        [b.tolist() for b in m.batches(pairs, 8, torch.Generator().manual_seed(1))]
        for m in (changed, model)
    ]
    assert (epochs[0] == epochs[1]) == (
        switch not in ("file_order_batches", "dropped_last_batches")
    )
    state, expected = changed.state_dict(), model.state_dict()
    assert list(state) == list(expected)
    assert all(torch.equal(state[key], expected[key]) for key in state)


def slow_alignment(
    alignment: SoftAlignment, premise: Tensor, hypothesis: Tensor, masks: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """beta and alpha of the 2016 code, position by position."""
    count, longest, other = len(premise), premise.shape[1], hypothesis.shape[1]
    beta, alpha = torch.zeros_like(premise), torch.zeros_like(hypothesis)
    for b in range(count):
        scores = alignment.attend(premise[b]) @ alignment.attend(hypothesis[b]).T
        for p in range(longest):
            weights = scores[p].masked_fill(~masks[1][b], float("-inf")).softmax(0)
            for h in range(other):
                beta[b, p] += weights[h] * hypothesis[(b * longest + p) % count, h]
        for h in range(other):
            weights = scores[:, h].masked_fill(~masks[0][b], float("-inf")).softmax(0)
            for p in range(longest):
                alpha[b, h] += weights[p] * premise[(b * other + h) % count, p]
    return beta, alpha


@pytest.mark.parametrize(
    ("count", "longest", "other"), [(4, 7, 5), (5, 3, 3), (2, 4, 6), (8, 3, 2)]
)
def test_scrambled_alignment_against_a_slow_loop(count: int, longest: int, other: int) -> None:
    alignment = SoftAlignment(6, 6, 0.0).double()
    premise = torch.randn(count, longest, 6, dtype=torch.float64)
    hypothesis = torch.randn(count, other, 6, dtype=torch.float64)
    masks = torch.rand(count, longest) < 0.7, torch.rand(count, other) < 0.7
    for mask in masks:
        mask[:, 0] = True
    scrambled = ScrambledAlignment(alignment)(premise, hypothesis, *masks)
    for sums, expected in zip(
        scrambled, slow_alignment(alignment, premise, hypothesis, masks), strict=True
    ):
        torch.testing.assert_close(sums, expected)


def slow_batch_remainder(
    probabilities: list[list[float]], epsilon: float
) -> tuple[list[list[float]], list[float], list[int]]:
    """Weights, remainders and steps N of a batch, as a loop over steps with one mask."""
    count, cap = len(probabilities), len(probabilities[0])
    total, counter = [0.0] * count, [0] * count
    below = [True] * count
    weights = [[0.0] * cap for _ in range(count)]
    for n in range(cap):
        step = [row[n] for row in probabilities]
        below = [c + h < 1 - epsilon and m for c, h, m in zip(total, step, below, strict=True)]
        total = [c + h * m for c, h, m in zip(total, step, below, strict=True)]
        counter = [k + m for k, m in zip(counter, below, strict=True)]
        if not any(below) or n == cap - 1:
            for b in range(count):
                weights[b][n] = 1 - total[b]
            break
        for b in range(count):
            weights[b][n] = step[b] * below[b]
    # the counter leaves out the crossing step; the cap stops the others at step `cap`
    return weights, [1 - c for c in total], [min(k + 1, cap) for k in counter]


@pytest.mark.parametrize("scale", [0.05, 0.15, 0.6, 1.0])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_batch_remainder_against_a_slow_loop(scale: float, count: int) -> None:
    for _ in range(20):
        probabilities = torch.rand(count, 9, dtype=torch.float64) * scale
        halted = batch_remainder(probabilities, 0.01)
        weights, remainders, steps = slow_batch_remainder(probabilities.tolist(), 0.01)
        torch.testing.assert_close(halted.weights, torch.tensor(weights, dtype=torch.float64))
        assert halted.remainder.tolist() == pytest.approx(remainders)
        assert halted.steps.tolist() == steps == truncate(probabilities, 0.01).steps.tolist()


@pytest.mark.parametrize(("bias", "cap"), [(1.0, 6), (-1.0, 6), (-3.0, 4)])
def test_the_model_classifies_the_state_that_the_batch_remainder_gives(
    bias: float, cap: int
) -> None:
    model = twin("adaptive_attention", batch_remainder=True, halting_bias=bias, max_steps=cap)
    batch = sample_batch(7)
    taken = model.all_steps(batch, cap)
    states, probabilities = taken.states, taken.probabilities
    weights, remainders, steps = slow_batch_remainder(probabilities.tolist(), 0.01)
    for prediction in (model(batch), model(batch, loop="cap")):
        for row in range(7):
            mean = sum(w * state for w, state in zip(weights[row], states[row], strict=True))
            torch.testing.assert_close(prediction.logits[row], model.classify(mean))
        assert prediction.steps.tolist() == steps
        costs = [n + r for n, r in zip(steps, remainders, strict=True)]
        assert prediction.ponder_cost.tolist() == pytest.approx(costs)


def test_compounding_dropout_keeps_ever_fewer_units() -> None:
    """After n steps at rate 0.2, 0.8^n of the units remain, scaled by 1.25^n; gates change."""
    model = twin("adaptive_attention", compounding_dropout=True, dropout=0.2, width=64)
    batch, seen = sample_batch(40), []
    whole = model.encode(batch)
    model.train()

    def watch(module: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
        seen.append(inputs[1:])

    with model.step.register_forward_pre_hook(watch):
        model.all_steps(batch, 5)
    assert len(seen) == 5
    for number, (memory, gates) in enumerate(seen[1:], start=2):
        before, gates_before = seen[number - 2]
        for side in ("premise", "hypothesis"):
            now, then = getattr(memory, side), getattr(before, side)
            kept = now != 0
            torch.testing.assert_close(now[kept], then[kept] * 1.25)
            share = kept.double().mean() / (then != 0).double().mean()
            assert float(share) == pytest.approx(0.8, abs=0.02)
        alive = float((memory.premise != 0).sum() / (whole.premise != 0).sum())
        assert alive == pytest.approx(0.8**number, abs=0.02)
        assert all(not torch.equal(a, b) for a, b in zip(gates, gates_before, strict=True))


PAIRS = sample_pairs(200, longest=25)


def pair_of(premise: int, hypothesis: int) -> PairTensors:
    sentences = [
        tensor
        for length in (premise, hypothesis)
        for tensor in (torch.arange(length) % 30 + FIRST_WORD, torch.tensor([0, length]))
    ]
    return PairTensors(*sentences, torch.tensor([1]), torch.tensor([0]), CLASSES)


def slow_batches(pairs: PairTensors, size: int) -> list[list[int]]:
    """Rows in batches, by the first bucket that both sentences fit in."""
    sides = (pairs.premise_offsets.diff().tolist(), pairs.hypothesis_offsets.diff().tolist())
    buckets: list[list[int]] = [[] for _ in range(len(BUCKETS) + 1)]
    for row, (premise, hypothesis) in enumerate(zip(*sides, strict=True)):
        fits = [n for n, (p, h) in enumerate(BUCKETS) if premise <= p and hypothesis <= h]
        buckets[min(fits, default=-1)].append(row)
    return [rows[n : n + size] for rows in buckets for n in range(0, len(rows), size)]


@pytest.mark.parametrize(
    ("lengths", "padded"),
    [
        *(((1, 1), (10, 5)), ((10, 5), (10, 5)), ((11, 5), (20, 10)), ((5, 6), (20, 10))),
        *(((25, 22), (40, 30)), ((2, 41), (82, 62)), ((82, 62), (82, 62))),
        *(((83, 3), (83, 3)), ((3, 63), (3, 63))),
    ],
)
@pytest.mark.parametrize("name", MODELS)
def test_a_pair_is_padded_to_its_bucket_with_pads_as_tokens(
    name: str, lengths: tuple[int, int], padded: tuple[int, int]
) -> None:
    """Against the correct model on a batch padded by hand, its masks all true."""
    batch = collate(pair_of(*lengths), torch.tensor([0]), null_token=False)
    premise, hypothesis = (torch.zeros(1, length, dtype=torch.long) for length in padded)
    premise[0, : lengths[0]] = batch.premise[0]
    hypothesis[0, : lengths[1]] = batch.hypothesis[0]
    by_hand = Batch(
        premise, premise == premise, hypothesis, hypothesis == hypothesis, batch.labels, batch.rows
    )
    model, changed = model_checks.make(sample_trial(name)), twin(name, no_mask=True)
    assert torch.equal(changed(batch).logits, model(by_hand).logits)
    if padded != lengths:
        assert not torch.allclose(changed(batch).logits, model(batch).logits)


def batches_of(model: PairModel, size: int, seed: int | None = None) -> list[list[int]]:
    generator = None if seed is None else torch.Generator().manual_seed(seed)
    return [rows.tolist() for rows in model.batches(PAIRS, size, generator)]


@pytest.mark.parametrize("name", MODELS)
def test_file_order_batches_keep_siblings_together(name: str) -> None:
    """Every epoch has the same batches in a different order; evaluation has them unshuffled."""
    model = twin(name, file_order_batches=True, evaluation_batch_size=7)
    expected = slow_batches(PAIRS, 7)
    epochs = [batches_of(model, 7, seed) for seed in (1, 2, 1)]
    assert epochs[0] == epochs[2] != epochs[1]
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(expected)
    assert epochs[0] != expected == batches_of(model, 256)


@pytest.mark.parametrize("size", [7, 16])
@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("seed", [3, None])
def test_dropped_batches_are_each_buckets_last_in_file_order(
    size: int, in_order: bool, seed: int | None
) -> None:
    switches = {"dropped_last_batches": True, "file_order_batches": in_order}
    model = twin("decomposable_attention", evaluation_batch_size=size, **switches)
    whole = [batch for batch in slow_batches(PAIRS, size) if len(batch) == size]
    kept = sorted(row for batch in whole for row in batch)
    batches = batches_of(model, size, seed)
    assert sorted(row for batch in batches for row in batch) == kept and all(batches)
    assert len(kept) == sum(len(r) // size * size for r in rows_by_bucket(PAIRS)) < len(PAIRS)
    assert not in_order or {len(batch) for batch in batches} == {size}


def test_dropping_all_pairs_is_an_error() -> None:
    model = twin("decomposable_attention", dropped_last_batches=True)
    with pytest.raises(DataError, match=r"drops all 200 pairs in batches of 201; reduce batch"):
        batches_of(model, 201, 1)


@pytest.mark.parametrize("name", MODELS)
def test_an_evaluation_names_the_rows_it_scored(name: str) -> None:
    """Logits, labels and steps are those of each batch, in the order of the split."""
    config = sample_trial(
        f"{name}_as_published", dropped_last_batches=True, scrambled_alignment=True
    )
    model = model_checks.make(config)
    result = evaluate(model, PAIRS, config.input, batch_size=50)
    rows = result.rows.tolist()
    assert rows == sorted(rows) and len(rows) < len(PAIRS)
    assert len(rows) == sum(len(r) // 8 * 8 for r in rows_by_bucket(PAIRS))
    assert torch.equal(result.labels, PAIRS.labels[result.rows])
    hits = 0
    for index in model.batches(PAIRS, 50):
        with torch.no_grad():
            prediction = model(collate(PAIRS, index, null_token=False))
        places = [rows.index(row) for row in index.tolist()]
        assert torch.equal(result.logits[places], prediction.logits)
        assert result.steps is None or torch.equal(result.steps[places], prediction.steps)
        hits += int((prediction.logits.argmax(1) == PAIRS.labels[index]).sum())
    assert result.accuracy == pytest.approx(hits / len(rows))
    chosen = result.logits.log_softmax(1).gather(1, result.labels[:, None])
    assert result.loss == pytest.approx(-chosen.mean().item())
    assert (result.steps is None) == (name == "decomposable_attention")


@pytest.mark.parametrize(
    ("settings", "size"),
    [({"compounding_dropout": True}, 50), ({"no_mask": True}, 8), ({"batch_remainder": True}, 8)],
)
def test_evaluation_batch_size_applies_if_predictions_depend_on_batches(
    settings: dict[str, bool], size: int
) -> None:
    model = twin("adaptive_attention", **settings)
    assert [len(batches_of(model, 50, seed)[0]) for seed in (None, 0)] == [size, 50]
