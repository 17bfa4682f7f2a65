"""Successive halving: decisions by hand, its files, and trials' keys."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from actmodels.records import EpochRecord, TrialRecord
from tests.samples import MODELS, keyed, sample_trial
from tune.trials.early_stopping import RungScores, SuccessiveHalving
from tune.trials.stops import USER, end_text, with_end
from tune.trials.storage import storage


def history(*accuracies: float) -> list[EpochRecord]:
    return [
        EpochRecord(n, 1, 0.3, None, None, None, 1.0, accuracy, None, None, None)
        for n, accuracy in enumerate(accuracies, start=1)
    ]


def rungs(
    folder: Path, seeds: Sequence[Sequence[str]] = "abcdef", eta: int = 3, first: int = 1
) -> RungScores:
    """Configurations of one-letter keys, with one seed each or several."""
    rule = SuccessiveHalving(first, eta)
    return RungScores(storage(folder), rule, {"m": seeds, "n": "xyz"}, 10)


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
        decisions[key] = here.last_epoch("m", key)
    assert decisions == {"a": None, "b": 1, "c": None, "d": None}
    # a, the first, would be stopped now; the first decision is kept
    assert rungs(tmp_path).last_epoch("m", "a") is None


def test_a_score_is_the_best_so_far_and_only_rungs_count(tmp_path: Path) -> None:
    here = rungs(tmp_path)
    rungs(tmp_path, "g").record("g", history(0.9))  # another grid
    here.record("x", history(0.9))  # of another model
    here.record("a", history(0.5, 0.9, 0.2))
    here.record("b", history(0.6, 0.6, 0.6))
    assert [SuccessiveHalving(2, 4).rungs(epochs) for epochs in (1, 7, 8)] == [[], [2], [2, 8]]
    assert here.last_epoch("m", "b") == 3  # 0.6 against 0.5 after one epoch, 0.9 after three
    here.record("c", history(0.4, 0.9, 0.9))
    assert here.last_epoch("m", "c") == 1  # of 0.6 and 0.5 one went on


def test_seeds_are_judged_together_by_their_mean(tmp_path: Path) -> None:
    """.9 and .3 average .6, below .7 twice: both seeds end, also the one that went on meanwhile."""
    here = rungs(tmp_path, ["ab", "cd", "ef"])
    for key in "ab":
        here.record(key, history(0.7))
    here.record("c", history(0.9, 0.9, 0.9))
    assert [here.last_epoch("m", keys) for keys in ("ab", "cd")] == [None, None]  # d is missing
    here.record("d", history(0.3))
    assert here.last_epoch("m", "cd") == 1
    # a finished trial keeps its score at later rungs; a diverged one has 0
    here.record("a", history(0.7, 0.8), finished=True)
    here.record("b", history(0.7, 0.9, 0.9))
    assert here.last_epoch("m", "ab") is None
    here.record("e", history(0.9, 0.99), finished=True, diverged=True)
    here.record("f", history(0.9, 0.99, 0.99))
    assert here.last_epoch("m", "ef") == 3  # .9 after one epoch; (0 + .99) / 2 against .85


@pytest.mark.parametrize(("epochs", "stopped"), [(1, 1), (3, 3), (4, None), (10, None)])
def test_a_record_decides_for_its_seeds(tmp_path: Path, epochs: int, stopped: int | None) -> None:
    """Also if the files of the decision are lost: the other seed is .1, and ends with it or not."""
    here = rungs(tmp_path, ["ab", "cd"])
    config = sample_trial(MODELS[0], max_epochs=10, patience=0 if stopped else 2).as_dict()
    ended = tuple(history(*[0.9] * epochs))
    here.record_result(TrialRecord("c", config, 1, tuple(history(0.9)), {}))
    here.record_result(TrialRecord("d", config, 1, tuple(history(0.9)), {}))
    here.record_result(TrialRecord("a", config, 1, ended, {"early_stopping": "rule"}))
    here.record("b", history(*[0.1] * (epochs - 1 or 1)))
    assert here.last_epoch("m", "ab") == stopped


def test_a_trial_that_the_user_ended_does_not_end_its_other_seeds(tmp_path: Path) -> None:
    """Its accuracy is compared at later rungs, as after the patience."""
    here = rungs(tmp_path, ["ab", "cd"])
    config = sample_trial(MODELS[0], max_epochs=10).as_dict()
    origin = {"early_stopping": "rule"}
    record = with_end(TrialRecord("a", config, 1, tuple(history(0.9)), origin), USER)
    assert record.stopped and end_text(record) == "stopped by the user after epoch 1"
    here.record_result(record)
    here.record("b", history(0.7, 0.7, 0.7))
    assert here.last_epoch("m", "ab") is None
    for key in "cd":
        here.record(key, history(0.85, 0.85, 0.85))
    assert here.last_epoch("m", "cd") is None  # .85 against (.9 + .7) / 2


def test_a_diverged_trial_was_not_stopped() -> None:
    config = sample_trial(MODELS[0], max_epochs=10).as_dict()
    record = TrialRecord("a", config, 1, tuple(history(0.9)), {"early_stopping": "rule"})
    assert record.stopped and record.end == "stopped early after epoch 1"
    lost = replace(record, diverged=True)
    assert not lost.stopped and lost.end.startswith("diverged in epoch 1")


def test_swapped_and_corrupt_scores_are_named_and_not_compared(tmp_path: Path) -> None:
    here = rungs(tmp_path, "ab")
    here.record("a", history(0.9))
    here.record("b", history(0.1))
    a, b = (tmp_path / "rungs" / "1" / f"{key}.json" for key in "ab")
    scores = a.read_bytes(), b.read_bytes()
    a.write_bytes(scores[1]), b.write_bytes(b'{"score": 0.99}')
    here.record("a", history(0.9))
    assert here.last_epoch("m", "a") is None
    assert [note.partition(" has ")[0].partition(" is ")[0] for note in here.notes] == [
        *(str(a), str(b))
    ]
    assert here.notes[0].endswith("; quarantined as a.json.corrupt, this score is not compared")
    assert a.with_name("a.json.corrupt").read_bytes() == scores[1]


def test_the_best_is_never_stopped(tmp_path: Path) -> None:
    keys = [f"{n:03}" for n in range(60)]
    here = rungs(tmp_path, [[key] for key in keys], eta=2)
    final = {}
    for place, key in enumerate(keys):
        accuracies = [math.sin(7 * place + epoch) for epoch in range(8)]
        for epochs in range(1, 9):
            here.record(key, history(*accuracies[:epochs]))
            final[key] = max(accuracies[:epochs])
            if here.last_epoch("m", [key]):
                break
        else:
            final[key] += 10  # went to the end
    assert max(final.values()) > 10
    assert max(v - 10 for v in final.values() if v > 10) >= max(v for v in final.values() if v < 10)


def test_delete_removes_the_files_of_these_trials_only(tmp_path: Path) -> None:
    here, others = rungs(tmp_path), rungs(tmp_path, "g")
    here.record("a", history(0.5, 0.5, 0.5))
    others.record("g", history(0.5))
    for _ in range(2):
        here.delete("abcdef")
        assert [path.name for path in tmp_path.rglob("*.json")] == ["g.json"]


def test_the_rule_is_part_of_the_key() -> None:
    config = [sample_trial(MODELS[0])]
    [plain] = keyed(config)
    rules = [None, SuccessiveHalving(1, 3), SuccessiveHalving(1, 4), SuccessiveHalving(2, 3)]
    keys = [keyed(config, early_stopping=rule)[0].key for rule in rules]
    two = keyed([*config, sample_trial(MODELS[0], seed=2)], early_stopping=rules[1])
    assert keys[0] == plain.key
    assert len({*keys, two[0].key}) == len(rules) + 1  # compared by the mean of two seeds
    assert "early_stopping" not in plain.origin
