import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from ruamel.yaml import YAML

from actmodels.config import setting_types
from actmodels.errors import ConfigError
from actmodels.registry import MODELS
from pipeline.parameters.load import load_params
from pipeline.parameters.rules import rule_problems
from pipeline.parameters.schema import Params
from pipeline.sweep import effective

PARAMS = Path(__file__).parents[2] / "conf" / "base.yaml"
AA_NAME = "adaptive_attention"
AA, DA = f"sweep.models.{AA_NAME}", "sweep.models.decomposable_attention"
FEATURES = (
    "lexicalised.features[1] is 'glue'; must be 'bleu', 'length', 'overlap', 'hypothesis_ngrams', "
    "'cross_unigrams' or 'cross_bigrams'"
)
SQUARE = "a square layer of that size"
REMOVED = object()
LAUGHS = "a: &a0 [1, 1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))


@pytest.fixture
def tree() -> Any:
    return YAML(typ="safe", pure=True).load(PARAMS.read_text(encoding="utf-8"))


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
    return load_params(path)


def problems(tree: Any, folder: Path) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(tree, folder)
    return caught.value.problems


def test_the_demo_is_valid_and_mirrors_the_file(tree: Any) -> None:
    params = load_params(PARAMS)
    assert params.model_dump() == tree
    assert params.corpus.captions.seed == 2016
    assert params.sweep.models["decomposable_attention"].grid["dropout"] == [0.0, 0.05]


