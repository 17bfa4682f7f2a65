"""The answers of one network by exit rule, against slow loops."""

from types import SimpleNamespace

import pytest
import torch

from actmodels.data.pairs import collate
from actmodels.models.alternating import AlternatingAttention
from actmodels.training import evaluate
from studies.multihop.exits import evaluate_all_steps, evaluate_halted, exits, multiply_adds
from studies.multihop.training import MultihopTraining
from tests.studies.multihop.samples import multihop_trial, sample_multihop_data

RULES = SimpleNamespace(confidence=[0.4, 0.9999], patience=[2], change=[0.3], unit=[0.3])


def slow_exits(
    probabilities: list[list[float]], states: list[list[float]], units: list[float], hops: int
) -> list[int]:
    """Return the step of each rule of one pair: hops, confidence, patience, change, unit."""
    classes, last = [row.index(max(row)) for row in probabilities], len(states)
    taken = [min(hops, last)]
    for threshold in RULES.confidence:
        sure = [n for n, row in enumerate(probabilities, 1) if max(row) >= threshold]
        taken.append(sure[0] if sure else last)
    same = [n for n in range(2, last + 1) if classes[n - 1] == classes[n - 2]]
    taken.append(same[0] if same else last)
    moves = [(torch.tensor(states[n - 2]), torch.tensor(states[n - 1])) for n in range(2, last + 1)]
    still = [n for n, (a, b) in enumerate(moves, 2) if (b - a).norm() <= 0.3 * b.norm()]
    taken.append(still[0] if still else last)
    halts = [n for n, unit in enumerate(units, 1) if unit >= RULES.unit[0]]
    return [*taken, halts[0] if halts else last]


@pytest.mark.parametrize("model", ["hop_attention_dact", "hop_attention_fixed_steps"])
def test_exits_against_a_slow_loop(model: str) -> None:
    config, data = multihop_trial(model), sample_multihop_data()
    made = MultihopTraining(config, data).model
    assert isinstance(made, AlternatingAttention)
    halted = evaluate(made, data.dev, config.input)
    steps = evaluate_all_steps(made, data.dev, config.input, 7)
    hops = data.dev.depths[steps.halted.rows]
    alone = evaluate_halted(made, data.dev, config.input, 7)
    torch.testing.assert_close(alone.logits, steps.halted.logits)
    torch.testing.assert_close(alone.steps, steps.halted.steps)
    again = evaluate(made, data.dev, config.input)  # the model keeps its own maximum of steps
    torch.testing.assert_close(again.logits, halted.logits, rtol=0, atol=0)
    torch.testing.assert_close(again.steps, halted.steps)
    fixed = model.endswith("fixed_steps")
    if fixed:  # it halts as before: max_steps is of the exit rules alone
        torch.testing.assert_close(steps.halted.logits, halted.logits)
        assert steps.halted.steps is not None and set(steps.halted.steps.tolist()) == {3.0}
    results = exits(steps, hops, RULES)
    names = ["hops", "confidence 0.4", "confidence 0.9999", "patience 2", "change 0.3", "unit 0.3"]
    batch = collate(data.dev, steps.halted.rows, null_token=False)
    with torch.no_grad():
        states, units = (run := made.all_steps(batch, 7)).states, run.probabilities
        probabilities = torch.softmax(made.classify(states), dim=-1)
    for row, taken in enumerate(
        slow_exits(*each)
        for each in zip(*(t.tolist() for t in (probabilities, states, units, hops)), strict=True)
    ):
        assert [int(results[name].steps[row]) for name in names] == taken  # type: ignore[index]
        for name, step in zip(names, taken, strict=True):
            torch.testing.assert_close(
                results[name].logits[row].softmax(0), probabilities[row, step - 1]
            )
    for depth in hops.unique().tolist():
        right = (probabilities.argmax(dim=-1) == batch.labels[:, None])[hops == depth]
        best = (results["best k"].predictions == results["best k"].labels)[hops == depth]
        assert best.double().mean() == right.double().mean(dim=0).max()


@pytest.mark.parametrize(("mechanism", "halting"), [("", 8), ("_confidence_exit", 0)])
def test_multiply_adds_by_hand(mechanism: str, halting: int) -> None:
    """Scores, value, gate, halting and classifier of one pair of width 8 and gate size 7."""
    config, data = multihop_trial(f"hop_attention{mechanism}"), sample_multihop_data()
    made = MultihopTraining(config, data).model
    _, step = multiply_adds(made, data.dev, 0, config.input)
    row = slice(*data.dev.premise_offsets[:2].tolist())
    words = len({*data.dev.premise_ids[row].tolist(), *data.dev.hypothesis_ids[:4].tolist(), 0})
    query, gate, classifier = 8 * 8, 7 * 32 + 8 * 7, 8 * 24 + 3 * 8
    assert step == 2 * 3 * words * 8 + query + gate + halting + classifier
