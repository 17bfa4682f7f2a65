"""Grids: sizes, order, keys, and that every setting of params.yaml reaches its trial."""

import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from actmodels import provenance
from actmodels.config import TrialConfig, setting_types
from actmodels.provenance import trial_key
from actmodels.registry import MODELS as ALL
from tests.samples import MODELS, SETTINGS, sample_trial
from tune.grid import expand, grid_hash, with_keys

# Table 2 of the paper.
PAPER: dict[str, dict[str, list[Any]]] = {
    "adaptive_attention": {
        "ponder_weight": [0.001, 0.0005, 0.0001, 0.00005],
        "learning_rate": [0.01, 0.05, 0.001],
        "dropout": [0.1, 0.2],
        "width": [200, 256, 300],
        "batch_size": [8, 16, 32],
        "epsilon": [0.01, 0.2],
    },
    "decomposable_attention": {
        "learning_rate": [0.001, 0.0005, 0.0001],
        "dropout": [0.1, 0.2],
        "width": [200, 256, 300],
        "batch_size": [8, 16, 32],
    },
}


def points(model: str, grid: dict[str, list[Any]], seeds: list[int]) -> list[TrialConfig]:
    settings = {name: SETTINGS[name] for name in setting_types(model) if name not in grid}
    return expand(model, settings, grid, seeds=seeds, max_epochs=15, patience=0)


def keys(configs: list[TrialConfig], **changes: Any) -> list[str]:
    given = {"data_digest": "data", "device": "cpu", "threads": 1, **changes}
    return [trial.key for trial in with_keys(configs, **given)]


@pytest.mark.parametrize(("model", "count"), list(zip(MODELS, (54, 432), strict=True)))
def test_the_papers_grid(model: str, count: int) -> None:
    configs = points(model, PAPER[model], [1])
    assert len(configs) == count
    assert len(set(keys(configs))) == count


def test_order_does_not_depend_on_the_order_of_the_axes() -> None:
    grid = PAPER["decomposable_attention"]
    turned = dict(reversed(grid.items()))
    assert points("decomposable_attention", grid, [1]) == points(
        "decomposable_attention", turned, [1]
    )


def test_seeds_are_replicates_of_every_point() -> None:
    configs = points(MODELS[0], {"learning_rate": [0.1, 0.2]}, [5, 7])
    assert [(c.training.learning_rate, c.seed) for c in configs] == [
        (0.1, 5),
        (0.1, 7),
        (0.2, 5),
        (0.2, 7),
    ]


CHANGED: dict[str, Any] = {
    "init": "normal",
    "optimizer": "adagrad",
    "oov_rule": "hashed",
}


@pytest.mark.parametrize("model", ALL)
def test_each_setting_changes_exactly_one_field_and_the_key(model: str) -> None:
    base = sample_trial(model)
    for name in setting_types(model):
        old = base.flat()[name]
        if name in CHANGED:
            new = CHANGED[name]
        elif isinstance(old, bool):
            new = not old
        else:
            new = old + 1 if isinstance(old, int) else float(old) / 2 or 0.5
        changed = sample_trial(model, **{name: new})
        different = [k for k, v in changed.flat().items() if v != base.flat()[k]]
        assert different == [name]
        assert trial_key(changed.as_dict(), {}) != trial_key(base.as_dict(), {})


def test_budget_seed_data_device_and_threads_are_in_the_key() -> None:
    base = [sample_trial(MODELS[0])]
    others = [
        keys([sample_trial(MODELS[0], max_epochs=9)]),
        keys([sample_trial(MODELS[0], patience=9)]),
        keys([sample_trial(MODELS[0], seed=9)]),
        keys(base, data_digest="other"),
        keys(base, device="cuda"),
        keys(base, threads=2),
    ]
    assert keys(base) == keys([sample_trial(MODELS[0])])
    assert len({keys(base)[0], *(other[0] for other in others)}) == len(others) + 1
    assert {f.name for f in fields(TrialConfig)} == {
        *("model", "input", "network", "halting", "training", "max_epochs", "patience", "seed")
    }


def test_grid_hash_follows_the_trials() -> None:
    def trials(rate: float) -> Any:
        configs = points(MODELS[0], {"learning_rate": [0.3, rate]}, [1])
        return with_keys(configs, data_digest="data", device="cpu", threads=1)

    assert grid_hash(trials(0.1)) == grid_hash(trials(0.1)) != grid_hash(trials(0.9))


def test_code_digest_ignores_words_and_sees_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A comment or a docstring keeps the key; a changed number, or another module, does not."""
    package = tmp_path / "actmodels"
    shutil.copytree(provenance.PACKAGE, package)
    monkeypatch.setattr(provenance, "PACKAGE", package)

    def digests() -> dict[str, str]:
        return {model: provenance.code_digest(sample_trial(model)) for model in MODELS}

    before = digests()
    layers = package / "modules" / "recurrent.py"
    text = layers.read_text()
    layers.write_text(text.replace("1 - update", "2 - update"))
    assert digests() == before  # a run has the code that it began with
    provenance.sources.cache_clear()
    assert digests()["adaptive_attention"] != before["adaptive_attention"]

    layers.write_text(text.replace('"""', '"""Better words. ', 1) + "# a comment\n")
    provenance.sources.cache_clear()
    assert digests() == before

    model = package / "models" / "adaptive_attention.py"
    model.write_text(model.read_text() + "\nCHANGE = 1\n")
    provenance.sources.cache_clear()
    assert digests()["adaptive_attention"] != before["adaptive_attention"]
    assert digests()["decomposable_attention"] == before["decomposable_attention"]
