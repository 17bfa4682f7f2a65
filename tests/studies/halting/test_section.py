"""Section `halting`: messages for invalid values."""

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.project import params_tree
from tests.pipeline.test_params import changed, problems

MECHANISMS = "halting.mechanisms"


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        (MECHANISMS, {}, "halting.mechanisms is empty; must have at least one value"),
        (MECHANISMS, {"atc": {}}, f"{MECHANISMS}.atc is unknown; did you mean"),
        (MECHANISMS, {"dact": {"steps": [2]}}, f"{MECHANISMS}.dact.steps is unknown; did"),
        ("halting.settings", {}, "settings.step_loss_weight is missing; supervised_act reads it"),
        ("halting.model", "decomposable_attention", "must be a model that halts: adaptive_att"),
        ("halting.model", "cloze", "halting.model is 'cloze'; must be one of sweep.models"),
        (
            *("sweep.only", ["decomposable_attention"]),
            "halting.model is null and the sweep has no model that halts: adaptive_att",
        ),
    ],
)
def test_an_invalid_value(tmp_path: Path, key: str, value: Any, sentence: str) -> None:
    assert sentence in problems(changed(params_tree("halting"), key, value), tmp_path)[0]
