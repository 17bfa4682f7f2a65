"""The curriculum: when depths join, and when steps begin to cost."""

import itertools

import pytest
import torch

from actmodels.data.pairs import FIRST_WORD
from actmodels.metrics import Metrics
from actmodels.records import best_epoch
from actmodels.seeding import generator
from studies.multihop.config import MultihopTrialConfig
from studies.multihop.training import MultihopTraining
from tests.model_checks import assert_resumed
from tests.studies.multihop.samples import multihop_trial, sample_multihop_data

METRICS = Metrics(0.0, 1.0, 1.0, 0.0, 1.0)


def training(trial: MultihopTrialConfig) -> MultihopTraining:
    return MultihopTraining(trial, sample_multihop_data())


def charged(one: MultihopTraining) -> bool:
    """Train an epoch; return whether steps had a cost."""
    one.train_epoch()
    return bool(one.model.halting.adds_ponder_cost)


def test_depths_join_when_the_last_is_learned_and_steps_cost_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one = training(multihop_trial(join_accuracy=0.9))
    right = one.data.dev.labels.clone()
    wrong = (right + 1) % 3

    def scored(labels: torch.Tensor) -> None:
        result = type("Result", (), {"predictions": labels, "labels": right, "metrics": METRICS})
        monkeypatch.setattr("studies.multihop.training.evaluate", lambda *_: result)
        one.dev_metrics()

    first_alone = torch.where(one.data.dev.depths == 1, right, wrong)
    scored(wrong)
    assert (one.depths_in_training, one.epochs_since_join) == (1, 0) and not charged(one)
    scored(first_alone)
    assert (one.depths_in_training, one.epochs_since_join) == (2, 0) and not charged(one)
    scored(first_alone)
    assert (one.depths_in_training, one.epochs_since_join) == (2, 1) and charged(one)


def test_the_next_depth_waits_for_the_last_one_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    one = training(multihop_trial(join_accuracy=0.5, max_hops=3))
    one.depths_in_training, right = 2, one.data.dev.labels
    labels = torch.where(one.data.dev.depths == 1, right, (right + 1) % 3)
    result = type("Result", (), {"predictions": labels, "labels": right, "metrics": METRICS})
    monkeypatch.setattr("studies.multihop.training.evaluate", lambda *_: result)
    one.dev_metrics()
    assert one.depths_in_training == 2


def test_pairs_are_new_and_of_the_joined_depths() -> None:
    one = training(multihop_trial(batch_size=64))
    batches = [*one.batches(generator("epoch", 1)), *one.batches(generator("epoch", 2))]
    assert len({batch.premise.numpy().tobytes() for batch in batches}) == 6
    assert all(batch.premise.shape == (64, 24) for batch in batches)


@pytest.mark.parametrize(("fresh", "count"), [("names", 18), ("names_and_rooms", 22)])
def test_fresh_words_have_new_vectors_at_each_update(fresh: str, count: int) -> None:
    """Dev has vectors of its own, and the test those of a new model: no update has seen either."""
    one = training(multihop_trial(fresh=fresh))
    vectors, seen = one.model.words.vectors, [one.model.words.vectors.clone()]
    seen += [vectors.clone() for _ in one.batches(generator("epoch", 1))]
    one.dev_metrics()
    for first, second in itertools.combinations([*seen, vectors], 2):
        changed = (first != second).any(dim=1).nonzero()[:, 0]
        assert changed.tolist() == [*range(FIRST_WORD, FIRST_WORD + count)]
    spread = float(vectors[FIRST_WORD : FIRST_WORD + count].std())
    assert spread == pytest.approx(one.config.input.oov_std, rel=0.2)
    again = training(one.config)
    again.dev_metrics()
    assert torch.equal(again.model.words.vectors, vectors)


def test_the_last_epoch_can_be_kept() -> None:
    """Its record says so, and the records of the run rank it first."""
    for keep in ("last", "best"):
        one = training(multihop_trial(keep=keep))
        assert_resumed(lambda config=one.config: training(config), 2)  # type: ignore[misc]
        accuracies = [record.dev_accuracy for record in one.epochs()]
        last = accuracies[-1] > max(accuracies[:-1]) or keep == "last"
        assert (best_epoch(one.history) is one.history[-1]) is last


def test_every_mechanism_but_ponder_net_starts_without_a_cost() -> None:
    for name in ("dact", "target_steps", "supervised_act", "ponder_net"):
        one = training(multihop_trial(f"hop_attention_{name}"))
        assert charged(one) is (name == "ponder_net")
        if name == "target_steps":
            assert float(one.model.ponder_weight or 0.0) == 0.0
