"""params.yaml: valid values, and the message for each type of invalid value, key or file."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from ruamel.yaml import YAML

from actmodels.errors import ConfigError
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.sweep import main as sweep
from tests.pipeline.project import ROOT, params_tree, write_params

AA_NAME = "adaptive_attention"
AA, DA = f"sweep.models.{AA_NAME}", "sweep.models.decomposable_attention"
EMPTY: dict[str, Any] = {"settings": {}, "grid": {}}
SPINN = EMPTY | {"settings": {"layer_size": 8, "tracking_size": 8}}
REMOVED = object()
LAUGHS = "a: &a0 [1, 1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))


@pytest.fixture
def tree() -> Any:
    return params_tree()


def changed(tree: Any, key: str, value: Any) -> Any:
    *parents, last = key.split(".")
    section = tree
    for part in parents:
        section = section[part]
    if value is REMOVED:
        del section[last]
    else:
        section[last] = value
    return tree


def load(tree: Any, folder: Path) -> Params:
    path = folder / "params.yaml"
    with path.open("w", encoding="utf-8") as file:
        YAML(typ="safe", pure=True).dump(tree, file)
    return load_params(path, trials=True)


def problems(tree: Any, folder: Path) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(tree, folder)
    return caught.value.problems


def test_the_demo_is_valid_and_mirrors_the_file(tmp_path: Path) -> None:
    tree = params_tree("multihop")
    write_params(tmp_path, multihop={})
    params = load_params(tmp_path / "params.yaml")
    assert params.model_dump() == tree
    assert list(params.sweep.models["adaptive_attention"].grid) == list(
        tree["sweep"]["models"]["adaptive_attention"]["grid"]
    )
    with pytest.raises(ValidationError, match="frozen"):
        params.retrain.patience = 3


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("retrain.sedes", 1, "retrain.sedes is unknown; did you mean retrain.seeds?"),
        ("swep", {}, "swep is unknown; did you mean sweep?"),
        ("report.zzz", 1, "report.zzz is unknown; must be one of examples"),
        (f"{AA}.grid.droput", [0.1], f"{AA}.grid.droput is unknown; did you mean {AA}.grid.dro"),
        (f"{AA}n", None, f"{AA}n is unknown; did you mean {AA}?"),  # null leaves a model out
        ("sweep.models", {AA_NAME: None}, "sweep.models is empty; must have at least one value"),
        ("evaluate.reference", "adaptive_atention", "; did you mean adaptive_attention?"),
        ("retrain.seeds", REMOVED, "retrain.seeds is missing"),
        ("sweep.settings", [], "sweep.settings is []; must be a mapping of names to values"),
        ("vocabulary.size", 10.0, "vocabulary.size is 10.0; must be a whole number"),
        ("vectors.random.std", float("inf"), "vectors.random.std is inf; must be a finite number"),
        ("vectors.random.std", 0, "vectors.random.std is 0; must be above 0"),
        ("corpus.captions.unlabeled", 1, "unlabeled is 1; must be below 1"),
        ("retrain.max_epochs", 10**6, "retrain.max_epochs is 1000000; must be at most 100,000"),
        ("vocabulary.lowercase", "yes", "vocabulary.lowercase is 'yes'; must be true or false"),
        ("corpus.source", "snil", "corpus.source is 'snil'; must be 'captions', 'snli' or"),
        ("corpus.files.train", "s3://a/b", "train is 's3://a/b'; must be a path, or a URL that"),
        ("corpus.files.labels", {"yes": "si"}, "labels.yes is 'si'; must be one of neutral, ent"),
        (
            "corpus.files.labels",
            {3: "neutral"},
            'label 3 is no text; write the label in quotes: "3"',
        ),
        (
            "corpus.files.labels",
            {None: "-"},
            "the label null is no text; write the label in quotes",
        ),
        (
            "corpus.files.labels",
            {True: "-"},
            "the label true is no text; write the label in quotes",
        ),
        ("corpus.classes", ["a", "A"], "a list of names that differ in more than upper and lower"),
        ("corpus.classes", ["a", "steps"], "corpus.classes[1] is 'steps'; must be at most 100 ch"),
        ("corpus.classes", ["a", 1], "corpus.classes[1] is 1; must be text"),
        ("corpus.classes", ["a", "b"], "source captions needs the classes neutral, entailment, c"),
        (
            "corpus.files.where.train",
            {"lang": [1]},
            "where.train.lang is [1]; must be text, a number",
        ),
        ("watch", ["tensors"], "watch[0] is 'tensors'; must be 'corpus' or 'vectors'"),
        ("evaluate.reference", 1, "evaluate.reference is 1; must be text"),
        ("vectors.glove.member", "", "vectors.glove.member is ''; must be text"),
        (
            "vectors.glove.member",
            "REQUIRED",
            "vectors.glove.member has no value yet; name it: act-n",
        ),
        ("vectors.glove.sha256", "abc", "must be a SHA-256 of 64 lower-case hex digits"),
        ("corpus.snli.urls", [], "corpus.snli.urls is empty; must have at least one value"),
        ("corpus.snli.urls", "http://a/b", "corpus.snli.urls is 'http://a/b'; must be a list"),
        ("corpus.snli.urls", ["http://[::1/a"], "urls[0] is 'http://[::1/a'; must be a URL that"),
        ("corpus.snli.urls", ["http://host:x/a"], "urls[0] is 'http://host:x/a'; must be a URL th"),
        ("corpus.snli.urls", ["file:///a%00b"], "urls[0] is 'file:///a%00b'; must be a URL that"),
        ("corpus.snli.urls", ["/a.zip"], "corpus.snli.urls[0] is '/a.zip'; must be a URL that"),
        ("cluster.gpus_per_trial", 1.5, "cluster.gpus_per_trial is 1.5; must be whole above 1"),
        ("cluster.trials_per_fusion", 0, "must be a whole number from 1 to 1,000, or auto"),
        ("sweep.seeds", list(range(2000)), "sweep.seeds has 2,000 values; must be at most 1,000"),
        ("retrain.seeds", [1, 2, 1], "retrain.seeds is [1, 2, 1]; must be a list with each value"),
        ("select_best.ties", ["dev_loss"], "must be a list that ends with 'grid_order'"),
        ("export.name", "..", "export.name is '..'; must be a name of at most 200 letters of"),
        ("export.name", "n" * 300, "…; must be a name of at most 200 letters of a to z, digits,"),
        ("sweep.settings.init", "he", "sweep.settings.init is 'he'; must be 'xavier' or 'normal'"),
        (f"{AA}.grid.dropout", [0.1, 1.2], f"{AA}.grid.dropout[1] is 1.2; must be below 1"),
        (f"{AA}.grid.dropout", [[0.1]], f"{AA}.grid.dropout[0] is [0.1]; must be a number"),
        # what only several keys together show
        (f"{AA}.settings.dropout", 0.1, f"{AA}.settings.dropout is in grid as well; keep one of"),
        (f"{AA}.settings.steps", 2, f"{AA}: steps is not a setting of adaptive_attention"),
        (f"{AA}.grid.batch_size", list(range(1, 10_002)), f"{AA}: makes 20,002 trials with its s"),
        ("sweep.models.spinn_pi", SPINN, "reads parses; set corpus.parses"),
        ("sweep.models.lstm_encoders", EMPTY, "layer_size of lstm_encoders is missing"),
        ("sweep.only", ["lstm"], "only is ['lstm']; must be a list of models of sweep.models: "),
        ("sweep.search", "tpe", "sweep.search is 'tpe'; must be 'grid', 'random' or 'optuna'"),
        ("sweep.trials", 3, "sweep.trials is 3; must be null with search grid"),
        ("evaluate.reference", "lstm", "reference is 'lstm'; must be one of sweep.models: "),
        ("ablate.model", "lstm_encoders", "must be a model that halts: adaptive_attention"),
        ("ablate.test_steps", [2, 21], "ablate.test_steps[1] is 21; must be at most dev_steps, 20"),
    ],
)
def test_an_invalid_value_is_named_with_the_expected_one(
    tree: Any, tmp_path: Path, key: str, value: Any, sentence: str
) -> None:
    [problem] = problems(changed(tree, key, value), tmp_path)
    assert sentence in problem


def test_all_problems_are_reported_together(tree: Any, tmp_path: Path) -> None:
    wrong = {
        "retrain.patience": (-1, 0),
        f"{AA}.grid.dropout": ([2], [0]),
        "export.a": (1, REMOVED),
    }
    for key, (value, _) in wrong.items():
        changed(tree, key, value)
    messages = problems(tree, tmp_path)
    assert len(messages) == 3
    for key, (_, value) in wrong.items():
        changed(tree, key, value)
    for key, value in {
        "sweep.only": ["x"],
        "ablate.dev_steps": 7,
        "evaluate.reference": "a",
    }.items():
        changed(tree, key, value)
    assert len(problems(tree, tmp_path)) == 3


def test_a_study_is_listed_and_has_a_section(tree: Any, tmp_path: Path) -> None:
    halting = params_tree("halting")["halting"]
    right = tree | {"studies": ["halting"], "halting": halting}
    assert load(right, tmp_path).studies == ["halting"]
    wrong = {"studies": ["multihop", "cloz"], "halting": halting, "trace": {}}
    messages = problems(tree | wrong, tmp_path)
    assert messages[:3] == [
        "halting is the section of a study that is not in studies; add halting there, or remove "
        "the section",
        "multihop is in studies, but has no section; add it, remove multihop from studies, or run: "
        "act-nli use study=multihop",
        "trace.model is missing",
    ]
    assert messages[-1].startswith("studies[1] is 'cloz'; must be 'cloze', 'fidelity', ")
    assert problems(right | {"study": "depth", "preset": "paper"}, tmp_path) == [
        "preset=paper is no key of params.yaml; run: act-nli use preset=paper study=depth"
    ]
    assert problems(right | {"studies": "halting"}, tmp_path) == [
        "studies is 'halting'; must be a list"
    ]


def test_a_setting_without_value_is_missing(tree: Any, tmp_path: Path) -> None:
    del tree["sweep"]["settings"]["init"]
    assert problems(tree, tmp_path) == [
        f"sweep.models.{model}: init of {model} is missing"
        for model in sorted(tree["sweep"]["models"])
    ]


def test_trials_are_built_for_the_sweep_alone(tree: Any, folder: Path) -> None:
    multihop = tree | params_tree("multihop")
    del multihop["multihop"]["settings"]["width"], multihop["sweep"]["settings"]["init"]
    messages = problems(multihop, folder)
    assert len(messages) == 5 and load_params().studies == ["multihop"]
    assert (
        messages[-1] == "multihop.models.hop_attention_dact: width of hop_attention_dact is missing"
    )
    with pytest.raises(ConfigError, match="init of adaptive_attention is missing"):
        sweep()


def test_a_model_set_to_null_is_left_out(tree: Any, tmp_path: Path) -> None:
    tree["sweep"]["models"]["compare_adaptive_attention"] = None
    assert "compare_adaptive_attention" not in load(tree, tmp_path).sweep.models
    changed(tree, "sweep.only", [AA_NAME])
    assert list(load(tree, tmp_path).sweep.models) == [AA_NAME]


def test_a_search_has_a_number_of_points(tree: Any, tmp_path: Path) -> None:
    changed(tree, "cluster.trials_per_fusion", "auto")
    tree["sweep"] |= {"search": "optuna", "seeds": [1, 2]}
    limit = "must be at most 4, the points of the largest grid, with search optuna"
    assert problems(tree, tmp_path) == [
        f"sweep.trials is null; {limit}",
        "cluster.trials_per_fusion is 'auto'; must be 1 with search optuna",
    ]
    tree["sweep"] |= {"search": "random", "trials": 5}
    assert problems(tree, tmp_path)[0].startswith("sweep.trials is 5; must be at most 4, the poi")
    load(changed(tree, "sweep.trials", 4), tmp_path)


def test_an_int_is_accepted_for_a_float(tree: Any, tmp_path: Path) -> None:
    """The reverse would change a trial's key, or the text of a result."""
    changed(tree, "cluster.trials_per_fusion", "auto")  # or a whole number, as in the demo
    changed(tree, "cluster.gpus_per_trial", 2)
    changed(tree, f"{AA}.settings.halting_bias", 1)
    changed(tree, f"{AA}.grid.dropout", [0])
    params = load(tree, tmp_path)
    own = params.sweep.models[AA_NAME]
    messages = (params.cluster.gpus_per_trial, own.settings["halting_bias"], own.grid["dropout"][0])
    assert repr(messages) == "(2.0, 1.0, 0.0)"


