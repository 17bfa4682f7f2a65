"""Selection by mean dev accuracy, and every tie rule."""

from dataclasses import replace
from typing import Any

import pytest

from actmodels.records import EpochRecord, TrialRecord
from pipeline.trials.selection import lost_models, select_best
from tests.samples import MODELS, sample_trial

ALL = ["dev_loss", "dev_mean_steps", "grid_order"]


def record(
    accuracy: float, *, model: str = MODELS[1], seed: int = 1, loss: float = 1.0, **more: Any
) -> TrialRecord:
    steps, parameters = more.pop("steps", 3.0), more.pop("parameters", 10)
    diverged = more.pop("diverged", False)
    config = sample_trial(model, seed=seed, **more).as_dict()
    worse = EpochRecord(1, 1, 0.3, 1, 0, 2, 9.0, accuracy - 0.1, 1, 0, 2)
    best = EpochRecord(2, 1, 0.3, steps, 0, 2, loss, accuracy, steps, 0, 2)
    key = f"{accuracy}-{seed}-{more}"
    return TrialRecord(key, config, parameters, (worse, best), {}, diverged)


def test_one_winner_per_model() -> None:
    records = [record(0.7, dropout=0.1), record(0.8, dropout=0.2), record(0.6, model=MODELS[0])]
    winners = select_best(records, ALL)
    assert list(winners) == [MODELS[1], MODELS[0]]
    assert winners[MODELS[1]].config.network.dropout == 0.2
    assert winners[MODELS[1]].considered == 2
    assert winners[MODELS[1]].tied == 1


def test_seeds_are_averaged_and_never_picked() -> None:
    """.9 and .5 average .7; .75 twice is better."""
    records = [
        record(0.9, seed=1, dropout=0.1),
        record(0.5, seed=2, dropout=0.1),
        record(0.75, seed=1, dropout=0.2),
        record(0.75, seed=2, dropout=0.2),
        record(0.9, seed=1, dropout=0.3),
        record(0.9, seed=2, dropout=0.3, diverged=True),  # one is enough
    ]
    winner = select_best(records, ALL)[MODELS[1]]
    assert winner.config.network.dropout == 0.2
    assert winner.dev_accuracy == pytest.approx(0.75)
    assert winner.dev_accuracy_sd == pytest.approx(0.0)
    assert len(winner.records) == 2


@pytest.mark.parametrize(
    ("ties", "winner"),
    [
        (["dev_loss", "grid_order"], 0.2),
        (["dev_mean_steps", "grid_order"], 0.3),
        (["parameters", "grid_order"], 0.4),
        (["grid_order"], 0.1),
    ],
)
def test_ties(ties: list[str], winner: float) -> None:
    records = [
        record(0.7, dropout=0.1, loss=1.0, steps=5.0, parameters=9),
        record(0.7, dropout=0.2, loss=0.9, steps=5.0, parameters=9),
        record(0.7, dropout=0.3, loss=1.0, steps=4.0, parameters=9),
        record(0.7, dropout=0.4, loss=1.0, steps=5.0, parameters=8),
    ]
    selected = select_best(records, ties)[MODELS[1]]
    assert selected.config.network.dropout == winner
    assert selected.tied == 4


@pytest.mark.parametrize("ties", [ALL, ["grid_order"]])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_diverged_configuration_ranks_below_all_others(place: int, ties: list[str]) -> None:
    """Whatever its accuracy, from an earlier epoch or with a loss of nan."""
    finite = [record(0.6, dropout=0.1), record(0.6, dropout=0.2, loss=1.1)]
    for diverged in (
        record(0.9, dropout=0.3, diverged=True),
        record(0.9, dropout=0.3, loss=float("nan")),
        record(0.6, dropout=0.3, loss=float("inf")),
    ):
        records = [*finite[:place], diverged, *finite[place:]]
        winner = select_best(records, ties)[MODELS[1]]
        assert winner.config.network.dropout == 0.1
        assert (winner.tied, winner.considered) == (2, 3)


def test_a_model_whose_trials_all_diverged_is_not_selected() -> None:
    """One sentence has its settings; a configuration with fewer diverged seeds is better."""
    records = [
        record(0.9, learning_rate=1e8, diverged=True),
        record(0.9, learning_rate=1e9, loss=float("nan")),
    ]
    other = [
        record(0.9, model=MODELS[0], seed=seed, dropout=dropout, diverged=diverged)
        for dropout, seeds in ((0.1, (True, True)), (0.2, (False, True)))
        for seed, diverged in zip((1, 2), seeds, strict=True)
    ]
    winners = select_best([*records, *other], ALL)
    assert list(winners) == [MODELS[0]]
    assert winners[MODELS[0]].config.network.dropout == 0.2
    assert lost_models([*records, *other]) == {
        MODELS[1]: f"{MODELS[1]}: all 2 trials diverged (optimizer adam, learning_rate "
        "100000000.0 1000000000.0, clip_norm 5.0); lower learning_rate"
    }


def test_a_mean_is_of_equal_epochs() -> None:
    """.9 after two epochs was .8 after one, where the other seed was stopped at .4: .6."""
    records = [
        stopped(record(0.9, seed=1, dropout=0.1), 2),
        stopped(record(0.5, seed=2, dropout=0.1), 1),
        *(stopped(record(0.7, seed=seed, dropout=0.2), 2) for seed in (1, 2)),
    ]
    assert not any(stopped(record(0.9, max_epochs=n), n).stopped for n in (1, 2))
    winner = select_best(records[:2], ALL)[MODELS[1]]
    assert winner.dev_accuracy == pytest.approx((0.8 + 0.4) / 2)
    assert select_best(records, ALL)[MODELS[1]].config.network.dropout == 0.2


def stopped(record: TrialRecord, epochs: int) -> TrialRecord:
    return replace(
        record, history=record.history[:epochs], provenance={"early_stopping": "successive_halving"}
    )
