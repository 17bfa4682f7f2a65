"""Study `halting`: its runs and points."""

import pytest

from studies.halting.stage import plan, point_rows
from tests.pipeline.trials.test_study import params


def test_a_halting_mechanism_keeps_the_network(winners: None) -> None:
    """The settings of the study replace the common ones."""
    whole = params(halting={"seeds": [5]}, sweep={"settings": {"prior_steps": 3.0}})
    kinds = {"act": {"ponder_weight": [0.01, 0.001]}, "fixed_steps": {"steps": [2]}, "dact": {}}
    own = {"mechanisms": kinds | {"ponder_net": {}}, "settings": {"prior_steps": 7.0}}
    runs = plan(whole, whole.halting.model_copy(update=own))
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
    [point] = point_rows(rows, 1.5)
    assert (point["seeds"], point["collapsed"]) == (4, 0.5)
    assert point["mean_steps_mean"] == pytest.approx(1.675)
