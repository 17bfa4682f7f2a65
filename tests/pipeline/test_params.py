"""params.yaml: valid values, and the message for each type of invalid value, key or file."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import TypeAdapter, ValidationError

from actmodels.errors import ConfigError
from actmodels.registry import MODELS
from actmodels.trial_config import setting_types
from pipeline.parameters.load import checked, load_params
from pipeline.parameters.rules import watched
from pipeline.parameters.schema import EarlyStopping, ModelGrid, Params, Sweep
from pipeline.parameters.section import PAIRS, Keys, Section
from pipeline.parameters.studies import params_type, study_names
from pipeline.parameters.trials import sweep_trials
from pipeline.sweep import main as sweep
from tests.pipeline.project import ROOT, params_tree, read_yaml, write_params
from tests.samples import SETTINGS

AA_NAME = "adaptive_attention"
AA, DA = f"sweep.models.{AA_NAME}", "sweep.models.decomposable_attention"
GOLDEN = ROOT / "tests" / "fixtures" / "golden" / "params.txt"
RANGE: dict[str, Any] = {"min": 0, "max": 0.5}
LAUGHS = "a: &a0 [1, 1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))


@pytest.fixture
def tree() -> Any:
    return params_tree()


def changed(tree: Any, key: str, value: Any) -> Any:
    *parents, last = key.split(".")
    section = tree
    for part in parents:
        section = section[part]
    section[last] = value
    return tree


def load(tree: Any, folder: Path) -> Params:
    return checked(tree, str(folder / "params.yaml"), trials=True)


def problems(tree: Any, folder: Path = Path()) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load(tree, folder)
    return caught.value.problems


def test_the_demo_is_valid_and_mirrors_the_file(tmp_path: Path) -> None:
    tree = params_tree("multihop")
    write_params(tmp_path, multihop={})
    params = load_params(tmp_path / "params.yaml")
    assert params.model_dump() == tree
    grids = params.sweep.models[AA_NAME].grid, tree["sweep"]["models"][AA_NAME]["grid"]
    assert [*grids[0]] == [*grids[1]]  # in the order of the file
    with pytest.raises(ValidationError, match="frozen"):
        params.retrain.patience = 3


def test_values_and_the_problems_of_invalid_ones(golden: Callable[..., None]) -> None:
    """Each line `key=value` changes the demo; the lines below it are its problems, or ok."""
    lines: list[str] = []
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            continue
        key, _, value = line.partition("=")
        try:
            checked(changed(params_tree(), key, read_yaml(value)), "", trials=True)
            lines += [line, "  ok"]
        except ConfigError as error:
            lines += [line, *(f"  {problem}" for problem in error.problems)]
    golden(GOLDEN.name, "".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(
    ("key", "count", "problem"),
    [
        ("sweep.seeds", 1001, "sweep.seeds has 1,001 values; must be at most 1,000"),
        (f"{AA}.grid.batch_size", 10_001, f"{AA}: makes 20,002 trials with its seeds"),
    ],
)
def test_an_endless_list(tree: Any, key: str, count: int, problem: str) -> None:
    assert problems(changed(tree, key, [*range(1, count + 1)]))[0].startswith(problem)


def test_all_problems_are_reported_together(tree: Any) -> None:
    for key, value in (("retrain.patience", -1), (f"{AA}.grid.dropout", [2]), ("export.a", 1)):
        changed(tree, key, value)
    assert len(problems(tree)) == 3
    tree = changed(changed(params_tree(), "sweep.only", ["x"]), "ablate.dev_steps", 7)
    assert len(problems(changed(tree, "evaluate.reference", "a"))) == 3


def test_a_missing_key_and_a_missing_setting(tree: Any) -> None:
    del tree["retrain"]["seeds"]
    assert problems(tree) == ["retrain.seeds is missing"]
    del (tree := params_tree())["sweep"]["settings"]["init"]
    missing = [f"sweep.models.{m}: init of {m} is missing" for m in tree["sweep"]["models"]]
    assert sorted(problems(tree)) == sorted(missing)


def test_a_study_is_listed_and_has_a_section(tree: Any, tmp_path: Path) -> None:
    halting = params_tree("halting")["halting"]
    right = tree | {"studies": ["halting"], "halting": halting}
    assert load(right, tmp_path).studies == ["halting"]
    wrong = {"studies": ["multihop", "cloz"], "halting": halting, "trace": {}}
    off, on, missing, *_, unknown = problems(tree | wrong)
    assert off.startswith("halting is the section of a study that is not in studies; add halting")
    assert on.startswith("multihop is in studies, but has no section; ")
    assert missing == "trace.model is missing" and unknown.startswith("studies[1] is 'cloz'; must")
    assert problems(right | {"study": "depth", "preset": "paper"}) == [
        "preset=paper is no key of params.yaml; run: act-nli use preset=paper study=depth"
    ]
    assert problems(right | {"studies": "halting"}) == ["studies is 'halting'; must be a list"]


def test_trials_are_built_for_the_sweep_alone(folder: Path) -> None:
    write_params(folder, multihop={})
    tree = params_tree("multihop")
    del tree["multihop"]["settings"]["width"], tree["sweep"]["settings"]["init"]
    (folder / "params.yaml").write_text(json.dumps(tree))
    assert len(problems(tree)) == 5 and load_params().studies == ["multihop"]
    model = "hop_attention_dact"
    assert problems(tree)[-1] == f"multihop.models.{model}: width of {model} is missing"
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
    assert problems(tree) == [
        "sweep.trials is null; must be at most 4, the points of the largest grid, with search "
        "optuna",
        "cluster.trials_per_fusion is 'auto'; must be 1 with search optuna",
    ]
    tree["sweep"] |= {"search": "random", "trials": 5}
    assert problems(tree)[0].startswith("sweep.trials is 5; must be at most 4, the points of")
    load(changed(tree, "sweep.trials", 4), tmp_path)
    # a range has two notations, and any number of points; `dvc exp run -S` can replace a list
    changed(tree, f"{AA}.grid.dropout", [RANGE])
    changed(tree, f"{AA}.grid.width", {"min": 8, "max": 32})
    grid = load(changed(tree, "sweep.trials", 5000), tmp_path).sweep.models[AA_NAME].grid
    assert (grid["dropout"], grid["width"]) == (RANGE, {"min": 8, "max": 32})
    limit = "sweep.trials is 5001; must be at most 5,000 with search random"  # 10,000 of two seeds
    assert problems(changed(tree, "sweep.trials", 5001)) == [limit]


def test_an_int_is_accepted_for_a_float(tree: Any, tmp_path: Path) -> None:
    """The reverse would change a trial's key, or the text of a result."""
    changed(tree, "cluster.trials_per_fusion", "auto")  # or a whole number, as in the demo
    changed(tree, "cluster.gpus_per_trial", 2)
    changed(tree, f"{AA}.settings.halting_bias", 1)
    params = load(changed(tree, f"{AA}.grid.dropout", [0]), tmp_path)
    own = params.sweep.models[AA_NAME]
    values = (params.cluster.gpus_per_trial, own.settings["halting_bias"], own.grid["dropout"][0])
    assert repr(values) == "(2.0, 1.0, 0.0)"


