"""Models in a real registry: one version each, also after crashes."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.tune.tracking_samples import Killed, runs
from tune.tracking import results
from tune.tracking.exported_model import ExportedModel
from tune.tracking.results import BEST
from tune.tracking.tracking_uri import project_id

# isort: split
from mlflow import MlflowClient

pytestmark = pytest.mark.slow  # MLflow's pyfunc takes seconds to import

NAME = "entailment"
SIGNATURE = {
    "inputs": '[{"name": "premise", "type": "string", "required": true}]',
    "outputs": '[{"name": "steps", "type": "long", "required": true}]',
    "params": '[{"name": "attention", "type": "boolean", "default": false, "shape": null}]',
}


@pytest.fixture
def candidates(tmp_path: Path) -> list[ExportedModel]:
    """Two models with a loader module."""
    code = tmp_path / "tiny_loader"
    code.mkdir()
    (code / "__init__.py").write_text("def _load_pyfunc(path):\n    return None\n")
    result = []
    for name in ("adaptive", "decomposable"):
        data = tmp_path / "data" / name
        data.mkdir(parents=True)
        (data / "weights.txt").write_text(name)
        result.append(
            ExportedModel(
                alias=name,
                run=f"{name}-seed1",
                digest=f"digest-{name}",
                data=data,
                code=[code],
                loader="tiny_loader",
                requirements=["torch==2.13.0"],
                signature=SIGNATURE,
                example={"premise": ["A man sleeps."]},
                description=f"card of {name}",
                tags={"model": name},
                metrics={"dev_accuracy": 0.5},
            )
        )
    return result


def register(*arguments: Any) -> dict[str, str]:
    """Register; return the version of each alias."""
    versions = results.register(*arguments)
    return {uri.partition("@")[2]: version for uri, version in versions.items()}


def client_of(state: Path) -> MlflowClient:
    return MlflowClient(f"sqlite:///{state / 'mlflow.db'}")


def logged_models(state: Path) -> list[Any]:
    client = client_of(state)
    (experiment,) = [e for e in client.search_experiments() if e.name == "act-nli"]
    return list(client.search_logged_models([experiment.experiment_id]))


def test_models_are_versions_with_aliases(state: Path, candidates: list[ExportedModel]) -> None:
    versions = register(NAME, "about", candidates, "decomposable", state)
    assert versions == {"adaptive": "1", "decomposable": "2", BEST: "2"}
    client = client_of(state)
    model = client.get_registered_model(NAME)
    assert model.description == "about"
    assert {alias: str(number) for alias, number in model.aliases.items()} == versions
    version = client.get_model_version_by_alias(NAME, BEST)
    assert version.description == "card of decomposable"
    digest = version.tags.pop("files_digest")
    assert version.tags == {"model": "decomposable", "model_digest": "digest-decomposable"}
    assert len(digest) == 64
    run = client.get_run(version.run_id)
    assert (run.info.run_name, run.info.status) == ("decomposable-seed1", "FINISHED")
    assert run.data.metrics == {"dev_accuracy": 0.5}
    assert {run.data.tags["kind"] for run in runs(state)} == {"model"}
    assert sorted(str(model.status) for model in logged_models(state)) == ["READY", "READY"]
    folder = Path(client.get_model_version_download_uri(NAME, "2").removeprefix("file://"))
    assert (folder / "data" / "decomposable" / "weights.txt").read_text() == "decomposable"
    assert (folder / "code" / "tiny_loader" / "__init__.py").is_file()
    assert "torch==2.13.0" in (folder / "requirements.txt").read_text()
    assert "premise" in (folder / "MLmodel").read_text()
    assert (folder / "input_example.json").is_file()


@pytest.mark.parametrize("damage", ["deleted", "changed"])
def test_a_version_with_corrupt_files_is_registered_again(
    damage: str, state: Path, candidates: list[ExportedModel]
) -> None:
    register(NAME, "about", candidates, "adaptive", state)
    (weights,) = state.rglob("adaptive/weights.txt")
    if damage == "deleted":
        shutil.rmtree(weights.parents[2])
    else:
        weights.write_text("other")
    versions = register(NAME, "about", candidates, "adaptive", state)
    assert versions == {"adaptive": "3", "decomposable": "2", BEST: "3"}
    assert "adaptive" in [path.read_text() for path in state.rglob("adaptive/weights.txt")]
    assert register(NAME, "about", candidates, "adaptive", state) == versions


def test_a_copied_project_registers_in_its_own_folder(
    state: Path, candidates: list[ExportedModel]
) -> None:
    register(NAME, "about", candidates, "adaptive", state)
    copy = shutil.copytree(state, state.with_name("copy"))
    before = {path: path.stat().st_mtime_ns for path in state.rglob("*")}
    versions = register(NAME, "about", candidates, "adaptive", copy)
    assert versions == {"adaptive": "3", "decomposable": "4", BEST: "3"}
    assert {path: path.stat().st_mtime_ns for path in state.rglob("*")} == before
    source = client_of(copy).get_model_version_by_alias(NAME, BEST).source
    assert source.startswith(f"{copy.as_uri()}/mlartifacts/")
    assert register(NAME, "about", candidates, "adaptive", copy) == versions
    other = [replace(candidates[0], digest="other"), candidates[1]]
    assert register(NAME, "about", other, "decomposable", copy)["adaptive"] == "5"
    assert register(NAME, "about", candidates, "adaptive", copy) == versions  # the first again


CALLS = """create_registered_model create_logged_model log_model_artifacts finalize_logged_model
create_model_version set_terminated set_registered_model_alias"""


@pytest.mark.parametrize("call", CALLS.split())
def test_a_registration_killed_at_any_call_is_completed_by_the_next(
    call: str, state: Path, candidates: list[ExportedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*args: Any, **kwargs: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(MlflowClient, call, killed)
        with pytest.raises(Killed):
            register(NAME, "about", candidates[:1], "adaptive", state)
    versions = register(NAME, "about", candidates[:1], "adaptive", state)
    assert versions == {"adaptive": "1", BEST: "1"}
    client = client_of(state)
    assert len(client.search_model_versions(f"name = '{NAME}'")) == 1
    (model,) = logged_models(state)
    assert str(model.status) == "READY"
    (run,) = runs(state)
    assert run.info.status == "FINISHED"


def test_another_projects_model_on_a_server_keeps_its_aliases(
    state: Path, tmp_path: Path, candidates: list[ExportedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{state / 'mlflow.db'}")
    first, second = tmp_path / "first/state", tmp_path / "second/state"
    names = [f"models:/{NAME}@", f"models:/{NAME}-{project_id(second)}@"]
    for _ in range(2):
        for project, name, best in zip(
            (first, second), names, ("adaptive", "decomposable"), strict=True
        ):
            versions = results.register(NAME, "about", candidates, best, project)
            aliases = ("adaptive", "decomposable", BEST)
            numbers = ("1", "2", "1" if best == "adaptive" else "2")
            assert versions == {name + alias: v for alias, v in zip(aliases, numbers, strict=True)}
