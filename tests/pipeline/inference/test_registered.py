"""The code that goes along with a model: all that answering imports, and nothing of training."""

import sys
from pathlib import Path

import pytest

from actmodels.provenance import imported_modules, sources
from actmodels.registry import MODELS
from pipeline.inference.registered import (
    EXAMPLE,
    PACKAGES,
    ROOT,
    code_digest,
    code_files,
    copy_code,
    example,
    requirements,
)

OTHERS = {"torch", "safetensors", "numpy", "pandas", "mlflow"}
TRAINING = {"training.py", "model_training.py", "figures.py", "evaluation.py"}


def names(model: str) -> set[str]:
    return {path.relative_to(ROOT).as_posix() for path in code_files(model)}


@pytest.mark.parametrize("model", MODELS)
def test_every_import_is_there_or_among_the_requirements_and_no_training(model: str) -> None:
    files = names(model)
    assert not {name for name in files if Path(name).name in TRAINING}
    folders = {name.rsplit("/", 1)[0] for name in files}
    assert not folders & {"actmodels/fused", "pipeline/parameters"}
    assert not [name for name in files if name.startswith(("tune/", "reports/", "tests/"))]
    for path in code_files(model):
        for module in imported_modules(path.read_text(encoding="utf-8")):
            top, parts = module.split(".")[0], module.replace(".", "/")
            if top in PACKAGES:  # a module, a package, or a name in a module
                parent = parts.rsplit("/", 1)[0]
                there = {f"{parts}.py", f"{parts}/__init__.py", f"{parent}.py"}
                assert there & files, f"{path}: {module}"
            else:
                assert top in OTHERS | sys.stdlib_module_names, f"{path}: {module}"
    assert not [requirement for requirement in requirements() if "+" in requirement]
    listed = {requirement.split("==")[0] for requirement in requirements()}
    assert listed >= OTHERS - {"mlflow"}  # which adds itself


def test_models_take_their_own_code_alone() -> None:
    adaptive = names("adaptive_attention_ponder_net")
    assert "actmodels/halting/ponder_net.py" in adaptive
    assert "actmodels/halting/act.py" not in adaptive
    assert "actmodels/models/spinn.py" not in adaptive
    assert "actmodels/models/lstm_encoders.py" in names("lstm_encoders")


def test_copies_are_packages_and_a_change_is_another_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = copy_code("decomposable_attention", tmp_path)
    assert packages == [tmp_path / "actmodels", tmp_path / "pipeline"]
    copied = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.py")}
    assert copied == names("decomposable_attention")

    def digest() -> str:
        sources.cache_clear()  # each process reads once
        return code_digest("decomposable_attention")

    before = digest()
    monkeypatch.setattr("pipeline.inference.registered.ROOT", tmp_path)
    assert digest() == before
    path = tmp_path / "pipeline" / "inference" / "answer.py"
    text = path.read_text(encoding="utf-8")
    path.write_text(text + "# a remark\n", encoding="utf-8")
    assert digest() == before
    path.write_text(text.replace("DIGITS = 6", "DIGITS = 5"), encoding="utf-8")
    assert digest() != before


def test_the_example_is_what_a_model_reads() -> None:
    assert example("lstm_encoders") == EXAMPLE
    [man, _] = example("spinn_pi")["hypothesis"]
    assert man == "( A ( man ( is ( asleep . ) ) ) )"
