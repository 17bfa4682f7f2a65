import math
from contextlib import chdir
from pathlib import Path

import pytest

from actmodels.errors import ConfigError
from actmodels.registry import MODELS
from pipeline.parameters.schema import Params
from pipeline.parameters.section import SPLITS
from pipeline.parameters.use import CONF, GROUPS, params_with, use
from tests.pipeline.project import shipped_params

STUDIES = sorted(path.stem for path in (CONF / "study").glob("*.yaml"))
WORDS = [
    f"{group}={path.stem}"
    for group in GROUPS
    for path in sorted((CONF / group).glob("*"))
    if path.is_file()
]
ALONE = sorted(path.stem for path in (CONF / "models").iterdir() if path.stem in MODELS)
DIGEST = "617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb"
LOCAL = [
    "preset=local",
    *(f"corpus.files.{split}=/data/{split}.csv" for split in SPLITS),
    "vectors.glove.urls=[file:///data/glove.6B.50d.txt]",
    "vectors.dimensions=50",
]

HOPS = "hop_attention"  # trained by the study multihop
FILES = {  # overrides that a study needs
    "cloze_whodidwhat": [
        f"cloze.data.whodidwhat.{split}.{key}={value}"
        for split in ("train", "dev", "test")
        for key, value in (("urls", f"[file:///data/{split}.xml]"), ("sha256", DIGEST))
    ]
}


def compose(folder: Path, *words: str) -> Params:
    """Return the parameters that `act-nli use` makes of the demo."""
    (folder / "params.yaml").write_text(shipped_params(), encoding="utf-8")
    with chdir(folder):
        return params_with(words)


def trials(params: Params) -> dict[str, int]:
    models = params.sweep.models
    return {name: math.prod(map(len, model.grid.values())) for name, model in models.items()}


@pytest.mark.parametrize("models", sorted(path.stem for path in (CONF / "models").glob("*.yaml")))
def test_each_set_of_models_is_complete(models: str, tmp_path: Path) -> None:
    assert compose(tmp_path, *LOCAL, f"models={models}").sweep.models


@pytest.mark.parametrize("word", WORDS)
def test_the_demo_restores_what_any_patch_changes(folder: Path, word: str) -> None:
    Path("params.yaml").write_text(shipped := shipped_params(), encoding="utf-8")
    use([*(LOCAL if word == "preset=local" else [word]), *FILES.get(word[6:], [])])
    changed = Path("params.yaml").read_text(encoding="utf-8")
    assert (changed == shipped) == (word in ("preset=demo", "study=multihop"))
    own = [f"corpus.files.{split}=null" for split in SPLITS] * (word == "preset=local")
    use(["preset=demo", *own])
    assert Path("params.yaml").read_text(encoding="utf-8") == shipped


@pytest.mark.parametrize("study", STUDIES)
def test_each_study_composes_with_the_demo_and_a_local_run(tmp_path: Path, study: str) -> None:
    name = {"depth": "multihop", "parity_halting": "sequences"}.get(study, study.partition("_")[0])
    for overrides in ([], LOCAL):
        params = compose(tmp_path, *overrides, *FILES.get(study, []), f"study={study}")
        assert params.studies == ([] if study == "none" else [name])


@pytest.mark.parametrize("model", ALONE)
def test_a_model_composes_alone(tmp_path: Path, model: str) -> None:
    assert list(compose(tmp_path, f"models={model}").sweep.models) == [model]


@pytest.mark.parametrize("preset", [LOCAL, []])
def test_a_model_alone_keeps_the_grid_of_the_preset(tmp_path: Path, preset: list[str]) -> None:
    for model, grid in compose(tmp_path, *preset).sweep.models.items():
        alone = compose(tmp_path, *preset, f"models={model}").sweep.models
        assert alone == {model: grid}


def test_each_network_has_a_file() -> None:
    networks = {of.model for name, of in MODELS.items() if not name.endswith("as_published")}
    assert {MODELS[name].model for name in ALONE} == networks


