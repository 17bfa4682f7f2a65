"""The studies: which configurations they train, and how runs become lines of a table."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from actmodels.errors import ArtefactError
from actmodels.files import write_text
from pipeline import fidelity, halting
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.studies.variants import changed, chosen
from tests.samples import SETTINGS, sample_trial

ROOT = Path(__file__).parents[3]
DA, AA = "decomposable_attention", "adaptive_attention"


@pytest.fixture
def winners(folder: Path) -> None:
    """A project whose selection chose two sample trials."""
    found = {model: {"config": sample_trial(model, dropout=0.3).as_dict()} for model in (DA, AA)}
    write_text(folder / "artefacts" / "select_best" / "best.json", json.dumps(found))


def params(**sections: dict[str, Any]) -> Params:
    whole = load_params(ROOT / "conf" / "base.yaml").model_dump()
    for name, values in sections.items():
        whole[name] = whole[name] | values
    return Params.model_validate(whole)


STUDY = params(halting={"max_epochs": 15, "patience": 0}).halting


def test_nothing_changed_is_the_winner_with_another_seed() -> None:
    base = sample_trial(AA, max_epochs=15, seed=1)
    same = changed(base, AA, SETTINGS, {}, STUDY, seed=2)
    assert same == sample_trial(AA, max_epochs=15, seed=2)


def test_a_change_is_the_only_difference() -> None:
    base = sample_trial(DA)
    one = changed(base, DA, SETTINGS, {"dropout": 0.5, "max_epochs": 40}, STUDY, seed=2)
    flat = base.flat() | {"dropout": 0.5, "max_epochs": 40, "seed": 2}
    assert one.flat() == flat


def test_a_deviation_asks_for_the_twin(winners: None) -> None:
    variants = {"corrected": {}, "scrambled": {"scrambled_alignment": True}}
    runs = fidelity.plan(params(fidelity={"models": {DA: variants}, "seeds": [1, 2]}))
    assert [(r.labels["variant"], r.config.seed) for r in runs] == [
        *(("corrected", 1), ("corrected", 2), ("scrambled", 1), ("scrambled", 2)),
    ]
    assert [r.config.model for r in runs] == [DA, DA, f"{DA}_as_published", f"{DA}_as_published"]
    flat = runs[2].config.flat()
    assert flat["scrambled_alignment"] is True
    assert flat["no_mask"] is False
    assert flat["dropout"] == 0.3


def test_a_kind_of_halting_keeps_the_network(winners: None) -> None:
    kinds = {"act": {"ponder_weight": [0.01, 0.001]}, "fixed_steps": {"steps": [2]}, "dact": {}}
    runs = halting.plan(params(halting={"kinds": kinds, "seeds": [5]}))
    assert [run.labels for run in runs] == [
        {"kind": "act", "point": "ponder_weight 0.01"},
        {"kind": "act", "point": "ponder_weight 0.001"},
        {"kind": "fixed_steps", "point": "steps 2"},
        {"kind": "dact", "point": "as set"},
    ]
    assert runs[2].config.model == "adaptive_attention_fixed_steps"
    assert len({run.config.network for run in runs}) == 1


def test_a_study_needs_the_selection(folder: Path) -> None:
    with pytest.raises(ArtefactError, match=r"has no model adaptive_attention; run: dvc repro sel"):
        chosen(AA)


def test_collapse_is_counted_by_runs() -> None:
    steps = [1.0, 1.2, 3.0, 1.5]
    rows = [
        {"kind": "act", "point": "p", "dev_accuracy": 0.5, "dev_mean_steps": s}
        | {"ponder_weight_end": 0.01}
        for s in steps
    ]
    [point] = halting.point_rows(rows, 1.5)
    assert (point["seeds"], point["collapsed"]) == (4, 0.5)
    assert point["mean_steps_mean"] == pytest.approx(1.675)


def test_variants_are_compared_with_the_first_of_their_model() -> None:
    variants = {"corrected": {}, "worse": {"dropout": 0.9}}
    study = params(fidelity={"models": {DA: variants}})
    hits = np.array([[1, 1, 1, 0], [1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 0, 0]], dtype=float)
    base = {"model": DA, "dev_accuracy": 0.5, "test_mean_steps": None}
    named = zip(("corrected", "corrected", "worse", "worse"), hits.mean(axis=1), strict=True)
    rows = [base | {"variant": name, "test_accuracy": accuracy} for name, accuracy in named]
    first, second = fidelity.compare_variants(study, rows, list(hits), np.arange(4))
    assert (first["difference"], first["p"]) == (0.0, 1.0)
    assert second["difference"] == pytest.approx(-0.375)
    assert second["changes"] == "dropout: 0.9"
    assert second["test_accuracy_mean"] == pytest.approx(0.375)
