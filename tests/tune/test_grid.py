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
from tune.trials.early_stopping import SuccessiveHalving
from tune.trials.grid import grid_hash
from tune.trials.provenance import trial_key
from tune.trials.search import OptunaSearch

HALVING = SuccessiveHalving(1, 2)


def keys(configs: list[TrialConfig], digest: str = "data", **changes: Any) -> list[str]:
    return [trial.key for trial in keyed(configs, digest, **changes)]


CHANGED: dict[str, Any] = {
    **{"init": "normal", "optimizer": "adagrad", "oov_rule": "hashed", "reverted": "query"}
}


def test_more_points_continue_a_search_and_imports_have_the_names_of_modules() -> None:
    def digest(points: int, seed: int = 1) -> str:
        search = OptunaSearch(points, seed, {"dropout": [0.0, 0.1]})
        return grid_hash(keyed([sample_trial(MODELS[0])], searches={MODELS[0]: search}))

    assert digest(1) == digest(2) != digest(2, seed=2)
    text = "import a.b\nfrom c import d\nif TYPE_CHECKING:\n    import e\ndef f():\n    import g\n"
    assert provenance.imported_modules(text) == ["a.b", "c", "c.d", "g"]


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
        keys(base, matmul_precision="high"),
        keys(base, early_stopping=HALVING),
        *(
            keys([sample_trial(MODELS[0], seed=seed) for seed in seeds], early_stopping=HALVING)
            for seeds in ((1, 2), (1, 3))  # the means of different seeds are compared
        ),
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
