"""What counts as corrected, spoiled and so on, in traces made by hand."""

import pytest

from actmodels.rows.pairs import OUTCOMES
from pipeline.measures.outcomes import outcome, summarise

N, E, C = "neutral", "entailment", "contradiction"


@pytest.mark.parametrize(
    ("expected", "label", "classes", "answer"),
    [
        ("corrected", E, [N, E], E),
        ("corrected", E, [N, N, C], E),  # the mean state may be right though no state is
        ("spoiled", E, [E, N], N),
        ("spoiled", E, [E, E], C),
        ("spoiled", E, [E, N, E], N),
        ("right_throughout", C, [C], C),
        ("right_throughout", C, [C, C, C], C),
        ("wrong_throughout", C, [N], N),
        ("wrong_throughout", C, [N, E, N], E),  # from one wrong class to another
        ("changed_in_between", C, [C, N, C], C),
        ("changed_in_between", C, [C, C, N], C),  # the last state alone is wrong
        ("changed_in_between", C, [N, C, E], E),
        ("changed_in_between", C, [N, C], N),
    ],
)
def test_the_rule(expected: str, label: str, classes: list[str], answer: str) -> None:
    assert outcome(label, classes, answer) == expected


def line(seed: int, label: str, classes: list[str], answer: str) -> dict[str, object]:
    return {
        **{"model": "adaptive_attention", "seed": seed, "label": label, "predicted": answer},
        **{"outcome": outcome(label, classes, answer), "trace": [{"class": c} for c in classes]},
    }


def test_counts_by_seed() -> None:
    lines = [
        *(line(1, E, [N, E], E), line(1, E, [N, C], E), line(1, E, [E, N], N)),
        *(line(1, E, [E], E), line(1, C, [C, N, C], C)),
        line(2, E, [N, E, N], N),
    ]
    found = summarise(lines)["adaptive_attention"]
    assert list(found) == ["seed_1", "seed_2"]
    assert found["seed_1"] == {
        **{"pairs": 5, "right_after_step_1": 3, "right": 4},
        **{"corrected": 2, "spoiled": 1, "right_throughout": 1, "wrong_throughout": 0},
        "changed_in_between": 1,
    }
    assert found["seed_2"] == {
        **{"pairs": 1, "right_after_step_1": 0, "right": 0},
        **dict.fromkeys(OUTCOMES, 0),
        "changed_in_between": 1,
    }


def test_what_was_gained_is_what_was_corrected_less_what_was_spoiled() -> None:
    """Over all traces of one or two steps with every answer."""
    labels = (N, E, C)
    traces = [[a] for a in labels] + [[a, b] for a in labels for b in labels]
    lines = [line(1, E, classes, answer) for classes in traces for answer in labels]
    (counts,) = summarise(lines)["adaptive_attention"].values()
    assert sum(counts[name] for name in OUTCOMES) == counts["pairs"] == len(lines)
    gained = counts["right"] - counts["right_after_step_1"]
    assert gained == counts["corrected"] - counts["spoiled"]


def test_nothing_traced_is_nothing_counted() -> None:
    assert summarise([]) == {}
