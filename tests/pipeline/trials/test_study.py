"""Studies of the selected configuration: their runs and tables."""

import json
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import ArtifactError
from actmodels.files import write_text
from pipeline import fidelity, halting
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.trials.execution import best_config, with_overrides
from tests.pipeline.project import ROOT
from tests.samples import SETTINGS, sample_trial

DA, AA = "decomposable_attention", "adaptive_attention"


@pytest.fixture
def winners(folder: Path) -> None:
    """Write a project with two selected trials."""
    result = {model: {"config": sample_trial(model, dropout=0.3).as_dict()} for model in (DA, AA)}
    write_text(folder / "artifacts" / "select_best" / "best.json", json.dumps(result))


def params(**sections: dict[str, Any]) -> Params:
    whole = load_params(ROOT / "conf" / "base.yaml").model_dump()
    return Params.model_validate(
        whole | {name: whole[name] | values for name, values in sections.items()}
    )


def test_a_change_is_the_only_difference() -> None:
    study = params(halting={"max_epochs": 15, "patience": 0}).halting
    same = with_overrides(sample_trial(AA, seed=1), AA, SETTINGS, {}, study, seed=2)
    assert same == sample_trial(AA, max_epochs=15, seed=2)
    base = sample_trial(DA)
    one = with_overrides(base, DA, SETTINGS, {"dropout": 0.5, "max_epochs": 40}, study, seed=2)
    assert one.flat() == base.flat() | {"dropout": 0.5, "max_epochs": 40, "seed": 2}


def test_a_deviation_trains_the_published_variant(winners: None) -> None:
    variants = {"corrected": {}, "scrambled": {"scrambled_alignment": True}}
    runs = fidelity.plan(params(fidelity={"models": {DA: variants}, "seeds": [1, 2]}))
    assert [(run.labels["variant"], run.config.seed, run.config.model) for run in runs] == [
        *(("corrected", 1, DA), ("corrected", 2, DA)),
        *(("scrambled", 1, f"{DA}_as_published"), ("scrambled", 2, f"{DA}_as_published")),
    ]
    flat = runs[2].config.flat()
    assert (flat["scrambled_alignment"], flat["no_mask"], flat["dropout"]) == (True, False, 0.3)
    assert runs[2].labels["changes"] == "scrambled_alignment: True"


def test_a_halting_mechanism_keeps_the_network(winners: None) -> None:
    kinds = {"act": {"ponder_weight": [0.01, 0.001]}, "fixed_steps": {"steps": [2]}, "dact": {}}
    runs = halting.plan(params(halting={"mechanisms": kinds, "seeds": [5]}))
    assert [tuple(run.labels.values()) for run in runs] == [
        *(("act", "ponder_weight 0.01"), ("act", "ponder_weight 0.001")),
        *(("fixed_steps", "steps 2"), ("dact", "as set")),
    ]
    assert runs[2].config.model == "adaptive_attention_fixed_steps"
    assert len({run.config.network for run in runs}) == 1


def test_a_study_needs_the_selection(folder: Path) -> None:
    with pytest.raises(ArtifactError, match=r"best\.json is missing; run: dvc repro select_best"):
        best_config(AA)
    write_text(folder / "artifacts" / "select_best" / "best.json", "{}")
    with pytest.raises(ArtifactError, match=r"has no model adaptive_attention; run: dvc repro sel"):
        best_config(AA)


def test_collapse_is_counted_by_runs() -> None:
    row = {"kind": "act", "point": "p", "dev_accuracy": 0.5, "ponder_weight_end": 0.01}
    rows = [row | {"dev_mean_steps": steps} for steps in (1.0, 1.2, 3.0, 1.5)]
    [point] = halting.point_rows(rows, 1.5)
    assert (point["seeds"], point["collapsed"]) == (4, 0.5)
    assert point["mean_steps_mean"] == pytest.approx(1.675)
