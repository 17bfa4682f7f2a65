"""The packaged code has all imports of inference and no training code."""

import sys
from pathlib import Path

import pytest

from actmodels.registry import MODELS
from pipeline.inference import registry
from pipeline.inference.registry import (
    EXAMPLE,
    PACKAGES,
    ROOT,
    code_files,
    copy_code,
    example,
    requirements,
)
from tests.pipeline.tiny_export import write_export
from tests.samples import sample_trial
from tune.trials.provenance import imported_modules, sources

OTHERS = {"torch", "safetensors", "numpy", "pandas", "mlflow"}
TRAINING = {"training.py", "model_training.py", "metrics.py", "fused.py"}


def names(model: str) -> set[str]:
    return {path.relative_to(ROOT).as_posix() for path in code_files(model)}


@pytest.mark.parametrize("model", MODELS)
def test_imports_are_packaged_or_required_and_training_is_excluded(model: str) -> None:
    files = names(model)
    assert not {name for name in files if Path(name).name in TRAINING}
    folders = {name.rsplit("/", 1)[0] for name in files}
    assert "pipeline/parameters" not in folders
    assert not [name for name in files if name.startswith(("tune/", "reports/", "tests/"))]
    for path in code_files(model):
        for module in imported_modules(path.read_text(encoding="utf-8")):
            top, parts = module.split(".")[0], module.replace(".", "/")
            if top in PACKAGES:  # a module, a package, or a name in a module
                parent = parts.rsplit("/", 1)[0]
                candidates = {f"{parts}.py", f"{parts}/__init__.py", f"{parent}.py"}
                assert candidates & files, f"{path}: {module}"
            else:
                assert top in OTHERS | sys.stdlib_module_names, f"{path}: {module}"
    assert not [requirement for requirement in requirements() if "+" in requirement]
    listed = {requirement.split("==")[0] for requirement in requirements()}
    assert listed >= OTHERS - {"mlflow"}  # MLflow adds itself


def test_a_package_has_only_the_code_of_its_model() -> None:
    adaptive = names("adaptive_attention_ponder_net")
    assert "actmodels/halting/ponder_net.py" in adaptive
    assert "actmodels/halting/act.py" not in adaptive
    assert "actmodels/models/spinn.py" not in adaptive
    assert "actmodels/models/lstm_encoders.py" in names("lstm_encoders")


def test_copied_packages(tmp_path: Path) -> None:
    packages = copy_code("decomposable_attention", tmp_path)
    assert packages == [tmp_path / "actmodels", tmp_path / "pipeline"]
    copied = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.py")}
    assert copied == names("decomposable_attention")


@pytest.mark.parametrize("part", ["code", "weights"])
def test_a_registered_model_is_new_if_code_or_weights_change(
    part: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_export(folder, sample_trial("decomposable_attention"))
    model = folder / "artifacts/export/models/decomposable_attention"
    (model / "README.md").write_text("---\n---\n\nabout")
    stored = {"seed": 1, "digest": "d" * 64, "key": "k", "data_digest": "d", "parameters": 9}
    stored |= {"dev_accuracy": 0.5}
    first = registry.exported_model("decomposable_attention", stored, folder / "one")
    if part == "code":
        (folder / "one/actmodels/errors.py").write_text("CHANGED = 1\n")
        monkeypatch.setattr(registry, "ROOT", folder / "one")
        sources.cache_clear()  # each process reads once
    else:
        stored["digest"] = "e" * 64
    other = registry.exported_model("decomposable_attention", stored, folder / "two")
    sources.cache_clear()
    assert first.digest != other.digest


def test_the_example_matches_the_model() -> None:
    assert example("lstm_encoders") == EXAMPLE
    [man, _] = example("spinn_pi")["hypothesis"]
    assert man == "( A ( man ( is ( asleep . ) ) ) )"
