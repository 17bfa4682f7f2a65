"""Successive halving: decisions by hand, its files, and trials' keys."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from actmodels.records import EpochRecord
from tests.samples import MODELS, keyed, sample_trial
from tune.early_stopping import RungScores, SuccessiveHalving
from tune.storage import storage


def history(*accuracies: float) -> list[EpochRecord]:
    return [
        EpochRecord(n, 1, 0.3, None, None, None, 1.0, accuracy, None, None, None)
        for n, accuracy in enumerate(accuracies, start=1)
    ]


def rungs(folder: Path, keys: Sequence[str] = "abcdef", eta: int = 3, first: int = 1) -> RungScores:
    return RungScores(storage(folder), SuccessiveHalving(first, eta), {"m": keys, "n": "xyz"}, 9)


@pytest.mark.parametrize(
    ("score", "others", "promoted"),
    [
        (0.1, [], True),  # the first is compared with none
        (0.1, [0.2], False),  # one in three of two is one
        (0.2, [0.1, 0.1], True),
        (0.2, [0.3, 0.1, 0.1], True),  # one in three of four is two
        (0.2, [0.3, 0.25, 0.1], False),
        (0.3, [0.3, 0.3], True),  # equals
    ],
)
def test_the_top_share_is_promoted(score: float, others: list[float], promoted: bool) -> None:
    assert SuccessiveHalving(1, 3).is_promoted(score, [score, *others]) is promoted


def test_decisions_follow_the_order_of_arrival(tmp_path: Path) -> None:
    here = rungs(tmp_path)
    decisions = {}
    for key, accuracy in zip("abcd", (0.5, 0.4, 0.6, 0.7), strict=True):
        here.record(key, history(accuracy))
        decisions[key] = here.should_stop("m", key, 1)
    assert decisions == {"a": False, "b": True, "c": False, "d": False}
    # a, the first, would be stopped now; the first decision is kept
    assert not rungs(tmp_path).should_stop("m", "a", 1)


def test_a_score_is_the_best_so_far_and_only_rungs_count(tmp_path: Path) -> None:
    here = rungs(tmp_path)
    rungs(tmp_path, keys="g").record("g", history(0.9))  # of another grid
    here.record("x", history(0.9))  # of another model
    here.record("a", history(0.5, 0.9, 0.2))
    here.record("b", history(0.6, 0.6, 0.6))
    assert not here.should_stop("m", "b", 1)  # 0.6 against 0.5 after one epoch
    assert not here.should_stop("m", "a", 2)  # no rung
    assert [SuccessiveHalving(2, 4).rungs(epochs) for epochs in (1, 7, 8)] == [[], [2], [2, 8]]
    assert here.should_stop("m", "b", 3)  # 0.6 against 0.9 after three
    assert not here.should_stop("m", "a", 3)


def test_swapped_and_corrupt_scores_are_named_and_not_compared(tmp_path: Path) -> None:
    here = rungs(tmp_path, "ab")
    here.record("a", history(0.9))
    here.record("b", history(0.1))
    a, b = (tmp_path / "rungs" / "1" / f"{key}.json" for key in "ab")
    scores = a.read_bytes(), b.read_bytes()
    a.write_bytes(scores[1]), b.write_bytes(b'{"score": 0.99}')
    here.record("a", history(0.9))
    assert not here.should_stop("m", "a", 1)
    assert [note.partition(" has ")[0].partition(" is ")[0] for note in here.notes] == [
        *(str(a), str(b))
    ]
    assert here.notes[0].endswith("; quarantined as a.json.corrupt, this score is not compared")
    assert a.with_name("a.json.corrupt").read_bytes() == scores[1]


def test_the_best_is_never_stopped(tmp_path: Path) -> None:
    keys = [f"{n:03}" for n in range(60)]
    here = rungs(tmp_path, keys, eta=2)
    final = {}
    for place, key in enumerate(keys):
        accuracies = [math.sin(7 * place + epoch) for epoch in range(8)]
        for epochs in range(1, 9):
            here.record(key, history(*accuracies[:epochs]))
            final[key] = max(accuracies[:epochs])
            if here.should_stop("m", key, epochs):
                break
        else:
            final[key] += 10  # went to the end
    assert max(final.values()) > 10
    assert max(v - 10 for v in final.values() if v > 10) >= max(v for v in final.values() if v < 10)


def test_delete_removes_the_files_of_these_trials_only(tmp_path: Path) -> None:
    here, others = rungs(tmp_path), rungs(tmp_path, keys="g")
    here.record("a", history(0.5, 0.5, 0.5))
    others.record("g", history(0.5))
    for _ in range(2):
        here.delete()
        assert [path.name for path in tmp_path.rglob("*.json")] == ["g.json"]


def test_the_rule_is_part_of_the_key() -> None:
    config = [sample_trial(MODELS[0])]
    [plain] = keyed(config)
    rules = [None, SuccessiveHalving(1, 3), SuccessiveHalving(1, 4), SuccessiveHalving(2, 3)]
    keys = [keyed(config, early_stopping=rule)[0].key for rule in rules]
    assert keys[0] == plain.key
    assert len(set(keys)) == len(rules)
    assert "early_stopping" not in plain.origin
