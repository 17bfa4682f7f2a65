"""Studies of fidelity and halting: their runs and points."""

import pytest

from studies.fidelity import stage as fidelity
from studies.halting import stage as halting
from tests.pipeline.trials.test_study import DA, params


def test_a_halting_mechanism_keeps_the_network(winners: None) -> None:
    """The settings of the study replace the common ones."""
    whole = params(halting={"seeds": [5]}, sweep={"settings": {"prior_steps": 3.0}})
    kinds = {"act": {"ponder_weight": [0.01, 0.001]}, "fixed_steps": {"steps": [2]}, "dact": {}}
    own = {"mechanisms": kinds | {"ponder_net": {}}, "settings": {"prior_steps": 7.0}}
    runs = halting.plan(whole, whole.halting.model_copy(update=own))
    assert [tuple(run.labels.values()) for run in runs] == [
        *(("act", "ponder_weight 0.01"), ("act", "ponder_weight 0.001")),
        *(("fixed_steps", "steps 2"), ("dact", "as set"), ("ponder_net", "as set")),
    ]
    assert runs[2].config.model == "adaptive_attention_fixed_steps"
    assert len({run.config.network for run in runs}) == 1
    assert runs[4].config.halting.prior_steps == 7.0


def test_collapse_is_counted_by_runs() -> None:
    row = {"kind": "act", "point": "p", "dev_accuracy": 0.5, "ponder_weight_end": 0.01}
    rows = [row | {"dev_mean_steps": steps} for steps in (1.0, 1.2, 3.0, 1.5)]
    [point] = halting.point_rows(rows, 1.5)
    assert (point["seeds"], point["collapsed"]) == (4, 0.5)
    assert point["mean_steps_mean"] == pytest.approx(1.675)


def test_a_deviation_trains_the_published_variant(winners: None) -> None:
    variants = {"corrected": {}, "scrambled": {"scrambled_alignment": True}}
    whole = params(fidelity={"seeds": [1, 2]})
    runs = fidelity.plan(whole, whole.fidelity.model_copy(update={"models": {DA: variants}}))
    assert [(run.labels["variant"], run.config.seed, run.config.model) for run in runs] == [
        *(("corrected", 1, DA), ("corrected", 2, DA)),
        *(("scrambled", 1, f"{DA}_as_published"), ("scrambled", 2, f"{DA}_as_published")),
    ]
    flat = runs[2].config.flat()
    assert (flat["scrambled_alignment"], flat["no_mask"], flat["dropout"]) == (True, False, 0.3)
    assert runs[2].labels["changes"] == "scrambled_alignment: True"
