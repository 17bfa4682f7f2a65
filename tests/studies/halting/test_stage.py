"""Study `halting`: its runs and points."""

import pytest

from studies.halting.stage import plan, point_rows
from tests.pipeline.trials.test_study import params


def test_a_halting_mechanism_keeps_the_network(winners: None) -> None:
    kinds = {"act": {"ponder_weight": [0.01, 0.001]}, "fixed_steps": {"steps": [2]}, "dact": {}}
    whole = params(halting={"seeds": [5]})
    runs = plan(whole, whole.halting.model_copy(update={"mechanisms": kinds}))
    assert [tuple(run.labels.values()) for run in runs] == [
        *(("act", "ponder_weight 0.01"), ("act", "ponder_weight 0.001")),
        *(("fixed_steps", "steps 2"), ("dact", "as set")),
    ]
    assert runs[2].config.model == "adaptive_attention_fixed_steps"
    assert len({run.config.network for run in runs}) == 1


def test_the_settings_of_the_study_replace_the_common_ones(winners: None) -> None:
    whole = params(halting={"seeds": [5]})
    common = whole.sweep.settings | {"prior_steps": 3.0}
    whole = whole.model_copy(update={"sweep": whole.sweep.model_copy(update={"settings": common})})
    own = {"mechanisms": {"ponder_net": {}}, "settings": {"prior_steps": 7.0}}
    (run,) = plan(whole, whole.halting.model_copy(update=own))
    assert run.config.halting.prior_steps == 7.0


def test_collapse_is_counted_by_runs() -> None:
    row = {"kind": "act", "point": "p", "dev_accuracy": 0.5, "ponder_weight_end": 0.01}
    rows = [row | {"dev_mean_steps": steps} for steps in (1.0, 1.2, 3.0, 1.5)]
    [point] = point_rows(rows, 1.5)
    assert (point["seeds"], point["collapsed"]) == (4, 0.5)
    assert point["mean_steps_mean"] == pytest.approx(1.675)
