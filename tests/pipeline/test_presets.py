import math
from collections.abc import Callable
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


@pytest.mark.parametrize("preset", [LOCAL, []])
def test_a_model_alone_keeps_the_grid_of_the_preset(preset: list[str]) -> None:
    whole = params_with(preset).sweep
    for model, grid in whole.models.items():
        alone = params_with([*preset, f"models={model}"]).sweep
        own = alone.models[model].settings
        assert alone.models == {model: grid.model_copy(update={"settings": own})}
        assert alone.settings | own == whole.settings | grid.settings


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


def test_models_trials_and_inputs_of_each_patch(golden: Callable[..., None]) -> None:
    """The inputs of Parikh et al. are only for their models."""
    names, text = ("unit_norm", "oov_rule", "null_token"), ""
    pairs = ["preset=paper models=all", "preset=local models=all", "preset=local models=tuned"]
    for line in (*WORDS, *pairs, "preset=paper_best models=table_1"):
        words = [*line.split(), *(LOCAL[1:] if "preset=local" in line else [])]
        params = params_with([*words, *FILES.get(line.partition("=")[2], [])])
        sweep, counts = params.sweep, trials(params)
        text += (
            f"{line}: {params.corpus.source}, {params.vectors.source}, {sweep.max_epochs} epochs\n"
        )
        for name, model in sweep.models.items():
            inputs = [str((sweep.settings | model.settings)[key]) for key in names]
            text += f"  {name}: {counts[name]} trials, {' '.join(inputs)}\n"
    golden("presets.txt", text)
    adaptive = params_with(["preset=paper"]).sweep.models["adaptive_attention"]
    assert adaptive.grid["ponder_weight"] == [0.001, 0.0005, 0.0001, 0.00005]
    assert (adaptive.settings["optimizer"], adaptive.settings["state_size"]) == ("adagrad", 200)


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
