"""Edits of params.yaml are not lost when DVC composes the file."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from actmodels.errors import ConfigError
from pipeline.parameters.compose import composed_params
from pipeline.parameters.edits import problem, write_preset
from pipeline.parameters.load import load_params
from tests.pipeline.project import ROOT

DVC = """import sys; from dvc.utils.hydra import compose_and_dump
switches = [switch for switch in sys.argv[2:] if switch != "-S"]
compose_and_dump("params.yaml", sys.argv[1] + "/conf", None, "config", "conf", switches)"""


@pytest.fixture
def project(folder: Path) -> Path:
    """A repository with the demo's params.yaml and conf/."""
    shutil.copytree(ROOT / "conf", folder / "conf")
    texts = [(folder / "conf" / f).read_text() for f in ("base.yaml", "study/multihop.yaml")]
    (folder / "params.yaml").write_text(texts[0] + texts[1].partition("\n\n")[2])
    for command in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -qm a"):
        subprocess.run(["git", *command.split()], check=True)
    return folder


def compose(project: Path, *switches: str) -> str:
    """Compose params.yaml as `dvc exp run -S` does; return its error."""
    command = [sys.executable, "-c", DVC, str(project), *switches]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, env=environment).stderr


def edit(project: Path, old: str, new: str) -> str:
    path = project / "params.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new.replace("&", old), 1))
    return path.read_text()


def test_a_plan_composes_as_dvc_and_names_the_nearest_switch(project: Path) -> None:
    key = "sweep.models.adaptive_attention.grid.width"
    range_ = f"{key}=[{{min: 32, max: 64}}]"
    params = composed_params(
        project, ["preset=paper", range_, "sweep.search=random", "sweep.trials=9"]
    )
    assert params.corpus.source == "snli"
    assert params.sweep.models["adaptive_attention"].grid["width"] == {"min": 32, "max": 64}
    for switch, sentence in (
        ("sweep.max_epoch=3", "sweep.max_epoch is unknown; did you mean sweep.max_epochs?"),
        ("preset=papr", "preset=papr is unknown; did you mean preset=paper?"),
        ("~sweep.models.adaptive_attentio", "did you mean sweep.models.adaptive_attention?"),
        (
            "sweep.max_epochs=x",
            "params.yaml with sweep.max_epochs=x: sweep.max_epochs is 'x'; must",
        ),
        ("+sweep.a=1", "sweep.a is unknown; must be one of"),
        ("sweep=[", "conf: "),
        (f"{WIDTH}={{min: 32}}", f"{WIDTH} needs a list; write its range in one: '{WIDTH}=[{{min"),
    ):
        with pytest.raises(ConfigError, match=re.escape(sentence)):
            composed_params(project, [switch])
    for switch, message in (
        ("studdy=none", "-S studdy is unknown; did you mean study?"),
        ("sweep.search=optuna", "params.yaml with sweep.search=optuna: sweep.trials is null; must"),
        ("preset=local", "params.yaml with preset=local: corpus: source files needs paths or URLs"),
    ):
        before = (project / "params.yaml").read_bytes()
        assert compose(project, "-S", switch).startswith(f"error: {message}")
        assert (project / "params.yaml").read_bytes() == before


WIDTH = "sweep.models.adaptive_attention.grid.width"
LSTM = "    lstm_encoders: {settings: {layer_size: 8}, grid: {}}\n"


def test_dvc_composes_only_a_file_without_edits(project: Path) -> None:
    assert compose(project, "sweep.max_epochs=3") == compose(project, "sweep.max_epochs=4") == ""
    assert load_params(project / "params.yaml").sweep.max_epochs == 4
    edited = edit(project, "max_epochs: 4", "max_epochs: 5")
    error = compose(project, "retrain.patience=2")
    assert error.startswith(
        "error: params.yaml has edits that dvc exp run would discard, as it com"
    )
    assert "git checkout params.yaml && dvc exp run -S sweep.max_epochs=5  # and" in error
    assert (project / "params.yaml").read_text() == edited
    write_preset(project, "mine")
    assert compose(project, "preset=mine", "retrain.patience=2") == ""
    params = load_params(project / "params.yaml")
    assert (params.sweep.max_epochs, params.retrain.patience) == (5, 2)


def test_an_edit_that_no_switch_can_repeat_is_kept_by_the_other_ways(project: Path) -> None:
    assert compose(project, "sweep.max_epochs=3") == ""
    edit(project, "      '-1': '-'\n", "      '-1': '-'\n      not a.b: neutral\n")
    error = compose(project, "retrain.patience=2")
    assert "act-nli preset mine" in error and "git checkout" not in error


@pytest.mark.parametrize(
    ("old", "new", "switch"),
    [
        ("  name: textual-entailment", "  name: a.b", "'export.name=\"a.b\"'"),
        ("seeds: [1, 2, 3]", "seeds: [1]", "'retrain.seeds=[1]'"),
        ("    decomposable_attention:", f"{LSTM}&", ""),
        ("studies: [multihop]", "studies: [ multihop ]", None),
    ],
)  # fmt: skip
def test_a_preset_has_the_values_of_the_file(
    project: Path, old: str, new: str, switch: str | None
) -> None:
    edit(project, old, new)
    edited = load_params(project / "params.yaml")
    message = problem(project)
    assert bool(message) == (switch is not None) and (switch or "") in message
    write_preset(project, "mine")
    assert compose(project, "preset=mine") == "" and load_params(project / "params.yaml") == edited
    with pytest.raises(ConfigError, match=r"mine\.yaml: exists, or is no name"):
        write_preset(project, "mine")


def test_a_file_that_no_preset_can_express(project: Path) -> None:
    edit(project, "  patience: 5 ", "  # ")
    with pytest.raises(
        ConfigError, match=r"a preset cannot have '~retrain\.patience'; use dvc rep"
    ):
        write_preset(project, "mine")
    assert not (project / "conf" / "preset" / "mine.yaml").exists()
    edit(project, "corpus:", "corpus: [")
    assert problem(project).startswith("params.yaml is not YAML; correct it, or run: git checkout")
