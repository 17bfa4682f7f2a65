"""Studies of the selected configuration."""

from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import ArtifactError
from actmodels.files import write_text
from pipeline.parameters.studies import params_type
from pipeline.trials.execution import best_config, with_overrides
from tests.pipeline.project import params_tree
from tests.samples import SETTINGS, sample_trial

DA, AA = "decomposable_attention", "adaptive_attention"


def params(**sections: dict[str, Any]) -> Any:
    """Return the demo's params.yaml with changed sections; a study with a section is on."""
    tree = params_tree(**sections)
    return params_type(*tree["studies"]).model_validate(tree)


def test_a_change_is_the_only_difference() -> None:
    study = params(halting={"max_epochs": 15, "patience": 0}).halting
    common = SETTINGS | {"dropout": 0.4, "halting_bias": 3.0}  # the selection wins
    same = with_overrides(sample_trial(AA, seed=1), AA, common, {}, study, seed=2)
    assert same == sample_trial(AA, max_epochs=15, seed=2)
    base = sample_trial(DA)
    one = with_overrides(base, DA, SETTINGS, {"dropout": 0.5, "max_epochs": 40}, study, seed=2)
    assert one.flat() == base.flat() | {"dropout": 0.5, "max_epochs": 40, "seed": 2}


def test_a_study_needs_the_selection(folder: Path) -> None:
    with pytest.raises(ArtifactError, match=r"best\.json is missing; run: dvc repro select_best"):
        best_config(AA)
    write_text(folder / "artifacts" / "select_best" / "best.json", "{}")
    with pytest.raises(
        ArtifactError, match=r"has no model adaptive_attention: .*; run: dvc repro sel"
    ):
        best_config(AA)
