"""Steps and losses against length, depth and difficulty: exact values, coverage of intervals."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from actmodels.training import Evaluation
from pipeline.statistics.paired import estimate, split_hits
from pipeline.statistics.step_correlation import (
    agreement_rows,
    annotations,
    contrasted,
    correlated,
    correlation,
    correlation_rows,
    difficulty_rows,
    effort,
    length_rows,
    mean_lengths,
    ranks,
)
from tests.pipeline.project import transcribe
from tests.samples import sample_pairs

NAME = {"model": "m", "seed": 1}


def evaluation(rows: list[int], steps: list[float] | None) -> Evaluation:
    taken = None if steps is None else torch.tensor(steps)
    index = torch.tensor(rows)
    return Evaluation(index, torch.zeros(len(rows), 3), torch.zeros(len(rows)).long(), taken, None)


def test_lengths_are_means_of_both_sentences() -> None:
    pairs = sample_pairs(4)
    words = (
        (pairs.premise_ids, pairs.premise_offsets),
        (pairs.hypothesis_ids, pairs.hypothesis_offsets),
    )
    first, second = ([len(part) for part in ids.tensor_split(at[1:-1])] for ids, at in words)
    assert mean_lengths(pairs).tolist() == [(a + b) / 2 for a, b in zip(first, second, strict=True)]


def test_correlations_and_joint_counts(golden: Callable[..., None]) -> None:
    """Depth 0 is not recorded; length by length they are counts of the pairs scored."""

    def rows(
        depths: list[int], scored: list[int], steps: list[float] | None, of: Any = correlation_rows
    ) -> list[str]:
        pairs = replace(sample_pairs(len(depths)), depths=torch.tensor(depths))
        found = of(NAME, evaluation(scored, steps), pairs)
        return [
            ", ".join(f"{k} {round(v, 6) if isinstance(v, float) else v}" for k, v in row.items())
            for row in found
        ]

    names = {"rows": rows, "length_rows": length_rows}
    names |= {"lengths": lambda count: mean_lengths(sample_pairs(count)).tolist()}
    transcribe(golden, "step_correlation.txt", names)


def test_correlations_are_those_of_scipy() -> None:
    from scipy.stats import pearsonr, rankdata, spearmanr

    random = torch.Generator().manual_seed(1)
    steps = torch.randint(1, 6, (200,), generator=random).double()
    other = steps + torch.randint(0, 9, (200,), generator=random)
    assert ranks(steps).tolist() == rankdata(steps).tolist()
    found = correlation(steps, other), correlation(ranks(steps), ranks(other))
    expected = [measure(steps, other).statistic for measure in (pearsonr, spearmanr)]
    assert found == pytest.approx(expected, abs=1e-14)
    assert correlation(steps, torch.ones(200)) is None


LABELS = [["e"] * 5, ["e", "n", "e", "e", "c"], ["e"] * 4, ["n", "n", "n", "c", "c"]]


def test_annotators_agree_or_not() -> None:
    """Of 5, 3 and 3 labels; four are too few. Entropies: 0, and of 3/5, 1/5, 1/5 and 3/5, 2/5."""
    found = annotations(LABELS)
    assert found is not None and found.annotators == 5
    np.testing.assert_array_equal(found.agreement, [5, 3, np.nan, 3])
    np.testing.assert_allclose(found.entropy, [0, 0.950271, np.nan, 0.673012], atol=1e-6)
    assert annotations([["e"], []]) is None and annotations([]) is None


def test_accuracy_steps_and_loss_by_agreement() -> None:
    logits = torch.zeros(3, 3).index_fill(1, torch.tensor([1]), 1.0)  # class 1 everywhere
    scored, labels = torch.tensor([0, 1, 3]), torch.tensor([1, 1, 0])
    result = Evaluation(scored, logits, labels, torch.tensor([2.0, 3.0, 5.0]), None)
    steps, losses = effort(result, 4)
    np.testing.assert_array_equal(steps, [2, 3, np.nan, 5])
    right, wrong = (float(np.log(2 + np.e)) - score for score in (1, 0))
    np.testing.assert_allclose(losses, [right, right, np.nan, wrong], rtol=1e-6)
    measured = (split_hits(result, 4), steps, losses)
    rows = agreement_rows(NAME, *measured, annotations(LABELS))
    assert [tuple(row.values())[2:7] for row in rows] == [(3, 5, 2, 0.5, 4.0), (5, 5, 1, 1.0, 2.0)]
    assert rows[0]["mean_loss"] == pytest.approx((right + wrong) / 2)
    assert agreement_rows(NAME, *measured, None) == []


def test_means_are_pearsons_r_and_differences() -> None:
    generator = np.random.default_rng(1)
    x, y = generator.normal(size=(3, 50)), generator.normal(size=50)
    expected = [np.corrcoef(seed, y)[0, 1] for seed in x]
    values = correlated(x, y)
    assert values is not None
    np.testing.assert_allclose(values.mean(axis=1), expected)
    values = contrasted(x, y < 0, y > 1)
    assert values is not None
    np.testing.assert_allclose(
        values.mean(axis=1), x[:, y < 0].mean(axis=1) - x[:, y > 1].mean(axis=1)
    )
    assert correlated(np.ones((1, 50)), y) is None and correlated(x, np.ones(50)) is None
    assert contrasted(x, y < 0, y > 99) is None


def test_intervals_of_r_and_of_differences_cover_the_truth() -> None:
    """r = 0.6 and a difference of 1 over pairs; seeds have no effect: 95 % or slightly more."""
    generator, covered = np.random.default_rng(1), np.zeros(2)
    for _ in range(400):
        y = generator.normal(size=120)
        x = (0.6 * y + 0.8 * generator.normal(size=120))[None]
        groups, low = np.arange(120), np.arange(120) < 40
        for number, (values, truth) in enumerate(
            ((correlated(x, y), 0.6), (contrasted(x + low, low, ~low), 1.0))
        ):
            assert values is not None
            test = estimate(values, groups)
            covered[number] += test.low <= truth <= test.high
    assert (covered / 400 > 0.92).all() and (covered / 400 < 0.98).all()


def test_tests_of_adaptive_models_and_of_the_first_other_one() -> None:
    pairs = replace(sample_pairs(4), depths=torch.tensor([1, 2, 2, 3]))
    steps, losses = np.array([1.0, 2.0, 4.0, 3.0]), np.array([0.1, 0.9, 0.4, 0.5])
    models = ("decomposable_attention", "adaptive_attention", "lstm_encoders")
    arguments = (
        {"adaptive_attention": {1: steps, 2: steps}},
        {model: {1: losses, 2: losses} for model in models},
    )
    rows = [*difficulty_rows(*arguments, pairs, annotations(LABELS), np.arange(4))]
    assert [(row["model"][0], row["measure"], row["against"]) for row in rows] == [
        *(("d", "loss", against) for against in ("depth", "entropy", "agreement")),
        *(("a", "steps", against) for against in ("depth", "entropy", "agreement", "loss")),
    ]
    assert rows[2]["difference"] == pytest.approx((0.9 + 0.5) / 2 - 0.1)
    assert rows[3]["difference"] == pytest.approx(np.corrcoef(steps, [1, 2, 2, 3])[0, 1])
    assert (rows[5]["pairs"], rows[6]["pairs"], rows[6]["seeds"]) == (3, 4, 2)
    without = replace(pairs, depths=torch.tensor([0, 1, 1, 2]))  # not recorded for every pair
    assert [row["against"] for row in difficulty_rows(*arguments, without, None, np.arange(4))] == [
        "loss"
    ]