def test_params_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        load_params(PARAMS).retrain.patience = 3


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("retrain.sedes", 1, "retrain.sedes is unknown; did you mean retrain.seeds?"),
        ("corpus.snli.url", [], "corpus.snli.url is unknown; did you mean corpus.snli.urls?"),
        ("corpus.snli.labelled_pairs.trian", 1, "did you mean corpus.snli.labelled_pairs.train?"),
        ("swep", {}, "swep is unknown; did you mean sweep?"),
        ("report.zzz", 1, "report.zzz is unknown; must be one of published"),
        (f"{AA}.gird", {}, f"{AA}.gird is unknown; did you mean {AA}.grid?"),
        ("sweep", REMOVED, "sweep is missing"),
        ("retrain.seeds", REMOVED, "retrain.seeds is missing"),
        ("tensors", None, "tensors is None; must be a mapping of names to values"),
        ("corpus.source", "snil", "corpus.source is 'snil'; must be 'captions' or 'snli'"),
        ("vectors.source", "w2v", "vectors.source is 'w2v'; must be 'random' or 'glove'"),
        ("corpus.captions.train", 0, "corpus.captions.train is 0; must be at least 1"),
        ("sweep.models.adaptive_atention", {}, f"adaptive_atention is unknown; did you mean {AA}?"),
        ("evaluate.reference", "lstm", "reference is 'lstm'; must be one of sweep.models: "),
        (f"{AA}.settings.dropout", 0.1, f"{AA}.settings.dropout is in grid as well; keep one of"),
        ("corpus.captions.train", 10.0, "corpus.captions.train is 10.0; must be a whole number"),
        ("corpus.captions.unlabelled", 1, "unlabelled is 1; must be in [0, 1)"),
        ("corpus.snli.sha256", "abc", "must be a SHA-256 of 64 lower-case hex digits"),
        ("corpus.snli.urls", [], "corpus.snli.urls is empty; must have at least one value"),
        ("corpus.snli.urls", ["/a.zip"], "corpus.snli.urls[0] is '/a.zip'; must be a URL that"),
        ("corpus.snli.urls", ["file:a.zip"], "corpus.snli.urls[0] is 'file:a.zip'; must be a URL"),
        ("corpus.snli.urls", "http://a/b", "corpus.snli.urls is 'http://a/b'; must be a list"),
        ("vectors.random.std", float("inf"), "vectors.random.std is inf; must be a finite number"),
        ("vectors.random.std", float("nan"), "vectors.random.std is nan; must be a finite number"),
        ("vocabulary.lowercase", "yes", "vocabulary.lowercase is 'yes'; must be true or false"),
        ("vocabulary.count_splits", ["dev", "dev"], "vocabulary.count_splits[1] is 'dev' again"),
        ("cluster.cpus_per_trial", 0, "cluster.cpus_per_trial is 0; must be at least 1"),
        ("cluster.gpus_per_trial", -1, "cluster.gpus_per_trial is -1; must be at least 0"),
        ("cluster.matmul_precision", "low", "cluster.matmul_precision is 'low'; must be"),
        ("cluster.gpus_per_trial", 1.5, "cluster.gpus_per_trial is 1.5; must be whole above 1"),
        ("cluster.trials_per_pack", 0, "cluster.trials_per_pack is 0; must be a whole number of"),
        ("cluster.trials_per_pack", 2.0, "trials_per_pack is 2.0; must be a whole number of at"),
        ("cluster.trials_per_pack", True, "trials_per_pack is True; must be a whole number of at"),
        ("cluster.trials_per_pack", "max", "is 'max'; must be a whole number of at least 1 and at"),
        ("sweep.early_stopping.rule", "asha", "is 'asha'; must be 'none' or 'successive_halving'"),
        ("sweep.early_stopping.rule", None, "is None; must be 'none' or 'successive_halving'"),
        ("sweep.early_stopping.first_epochs", 0, "first_epochs is 0; must be at least 1"),
        ("sweep.early_stopping.keep_one_in", 1, "keep_one_in is 1; must be at least 2"),
        ("sweep.early_stopping.eta", 3, "eta is unknown; must be one of rule, first_epochs, keep"),
        ("sweep.seeds", [], "sweep.seeds is empty; must have at least one value"),
        ("sweep.models.spinn_pi", {"settings": {}, "grid": {}}, "reads parses; set corpus.parses"),
        ("lexicalised.features", ["bleu", "glue"], FEATURES),
        ("lexicalised.features", [], "lexicalised.features is empty; must have at least one value"),
        ("lexicalised.features", ["bleu", "bleu"], "features[1] is 'bleu' again; each value must"),
        ("lexicalised.regularisation", [0], "regularisation[0] is 0; must be above 0"),
        ("lexicalised.regularisation", [1, 1.0], "regularisation[1] is 1.0 again; each value must"),
        ("lexicalised.seeds", [1], "seeds is unknown; must be one of features, min_count, regular"),
        ("retrain.seeds", [1, 2, 1], "retrain.seeds[2] is 1 again; each value must be given once"),
        ("sweep.max_epochs", 0, "sweep.max_epochs is 0; must be at least 1"),
        ("sweep.models", {}, "sweep.models is empty; must have at least one value"),
        ("select_best.ties", ["dev_loss"], "ties ends with 'dev_loss'; must end with 'grid_order'"),
        ("select_best.ties", ["size", "grid_order"], "select_best.ties[0] is 'size'; must be"),
        ("ablate.model", "lstm_encoders", "must be a model that halts: adaptive_attention"),
        ("ablate.test_steps", [2, 21], "ablate.test_steps[1] is 21; must be at most dev_steps, 20"),
        ("trace.per_label", 0, "trace.per_label is 0; must be at least 1, or name pairs in trace."),
        ("vectors.glove.sha256", "REQUIRED", "-S 'vectors.glove.sha256=...'"),
        ("export.name", "a@b", "export.name is 'a@b'; must be a name of at most 200 letters of"),
        ("export.name", "..", "export.name is '..'; must be a name of at most 200 letters of"),
        ("export.name", "a%2e", "export.name is 'a%2e'; must be a name of at most 200 letters of"),
        ("export.name", "n" * 300, "…; must be a name of at most 200 letters of a to z, digits,"),
        ("sweep.seeds", list(range(2000)), "sweep.seeds has 2,000 values; must be at most 1,000"),
        (
            f"{AA}.grid.batch_size",
            list(range(1, 10_002)),
            "grid makes 20,002 trials with its seeds",
        ),
        ("retrain.max_epochs", 10**6, "retrain.max_epochs is 1000000; must be at most 100,000"),
        ("ablate.dev_steps", 10**9, "ablate.dev_steps is 1000000000; must be at most 1,000"),
        ("sweep.seeds", [2**64], "sweep.seeds[0] is 18446744073709551616; must be at most 1,000,"),
        (
            "vectors.dimensions",
            10**12,
            f"{10**12}; must be at most 10,000: {SQUARE} takes 4e+15 GB",
        ),
        ("retrain.max_epochs", "a; b", "retrain.max_epochs is 'a; b'; must be a whole number"),
        ("vectors.random.std", 1e300, "random.std is 1e+300; must be at most 1,000,000,000"),
        (f"{AA}.grid.width", [10**5], f"{10**5}; must be at most 10,000: {SQUARE} takes 40 GB"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_expected(
    tree: Any, tmp_path: Path, key: str, value: Any, sentence: str
) -> None:
    found = problems(changed(tree, key, value), tmp_path)
    assert any(sentence in problem for problem in found), found


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("grid.dropout", [0.1, 1.2], f"{AA}.grid.dropout[1] is 1.2; must be in [0, 1)"),
        ("grid.dropout", [0.1, 0.10], f"{AA}.grid.dropout[1] is 0.1 again"),
        ("grid.dropout", [], f"{AA}.grid.dropout is empty; must have at least one value"),
        ("grid.dropout", 0.1, f"{AA}.grid.dropout is 0.1; must be a list"),
        ("grid.dropout", [[0.1]], f"{AA}.grid.dropout[0] is [0.1]; must be a number"),
        ("grid.dropout", ["0.1"], f"{AA}.grid.dropout[0] is '0.1'; must be a number"),
        ("grid.width", [64.0], f"{AA}.grid.width[0] is 64.0; must be a whole number"),
        ("grid.width", [True], f"{AA}.grid.width[0] is True; must be a whole number"),
        ("grid.droput", [0.1], f"{AA}.grid.droput is unknown; did you mean {AA}.grid.dropout?"),
        ("settings.init", "he", f"{AA}.settings.init is 'he'; must be one of xavier, normal"),
        ("settings.halting_bias", float("inf"), f"{AA}.settings.halting_bias is inf; must be"),
        ("settings.max_steps", [2, 4], "must be a whole number; several values belong in grid"),
        ("settings.null_token", 0, f"{AA}.settings.null_token is 0; must be true or false"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_expected(
    tree: Any, tmp_path: Path, key: str, value: Any, sentence: str
) -> None:
    found = problems(changed(tree, f"{AA}.{key}", value), tmp_path)
    assert [sentence in problem for problem in found] == [True], found


def test_the_models_looked_into_must_be_swept(tree: Any, tmp_path: Path) -> None:
    found = problems(changed(tree, AA, REMOVED), tmp_path)
    assert [problem.split()[0] for problem in found] == ["ablate.model", "trace.model"]
    for problem in found:
        assert problem.endswith("must be one of sweep.models: decomposable_attention")


def test_all_problems_come_at_once_and_in_one_message(tree: Any, tmp_path: Path) -> None:
    changed(tree, "retrain.patience", -1)
    changed(tree, f"{AA}.grid.dropout", [2])
    changed(tree, "corpus.source", "x")
    changed(tree, f"{DA}.settings.init_std", 0)
    with pytest.raises(ConfigError) as caught:
        load(tree, tmp_path)
    lines = str(caught.value).splitlines()
    assert len(lines) == 4
    assert all(line.startswith(f"{tmp_path / 'params.yaml'}: ") for line in lines)


@pytest.mark.parametrize("model", MODELS)
def test_every_setting_of_a_model_is_needed(tree: Any, model: str) -> None:
    tree["sweep"]["models"][model] = {"settings": {}, "grid": {}}
    common = tree["sweep"]["settings"]
    for setting in setting_types(model):
        kept = common.pop(setting)
        found = rule_problems(tree)
        key = f"sweep.models.{model}.settings.{setting}"
        assert f"{key} is missing; it may be in grid or sweep.settings instead" in found
        common[setting] = kept


def test_common_settings_are_those_of_some_model(tree: Any, tmp_path: Path) -> None:
    changed(tree, "sweep.settings.droput", 0.1)
    changed(tree, "sweep.settings.epsilon", 2)
    assert problems(tree, tmp_path) == [
        "sweep.settings.droput is unknown; did you mean sweep.settings.dropout?",
        "sweep.settings.epsilon is 2; must be in (0, 1)",
    ]


def test_what_is_closest_to_a_model_holds(tree: Any) -> None:
    """Its grid goes before its own settings, these before the common ones."""
    common = {"width": 1, "dropout": 0.1, "init": "xavier", "steps": 4}
    found = effective("decomposable_attention", common, {"dropout": 0.2}, {"width": [8]})
    assert found == {"dropout": 0.2, "init": "xavier"}


def test_a_whole_number_may_stand_for_a_number(tree: Any, tmp_path: Path) -> None:
    changed(tree, "cluster.trials_per_pack", "auto")  # or a whole number, as in the demo
    changed(tree, "cluster.gpus_per_trial", 2)
    changed(tree, f"{AA}.settings.halting_bias", 1)
    found = load(tree, tmp_path).cluster.gpus_per_trial
    assert (found, type(found)) == (2.0, float)  # 2 would be written into results


def test_an_exponent_needs_no_point(tmp_path: Path) -> None:
    text = PARAMS.read_text(encoding="utf-8")
    path = tmp_path / "params.yaml"
    text = re.sub(r"learning_rate: \[.*]", "learning_rate: [1e-3, 5E-4]", text, count=1)
    path.write_text(text, encoding="utf-8")
    grid = load_params(path).sweep.models["decomposable_attention"].grid
    assert grid["learning_rate"] == [0.001, 0.0005]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"# only a comment\n", "is empty"),
        (b"- a\n", "holds a list; must be a mapping of sections"),
        (b"a: 1\nb: [\n", "is not YAML at line 3"),
        (b"a: 1\nb:\tc: d\n", "is not YAML at line 2"),
        (b"a:\n  b: 1\n  b: 2\n", 'has a key twice at line 3: found duplicate key "b"'),
        (b"a: \xff\n", "is not UTF-8 at byte 3"),
        (b"a: \x00\n", "is not YAML"),
        (b"a: !!python/name:os.system\n", "is not YAML at line 1"),
        (b"a: 1\nb: " + b"9" * 5000, "is not YAML at line 2: '999"),
        (b"a:\nb: !!bool maybe", "is not YAML at line 2: 'maybe' is not a valid bool; correct"),
        (b"a: 2020-99-99", "is not YAML at line 1: '2020-99-99' is not a valid timestamp"),
        (b"!!int ''", "is not YAML at line 1: '' is not a valid int; correct the value or its tag"),
        ("- 1  # a\u2028b\n".encode(), "holds a list; must be a mapping of sections"),
        (b"a: &a [*a]", "is nested without end; an alias may name itself"),
        (b"[" * 5000, "is nested without end; an alias may name itself"),
        (LAUGHS.encode(), "is nested without end; an alias may name itself, or others that name"),
    ],
)
def test_a_file_that_is_no_mapping_is_told_by_its_line(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    path = tmp_path / "params.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_params(path)
    assert len(caught.value.problems) == 1
    assert caught.value.problems[0].startswith(sentence)


def test_a_missing_file_tells_where_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"^params\.yaml: no such file; run from the project"):
        load_params()
