"""Updates by graphs give what updates operation by operation give; only the capture needs CUDA."""

import pytest
import torch

from actmodels.data.pairs import FILLER
from actmodels.packed.batches import shared_batch
from actmodels.packed.graphs import LADDER, GraphedUpdates, bucketed
from actmodels.packed.training import PackTraining
from tests.actmodels.packed.test_pack_training import UNLIKE, data, difference, trials
from tests.samples import sample_batch

UNLIKE_BIASES = [
    {**own, "halting_bias": bias} for own, bias in zip(UNLIKE, (-3.0, 2.0, -1.0, 0.0), strict=True)
]


def furthest(name: str, device: str, *, double: bool) -> float:
    """Two epochs of 101 pairs, so that the last batch is filled up; one step count is the cap."""
    source, configs = data(101, double=double), trials(name, UNLIKE_BIASES)
    packs = [PackTraining(configs, source, device, graphs=graphs) for graphs in (False, True)]
    for pack in packs:
        pack.run_epoch(), pack.run_epoch()
    return max(difference(*both) for both in zip(*(p.members for p in packs), strict=True))


@pytest.mark.parametrize(
    "name",
    ["adaptive_attention", "adaptive_attention_target_steps", "decomposable_attention"],
)
def test_as_updates_operation_by_operation(name: str, in_double: None) -> None:
    assert furthest(name, "cpu", double=True) < 1e-11


def test_one_that_diverges_stands_still(in_double: None) -> None:
    source, configs = data(60), trials("adaptive_attention", UNLIKE_BIASES)
    packs = [PackTraining(configs, source, graphs=graphs) for graphs in (False, True)]
    for pack in packs:
        with torch.no_grad():
            pack.members[1].model.classify.weight.fill_(float("nan"))
        pack.run_epoch()
        assert [member.diverged for member in pack.members] == [False, True, False, False]
    for number in (0, 2, 3):
        assert difference(packs[0].members[number], packs[1].members[number]) < 1e-11


def test_buckets() -> None:
    batch = shared_batch(sample_batch(6), 2)
    padded = bucketed(batch, 8)
    assert padded.premise.shape[-1] % 4 == 0 and padded.premise.shape[:2] == (2, 8)
    assert (padded.labels[:, 6:] == FILLER).all() and padded.premise_mask.any(dim=-1).all()
    assert not padded.premise_mask[..., batch.premise.shape[-1] :].any()


def test_the_ladder_ends_at_the_cap_and_is_climbed_only_as_far_as_needed(
    in_double: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = PackTraining(trials("adaptive_attention", max_steps=9), data(60), graphs=True)
    seen: set[GraphedUpdates] = set()
    run = GraphedUpdates.run
    monkeypatch.setattr(GraphedUpdates, "run", lambda *given: seen.add(given[0]) or run(*given))
    pack.run_epoch()
    (updates,) = seen
    assert updates.ladder == (*(n for n in LADDER if n < 9), 9)
    tried = {steps for _, _, steps in updates.captured}
    needed = max(member.history[0].train_mean_steps for member in pack.members)
    assert max(tried) >= needed
    assert set(updates.apply) <= set(updates.captured)


@pytest.mark.gpu
def test_captured_on_cuda() -> None:
    assert furthest("adaptive_attention", "cuda", double=False) < 1e-4
