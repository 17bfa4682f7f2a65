"""`act-nli use`: the words are checked, edits are kept, and comments stay."""

import difflib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from actmodels.errors import ConfigError
from pipeline.parameters.load import load_params
from pipeline.parameters.use import use
from tests.end_to_end.project import Project
from tests.pipeline.project import shipped_params, transcribe

WIDTH = "sweep.models.adaptive_attention.grid.width"


@pytest.fixture
def params(folder: Path) -> Path:
    """The params.yaml of the demo, committed."""
    path = folder / "params.yaml"
    path.write_text(shipped_params(), encoding="utf-8")
    for command in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -qm a"):
        subprocess.run(["git", *command.split()], check=True)
    return path


def edit(path: Path, old: str, new: str) -> str:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text := text.replace(old, new, 1), encoding="utf-8")
    return text


def test_values_and_comments_of_a_patch(params: Path) -> None:
    before = params.read_text().splitlines()
    lines = use(["preset=paper", f"{WIDTH}=[{{min: 32, max: 64}}]", "sweep.search=random",
                 "sweep.trials=9"]).splitlines()  # fmt: skip
    assert lines[0] == f"params.yaml: {len(lines) - 2} keys changed"
    assert "  corpus.source" in lines and lines[-1] == "Next: make repro"
    loaded = load_params()
    assert (loaded.corpus.source, loaded.sweep.max_epochs) == ("snli", 15)
    assert loaded.sweep.models["adaptive_attention"].grid["width"] == {"min": 32, "max": 64}
    after = params.read_text().splitlines()
    assert "  max_epochs: 15            # appendix D" in after  # its source
    assert any(
        line.startswith("  source: snli              # captions (embedded,") for line in after
    )
    gone = [line for line in difflib.ndiff(before, after) if line.startswith("- ")]
    assert len(gone) < 40  # of 238; all others stay, in their order


def test_a_word_that_is_not_valid_changes_nothing(
    params: Path, golden: Callable[..., None]
) -> None:
    transcribe(golden, "use.txt", {"use": lambda *words: use([*words])})
    assert params.read_text(encoding="utf-8") == shipped_params()


def test_an_uncommitted_edit_that_a_patch_would_discard_is_named(params: Path) -> None:
    edit(params, "  cpus_per_trial: 1 ", "  cpus_per_trial: 2 ")  # no patch has it
    use(["preset=paper"])
    use(["preset=paper_best"])  # what `use` wrote is no edit
    edited = edit(params, "  max_epochs: 100 ", "  max_epochs: 7 ")
    for word in ("preset=demo", "preset=thesis"):
        with pytest.raises(
            ConfigError, match=r"edits would be lost: retrain\.max_epochs; commit p"
        ):
            use([word])
        assert params.read_text(encoding="utf-8") == edited
    use(["retrain.max_epochs=8"])  # the user names it
    assert load_params().retrain.max_epochs == 8
    edit(params, "  max_epochs: 8 ", "  max_epochs: 7 ")
    use(["preset=demo"], force=True)
    assert params.read_text(encoding="utf-8") == shipped_params().replace(
        "cpus_per_trial: 1 ", "cpus_per_trial: 2 "
    )


def test_edits_without_git(folder: Path) -> None:
    params = folder / "params.yaml"
    params.write_text(shipped_params(), encoding="utf-8")
    use(["study=depth"])
    edit(params, "  patience: 5 ", "  patience: 6 ")
    with pytest.raises(ConfigError, match=r"edits would be lost: retrain\.patience;"):
        use(["preset=demo"])


def test_local_files_are_watched(params: Path) -> None:
    use(["study=none", "corpus.source=files", *(f"corpus.files.{s}={s}.csv" for s in
                                                ("train", "dev", "test"))])  # fmt: skip
    loaded = load_params()
    assert (loaded.watch, loaded.studies, loaded.corpus.files.dev) == (["corpus"], [], "dev.csv")
    text = params.read_text(encoding="utf-8")
    assert "multihop:" not in text and "\nwatch: [corpus]             # stages" in text
    use(["study=multihop", "corpus.source=captions", "sweep.time_limit=90m"])
    assert (load_params().watch, load_params().sweep.time_limit) == (["sweep"], "90m")
    use(["sweep.time_limit=null"])
    assert load_params().watch == []


def test_a_long_list_of_labels_with_blanks(params: Path) -> None:
    words = ("similar to the first", "different from the first", "hard to say or unclear")
    labels = dict.fromkeys((f"{degree} {word}" for degree in "abc" for word in words), "neutral")
    use([f"corpus.files.labels={{{', '.join(f'{key}: neutral' for key in labels)}}}"])
    assert load_params().corpus.files.labels == labels


def test_dvc_reads_a_url_in_brackets(params: Path) -> None:
    use(["corpus.snli.urls=[file:///data/pairs.zip, 'https://host/a:b.zip']", "sweep.seeds=[1,2]"])
    read = YAML(typ="safe").load(params)  # as DVC does
    assert read["corpus"]["snli"]["urls"] == ["file:///data/pairs.zip", "https://host/a:b.zip"]
    assert read["sweep"]["seeds"] == [1, 2]


@pytest.mark.parametrize("study", ["none", "depth", "sequences"])
def test_the_study_of_a_word_replaces_that_of_a_preset(params: Path, study: str) -> None:
    use([f"study={study}"])
    alone = params.read_text(encoding="utf-8")
    use(["preset=demo"])
    use(["preset=demo", f"study={study}"])
    assert params.read_text(encoding="utf-8") == alone


@pytest.mark.slow
def test_an_experiment_of_dvc_changes_the_file_as_it_is(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    run = ("dvc", "exp", "run", "-S")
    for words, stage in ((["sweep.seeds=[1,2]", f"{WIDTH}=[{{min: 32, max: 64}}]"], "watch"),
                         (["sweep.search=random", "sweep.trials=2"], "watch")):  # fmt: skip
        status, output = project.run(*run, words[0], "-S", words[1], stage)
        assert status == 0, output
    params = load_params(project.folder / "params.yaml", trials=True)
    assert (params.sweep.seeds, params.sweep.trials) == ([1, 2], 2)
    assert params.sweep.models["adaptive_attention"].grid["width"] == {"min": 32, "max": 64}
    status, output = project.run(*run, "preset=paper", "corpus")
    assert status != 0 and "Could not override 'preset'" in output  # docs/faq.md
    status, output = project.run(*run, "+preset=paper", "corpus")
    advice = "preset=paper is no key of params.yaml; run: act-nli use preset=paper"
    assert status != 0 and advice in output, output
