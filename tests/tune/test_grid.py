"""Trial keys cover every setting of params.yaml."""

import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from actmodels.registry import MODELS as ALL
from actmodels.trial_config import TrialConfig, setting_types
from tests.samples import MODELS, keyed, sample_trial
from tune.trials import provenance
from tune.trials.provenance import trial_key


def keys(configs: list[TrialConfig], digest: str = "data", **changes: Any) -> list[str]:
    return [trial.key for trial in keyed(configs, digest, **changes)]


CHANGED: dict[str, Any] = {
    **{"init": "normal", "optimizer": "adagrad", "oov_rule": "hashed", "reverted": "query"}
}


@pytest.mark.parametrize("model", ALL)
def test_each_setting_changes_exactly_one_field_and_the_key(model: str) -> None:
    base = sample_trial(model)
    for name in setting_types(model):
        old = base.flat()[name]
        new = not old if isinstance(old, bool) else CHANGED.get(name)
        if new is None:
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
        keys(base, digest="other"),
        keys(base, gpus_per_trial=1),
        keys(base, cpus_per_trial=2),
    ]
    assert keys(base) == keys([sample_trial(MODELS[0])])
    assert len({keys(base)[0], *(other[0] for other in others)}) == len(others) + 1
    assert {f.name for f in fields(TrialConfig)} == {
        *("model", "input", "network", "halting", "training", "max_epochs", "patience", "seed")
    }


def test_the_code_digest_ignores_comments_and_docstrings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A comment or a docstring keeps the key; a changed number, or another module, does not."""
    package = tmp_path / "actmodels"
    shutil.copytree(provenance.PACKAGE, package)
    monkeypatch.setattr(provenance, "PROJECT", tmp_path)
    monkeypatch.setattr(provenance, "PACKAGE", package)

    def digests() -> dict[str, str]:
        files = {model: provenance.code_files(sample_trial(model)) for model in MODELS}
        return {model: provenance.code_digest(files[model], tmp_path) for model in files}

    before = digests()
    model = package / "models" / "adaptive_attention.py"
    text = model.read_text()
    model.write_text(text + "\nCHANGE = 1\n")
    assert digests() == before  # a run keeps the code of its start
    provenance.sources.cache_clear()
    assert digests()["adaptive_attention"] != before["adaptive_attention"]
    assert digests()["decomposable_attention"] == before["decomposable_attention"]

    model.write_text(text.replace('"""', '"""Better words. ', 1) + "# a comment\n")
    provenance.sources.cache_clear()
    assert digests() == before