def test_all_models_compose_into_one_configuration_each(tmp_path: Path) -> None:
    """All networks; our ablations are swept like the network they derive from."""
    params = compose(tmp_path, "models=spinn")  # all, and the one that reads parses
    assert not compose(tmp_path, "models=all").corpus.parses
    presets, ablations = (trials(compose(tmp_path, *one)) for one in ([], ["models=ablations"]))
    networks = {of.model for name, of in MODELS.items() if not name.endswith("as_published")}
    networks -= {MODELS[name].model for name in (*(ablations.keys() - presets.keys()), HOPS)}
    assert {MODELS[name].model for name in params.sweep.models} == networks
    added = {name: count for name, count in trials(params).items() if name not in presets}
    assert set(added.values()) == {1}
    for name, model in (models := compose(tmp_path, "models=ablations").sweep.models).items():
        assert model == models["_".join(name.split("_")[-2:])]


def test_the_paper_has_the_grid_of_its_table_2(tmp_path: Path) -> None:
    params = compose(tmp_path, "preset=paper")
    assert trials(params) == {"decomposable_attention": 54, "adaptive_attention": 432}
    adaptive = params.sweep.models["adaptive_attention"]
    assert adaptive.grid["ponder_weight"] == [0.001, 0.0005, 0.0001, 0.00005]
    assert (adaptive.settings["optimizer"], adaptive.settings["state_size"]) == ("adagrad", 200)
    assert (params.corpus.source, params.vectors.source) == ("snli", "glove")
    assert params.sweep.max_epochs == 15
    thesis = trials(compose(tmp_path, "preset=thesis"))
    assert thesis == {
        "decomposable_attention": 1,
        **{"adaptive_attention": 84, "iterative_attention": 84},
    }
    assert set(trials(compose(tmp_path, *LOCAL, "models=tuned")).values()) == {48}
    assert set(trials(compose(tmp_path, "preset=rocktaschel")).values()) == {36}


def test_table_1_has_one_configuration_of_each_model(tmp_path: Path) -> None:
    rows = trials(compose(tmp_path, "preset=paper_best", "models=table_1"))
    baselines = ("lstm_encoders", "word_by_word_attention", "nti_tree_matching", "spinn_pi")
    assert rows == dict.fromkeys(("decomposable_attention", "adaptive_attention", *baselines), 1)
    assert trials(compose(tmp_path, "preset=parikh"))["decomposable_attention"] == 1


@pytest.mark.parametrize("preset", [LOCAL, ["preset=paper"], []])
def test_parikhs_inputs_are_only_for_his_models(tmp_path: Path, preset: list[str]) -> None:
    """Unit vectors, hashed words and a NULL token (the paper's appendix D, Parikh et al.)."""
    sweep = compose(tmp_path, *preset, "models=all").sweep
    inputs = ("unit_norm", "oov_rule", "null_token")
    inputs_of = {
        name: [(sweep.settings | model.settings)[key] for key in inputs]
        for name, model in sweep.models.items()
    }
    his = inputs_of.pop("decomposable_attention")
    assert inputs_of.pop("decomposable_intra_attention") == his
    assert his[0] is (preset != []) and his[2]
    for name, (unit_norm, oov_rule, null_token) in inputs_of.items():
        assert (unit_norm, oov_rule == "hashed", null_token) == (False, False, False), name


def test_a_local_run_takes_its_archives_from_the_command_line(tmp_path: Path) -> None:
    params = compose(tmp_path, *LOCAL)
    assert (params.corpus.files.dev, params.corpus.files.sha256["dev"]) == ("/data/dev.csv", None)
    assert (params.vectors.glove.member, params.vectors.dimensions) == (None, 50)
    archive = ["corpus.source=snli", "corpus.snli.urls=[file:///data/pairs.zip]"]
    snli = compose(tmp_path, "preset=local", *archive, *LOCAL[-2:]).corpus.snli
    assert (snli.urls, snli.sha256, snli.labeled_pairs) == (["file:///data/pairs.zip"], None, None)
    with pytest.raises(ConfigError) as caught:
        compose(tmp_path, "preset=local")
    files, vectors = caught.value.problems
    assert files.endswith(
        "files needs paths or URLs: act-nli use "
        + " ".join(f"corpus.files.{s}=..." for s in SPLITS)
    )
    assert (
        "vectors.glove.urls has no value yet; name it: act-nli use 'vectors.glove.urls=...'"
        in vectors
    )
