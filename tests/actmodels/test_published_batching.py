"""The 2016 code's batches: buckets, file order, no masks, incomplete batches dropped."""

import pytest
import torch

from actmodels.data.pairs import FIRST_WORD, Batch, PairTensors, collate
from actmodels.errors import DataError
from actmodels.models.pair_model import PairModel
from actmodels.published_2016 import BUCKETS, rows_by_bucket
from actmodels.training import evaluate
from tests import model_checks
from tests.actmodels.test_published_2016 import twin
from tests.samples import CLASSES, MODELS, sample_pairs, sample_trial

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