@pytest.mark.parametrize("key", ["storage", "state"])
def test_places(tree: Any, tmp_path: Path, key: str) -> None:
    for place in ("state/ray", "~/x", "./s3:/x", "größe x", "file:///mnt/x", "s3://b/p", "gs://b"):
        load(changed(tree, f"cluster.{key}", place), tmp_path)
    for place in ("s3:/bucket/x", "~nobody/x", " ", "file://x", "S3://b", "s3://", "", "x ", "a:b"):
        [problem] = problems(changed(tree, f"cluster.{key}", place), tmp_path)
        assert problem.startswith(f"cluster.{key} is {place!r}; must be a folder, or a URL: file:/")


def test_number_formats(tmp_path: Path) -> None:
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    path = tmp_path / "params.yaml"
    path.write_text(text.replace("size: 40000", f"size: 0x{'f' * 5000}"), encoding="utf-8")
    with pytest.raises(ConfigError, match="is a number of thousands of digits; must be at most 1,"):
        load_params(path)
    text = re.sub(r"learning_rate: \[.*]", "learning_rate: [1e-3, 5E-4]", text, count=1)
    path.write_text(text, encoding="utf-8")
    grid = load_params(path).sweep.models["decomposable_attention"].grid
    assert grid["learning_rate"] == [0.001, 0.0005]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"# only a comment\n", "is empty"),
        (b"- a\n", "holds a list; must be a mapping of sections"),
        (b"a: 1\nb: [\n", "is not YAML at line 3"),
        (b"a:\n  b: 1\n  b: 2\n", 'is not YAML at line 3: found duplicate key "b"'),
        (b"a: \xff\n", "is not UTF-8 at byte 3"),
        (b"a: !!python/name:os.system\n", "is not YAML at line 1"),
        (b"a: 1\nb: " + b"9" * 5000, "is not YAML at line 2: '999"),
        (b"a:\nb: !!bool maybe", "is not YAML at line 2: 'maybe' is not a valid bool; correct"),
        ("- 1  # a\u2028b\n".encode(), "holds a list; must be a mapping of sections"),
        (b"[" * 5000, "is nested without end; an alias may name itself"),
        (LAUGHS.encode(), "is nested without end; an alias may name itself, or others that name"),
    ],
)
def test_an_invalid_file_is_an_error_with_its_line(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    path = tmp_path / "params.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_params(path)
    assert len(caught.value.problems) == 1
    assert caught.value.problems[0].startswith(sentence)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"params\.yaml: no such file; run from the project"):
        load_params(tmp_path / "params.yaml")
