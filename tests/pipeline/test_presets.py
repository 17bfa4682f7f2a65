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
FILES = {  # overrides that a study needs
    "cloze_whodidwhat": [
        f"cloze.data.whodidwhat.{split}.{key}={value}"
        for split in ("train", "dev", "test")
        for key, value in (("urls", f"[file:///data/{split}.xml]"), ("sha256", DIGEST))
    ]
}


@pytest.fixture(autouse=True)
def _demo(folder: Path) -> None:
    Path("params.yaml").write_text(shipped_params(), encoding="utf-8")


def compose(folder: Path, *words: str) -> Params:
    """Return the parameters that `act-nli use` makes of the demo."""
    (folder / "params.yaml").write_text(shipped_params(), encoding="utf-8")
    with chdir(folder):
        return params_with(words)


def trials(params: Params) -> dict[str, int]:
    models = params.sweep.models
    return {name: math.prod(map(len, model.grid.values())) for name, model in models.items()}


@pytest.mark.parametrize("word", WORDS)
def test_any_patch_composes_and_the_demo_restores_what_it_changes(word: str) -> None:
    """A study also with a local run."""
    group, _, name = word.partition("=")
    use([*(LOCAL if word == "preset=local" else [word]), *FILES.get(name, [])])
    changed = Path("params.yaml").read_text(encoding="utf-8")
    assert (changed == shipped_params()) == (word in ("preset=demo", "study=multihop"))
    params = params_with([*LOCAL, *FILES.get(name, []), word] if group != "preset" else [])
    if group == "study":
        part = {"depth": "multihop", "parity_halting": "sequences", "none": ""}
        assert params.studies == [of for of in [part.get(name, name.partition("_")[0])] if of]
    own = [f"corpus.files.{split}=null" for split in SPLITS] * (word == "preset=local")
    use(["preset=demo", *own])
    assert Path("params.yaml").read_text(encoding="utf-8") == shipped_params()


@pytest.mark.parametrize("model", ALONE)
def test_a_model_composes_alone(model: str) -> None:
    assert list(params_with([f"models={model}"]).sweep.models) == [model]


@pytest.mark.parametrize("preset", [LOCAL, []])
def test_a_model_alone_keeps_the_grid_of_the_preset(preset: list[str]) -> None:
    for model, grid in params_with(preset).sweep.models.items():
        assert params_with([*preset, f"models={model}"]).sweep.models == {model: grid}


def test_all_models_compose_into_one_configuration_each() -> None:
    """All networks have a file; ablations are swept like the network they derive from."""
    networks = {of.model for name, of in MODELS.items() if not name.endswith("as_published")}
    assert {MODELS[name].model for name in ALONE} == networks
    params = params_with(["models=spinn"])  # all, and the one that reads parses
    assert not params_with(["models=all"]).corpus.parses
    presets, ablations = trials(params_with([])), trials(params_with(["models=ablations"]))
    others = (*(ablations.keys() - presets.keys()), "hop_attention")  # multihop has it
    networks -= {MODELS[name].model for name in others}
    assert {MODELS[name].model for name in params.sweep.models} == networks
    added = {name: count for name, count in trials(params).items() if name not in presets}
    assert set(added.values()) == {1}
    for name, model in (models := params_with(["models=ablations"]).sweep.models).items():
        assert model == models["_".join(name.split("_")[-2:])]


DA, AA, IA = "decomposable_attention", "adaptive_attention", "iterative_attention"
BASELINES = ("lstm_encoders", "word_by_word_attention", "nti_tree_matching", "spinn_pi")


@pytest.mark.parametrize(
    ("words", "counts"),
    [
        (["preset=paper"], {DA: 54, AA: 432}),
        (["preset=thesis"], {DA: 1, AA: 84, IA: 84}),
        (["preset=paper_best", "models=table_1"], dict.fromkeys((DA, AA, *BASELINES), 1)),
        (["preset=parikh"], {DA: 1, AA: 1}),
        ([*LOCAL, "models=tuned"], 48),
        (["preset=rocktaschel"], 36),
    ],
)
def test_a_grid_has_the_trials_of_its_source(
    words: list[str], counts: dict[str, int] | int
) -> None:
    found = trials(params_with(words))
    assert found == (counts if isinstance(counts, dict) else dict.fromkeys(found, counts))


def test_the_paper_has_the_values_of_its_table_2() -> None:
    params = params_with(["preset=paper"])
    adaptive = params.sweep.models[AA]
    assert adaptive.grid["ponder_weight"] == [0.001, 0.0005, 0.0001, 0.00005]
    assert (adaptive.settings["optimizer"], adaptive.settings["state_size"]) == ("adagrad", 200)
    assert (params.corpus.source, params.vectors.source) == ("snli", "glove")
    assert params.sweep.max_epochs == 15


@pytest.mark.parametrize("preset", [LOCAL, ["preset=paper"], []])
def test_parikhs_inputs_are_only_for_his_models(preset: list[str]) -> None:
    """Unit vectors, hashed words and a NULL token (the paper's appendix D, Parikh et al.)."""
    sweep = params_with([*preset, "models=all"]).sweep
    inputs_of = {
        name: [
            (sweep.settings | model.settings)[k] for k in ("unit_norm", "oov_rule", "null_token")
        ]
        for name, model in sweep.models.items()
    }
    his = inputs_of.pop(DA)
    assert inputs_of.pop("decomposable_intra_attention") == his
    assert his[0] is (preset != []) and his[2]
    for name, (unit_norm, oov_rule, null_token) in inputs_of.items():
        assert (unit_norm, oov_rule == "hashed", null_token) == (False, False, False), name


def test_a_local_run_takes_its_archives_from_the_command_line() -> None:
    params = params_with(LOCAL)
    assert (params.corpus.files.dev, params.corpus.files.sha256["dev"]) == ("/data/dev.csv", None)
    assert (params.vectors.glove.member, params.vectors.dimensions) == (None, 50)
    archive = ["corpus.source=snli", "corpus.snli.urls=[file:///data/pairs.zip]"]
    snli = params_with(["preset=local", *archive, *LOCAL[-2:]]).corpus.snli
    assert (snli.urls, snli.sha256, snli.labeled_pairs) == (["file:///data/pairs.zip"], None, None)
    with pytest.raises(ConfigError) as caught:
        params_with(["preset=local"])
    files, vectors = caught.value.problems
    assert " ".join(f"corpus.files.{s}=..." for s in SPLITS) in files
    assert "name it: act-nli use 'vectors.glove.urls=...'" in vectors
