import re
from pathlib import Path

import pytest

from reports.metrics import metrics
from reports.stored.artefacts import Artefacts, load
from tests.reports.conftest import Edit


def test_flat_numbers(artefacts: Artefacts) -> None:
    flat = metrics(artefacts)
    assert flat["adaptive_attention.test_accuracy_mean"] == 0.82
    assert flat["decomposable_attention.test_accuracy_sd"] == 0.01
    assert flat["ablation.state_2.adaptive_gain_mean"] == 0.11
    assert flat["sweep.trials"] == 8
    assert all(type(value) in (int, float) for value in flat.values())
    assert "decomposable_attention.mean_steps_mean" not in flat


def test_studies_and_correlations(artefacts: Artefacts) -> None:
    flat = metrics(artefacts)
    assert flat["fidelity.decomposable_attention.scrambled_and_unmasked.difference"] == -0.031
    remainder = "remainder_on_the_batchs_last_state"
    assert flat[f"fidelity.adaptive_attention.{remainder}.difference"] == -0.008
    assert flat["halting.act.ponder_weight_5e-05.mean_steps"] == 9.0
    assert flat["halting.ponder_net.ponder_weight_0.01_prior_steps_6.0.dev_accuracy"] == 0.741
    # seeds 1, 2, 3: 0.32, 0.34, 0.36
    assert flat["adaptive_attention.steps_against_depth.pearson"] == 0.34


def test_graves_tasks(artefacts: Artefacts) -> None:
    flat = metrics(artefacts)
    place = "graves.parity.ACT_ponder_weight_0.001"
    assert flat[f"{place}.dev_error_mean"] == 0.04 and flat[f"{place}.dev_error_sd"] == 0.01
    assert flat[f"{place}.mean_steps_mean"] == 9.0
    assert "graves.parity.without_ACT.mean_steps_mean" not in flat
    assert flat["graves.parity.act_minus_without_mean"] == -0.36
    assert flat["graves.addition.act_minus_without_sd"] == 0.02


def test_multihop(artefacts: Artefacts) -> None:
    flat = metrics(artefacts)
    place = "multihop.hop_attention.ponder_weight_0.001"
    # seeds 1 and 2 over 1 to 4 hops: 0.97, 0.95 right, 2.7, 2.5 steps; 0.80, 0.70 right at 5 hops
    assert flat[f"{place}.accuracy_trained_mean"] == 0.96
    assert flat[f"{place}.accuracy_next_mean"] == 0.75
    assert flat[f"{place}.mean_steps_mean"] == 2.6
    assert flat[f"{place}.correlation_mean"] == 0.93
    fixed = "multihop.hop_attention_fixed_steps.steps_2"
    assert flat[f"{fixed}.mean_steps_mean"] == 2.0 and f"{fixed}.correlation_mean" not in flat


def test_readers_of_cloze_questions(artefacts: Artefacts) -> None:
    flat = metrics(artefacts)
    place = "nse.NE.adaptive_computation_6_steps"
    assert flat[f"{place}.dev_accuracy_mean"] == 0.67 and flat[f"{place}.dev_accuracy_sd"] == 0.01
    assert flat[f"{place}.test_accuracy_mean"] == 0.59 and flat[f"{place}.mean_steps_mean"] == 2.5
    assert flat[f"{place}.difference"] == 0.01 and "nse.NE.one_step.difference" not in flat


def test_characters(artefacts: Artefacts) -> None:
    flat = metrics(artefacts)
    place = "graves.characters.ACT_ponder_weight_0.1"
    assert flat[f"{place}.bits_per_character_mean"] == pytest.approx(3.0, abs=1e-6)
    assert flat[f"{place}.bits_per_character_sd"] == pytest.approx(0.1, abs=1e-6)
    assert flat[f"{place}.mean_steps_mean"] == pytest.approx(1.6)
    assert "graves.characters.without_ACT.mean_steps_mean" not in flat


def test_names_are_those_that_mlflow_takes(artefacts: Artefacts) -> None:
    assert all(re.fullmatch(r"[A-Za-z0-9_.\-/ :]+", name) for name in metrics(artefacts))


def test_an_undefined_correlation_has_no_metric(folder: Path, edit: Edit) -> None:
    edit("evaluate/correlations.csv", lambda row: row | {"pearson": "", "spearman": ""})
    assert not [name for name in metrics(load(folder)) if "steps_against" in name]