@pytest.mark.parametrize("key", ["storage", "state"])
def test_places(tree: Any, tmp_path: Path, key: str) -> None:
    for place in ("state/ray", "~/x", "./s3:/x", "größe x", "file:///mnt/x", "s3://b/p", "gs://b"):
        load(changed(tree, f"cluster.{key}", place), tmp_path)
    for place in ("s3:/bucket/x", "~nobody/x", " ", "file://x", "S3://b", "s3://", "", "x ", "a:b"):
        [problem] = problems(changed(tree, f"cluster.{key}", place))
        assert problem.startswith(f"cluster.{key} is {place!r}; must be a folder, or a URL: file:/")


@pytest.mark.parametrize(
    ("urls", "stages"),
    [(["https://a/b", "FILE:///c"], ["corpus", "vectors"]), (["https://a/b"], ["corpus"])],
)
def test_local_files_are_watched_also_as_mirrors(urls: list[str], stages: list[str]) -> None:
    tree = params_tree(vectors={"source": "glove", "glove": {"urls": urls}})
    places = dict.fromkeys(("train", "dev", "test"), "x.csv")
    tree = params_tree(vectors=tree["vectors"], corpus={"source": "files", "files": places})
    assert watched(checked(tree | {"watch": stages}, "")) == stages


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
        (None, "no such file; run from the project"),
        (b"# only a comment\n", "is empty"),
        (b"- a\n", "holds a list; must be a mapping of sections"),
        (b"a: 1\nb: [\n", "is not YAML at line 3"),
        (b"a:\n  b: 1\n  b: 2\n", 'is not YAML at line 3: found duplicate key "b"'),
        (b"a: \xff\n", "is not UTF-8 at byte 3"),
        (b"a: !!python/name:os.system\n", "is not YAML at line 1"),
        (b"a: 1\nb: " + b"9" * 5000, "is not YAML at line 2: '999"),
        (b"a:\nb: !!bool maybe", "is not YAML at line 2: 'maybe' is not a valid bool; correct"),
        ("- 1  # a\u2028b\n".encode(), "holds a list; must be a mapping of sections"),
        (b"[" * 1500, "is nested without end; an alias may name itself"),
        (LAUGHS.encode(), "is nested without end; an alias may name itself, or others that name"),
    ],
)
def test_an_invalid_file(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    path = tmp_path / "params.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_params(path)
    assert len(caught.value.problems) == 1 and caught.value.problems[0].startswith(sentence)


def numbers(hint: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield path and type of each number in a type."""
    base = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if base in (int, float):
        yield path, hint
    elif isinstance(base, type) and issubclass(base, Section):
        for name, info in base.model_fields.items():
            yield from numbers(info.rebuild_annotation(), f"{path}.{name}")
    elif isinstance(base, Keys):
        for name, kind in base.types.items():
            yield from numbers(kind, f"{path}.{name}")
    else:
        for kind in get_args(hint):
            yield from numbers(kind, path)


def test_every_number_has_an_upper_bound() -> None:
    """No value causes endless work. The schema itself lists the numbers."""
    result = list(numbers(params_type(*study_names()), "params"))
    assert len(result) > 400 and any(path.endswith("hop_attention.width") for path, _ in result)
    for path, hint in {str(hint): (path, hint) for path, hint in result}.values():
        for value in (10**16, 10**400, 1e300):
            with pytest.raises(ValidationError):
                print(path, TypeAdapter(hint).validate_python(value, strict=True))


@pytest.mark.parametrize("model", MODELS)
def test_a_name_has_one_type_whatever_the_trial(model: str) -> None:
    """params.yaml is validated by the types of all trials together."""
    assert setting_types(model).items() <= PAIRS.items()


MODEL = "decomposable_attention"


def small_sweep(grid: dict[str, list[Any]], seeds: list[int], **own: Any) -> Sweep:
    """Return a sweep of one model; keyword arguments are the model's settings."""
    rule = EarlyStopping(rule="none", grace_period=1, reduction_factor=3)
    return Sweep(
        **{"seeds": seeds, "max_epochs": 15, "patience": 0, "early_stopping": rule},
        **{"search": "grid", "trials": None, "search_seed": 1, "only": None},
        **{"settings": SETTINGS, "models": {MODEL: ModelGrid(settings=own, grid=grid)}},
    )


def test_axes_have_the_order_of_the_result_tables_and_seeds_vary_fastest() -> None:
    grid = {"learning_rate": [0.1, 0.2], "width": [8, 4]}
    result = sweep_trials(small_sweep(grid, [5, 7]))
    assert result == sweep_trials(small_sweep(dict(reversed(grid.items())), [5, 7]))
    assert [(c.network.width, c.training.learning_rate, c.seed) for c in result] == [
        *((8, 0.1, 5), (8, 0.1, 7), (8, 0.2, 5), (8, 0.2, 7)),
        *((4, 0.1, 5), (4, 0.1, 7), (4, 0.2, 5), (4, 0.2, 7)),
    ]
    assert {(c.max_epochs, c.patience) for c in result} == {(15, 0)}


def test_the_grid_and_the_settings_of_a_model_take_precedence() -> None:
    [config] = sweep_trials(small_sweep({"width": [2]}, [1], dropout=0.3))
    assert config.flat().items() >= {"width": 2, "dropout": 0.3, "init": SETTINGS["init"]}.items()
