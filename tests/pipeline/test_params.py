"""params.yaml: valid values, and the message for each type of invalid value, key or file."""

import json
import re
from collections.abc import Callable, Iterator
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import TypeAdapter, ValidationError

from actmodels.errors import ConfigError
from actmodels.registry import MODELS
from actmodels.trial_config import setting_types
from pipeline.parameters.load import checked, load_params
from pipeline.parameters.schema import EarlyStopping, ModelGrid, Params, Sweep
from pipeline.parameters.section import PAIRS, Keys, ParamsSection
from pipeline.parameters.studies import params_type, study_names
from pipeline.parameters.trials import sweep_trials, trial_count
from pipeline.sweep import main as sweep
from tests.pipeline.project import ROOT, params_tree, read_yaml, transcribe, write_params
from tests.samples import SETTINGS
from tune.trials.search import RandomSearch

AA_NAME = "adaptive_attention"
AA = f"sweep.models.{AA_NAME}"
GOLDEN = ROOT / "tests" / "fixtures" / "golden" / "params.txt"
RANGE: dict[str, Any] = {"min": 0, "max": 0.5}


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
    assert params.model_dump(exclude_unset=True) == tree
    grids = params.sweep.models[AA_NAME].grid, tree["sweep"]["models"][AA_NAME]["grid"]
    assert [*grids[0]] == [*grids[1]]  # in the order of the file
    with pytest.raises(ValidationError, match="frozen"):
        params.retrain.patience = 3


def change_of(tree: Any, text: str) -> None:
    """Apply `key=value`, `key=first..last` for a long list, `key!` to remove one, or `+study`."""
    key, _, value = text.partition("=")
    ends = re.fullmatch(r"(\d+)\.\.(\d+)", value)
    if key.startswith("+"):
        tree[key[1:]] = params_tree(key[1:])[key[1:]]
    elif key.endswith("!"):
        *parents, last = key[:-1].split(".")
        del reduce(getitem, parents, tree)[last]
    else:
        changed(tree, key, [*range(int(ends[1]), int(ends[2]) + 1)] if ends else read_yaml(value))


def test_values_and_the_problems_of_invalid_ones(golden: Callable[..., None]) -> None:
    """Each line changes the demo, at several places; its problems, or ok, are below it."""
    lines: list[str] = []
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            continue
        lines.append(line)
        tree = params_tree()
        for text in line.split(" ;; "):
            change_of(tree, text)
        try:
            checked(tree, "", trials=True)
            lines.append("  ok")
        except ConfigError as error:
            lines += [f"  {problem}" for problem in error.problems]
    golden(GOLDEN.name, "".join(f"{line}\n" for line in lines))


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


def test_values_are_stored_in_one_type(tree: Any, tmp_path: Path) -> None:
    """An int is accepted for a float; the reverse would change a trial's key, or a result's text.

    A model set to null is left out; a range has two notations, as `dvc exp run -S` can replace a
    list.
    """
    for key, value in (
        ("cluster.gpus_per_trial", 2),
        (f"{AA}.settings.halting_bias", 1),
        *((f"{AA}.grid.dropout", [RANGE]), (f"{AA}.grid.width", {"min": 8, "max": 32})),
        *((f"{AA}.grid.batch_size", [8]), (f"{AA}.grid.final_rate", [1])),
        *(("sweep.search", "random"), ("sweep.trials", 5000)),
        ("sweep.models.compare_adaptive_attention", None),
    ):
        changed(tree, key, value)
    params = load(tree, tmp_path)
    assert list(params.sweep.models) == ["decomposable_attention", AA_NAME]
    own = params.sweep.models[AA_NAME]
    values = (params.cluster.gpus_per_trial, own.settings["halting_bias"], *own.grid["final_rate"])
    assert repr(values) == "(2.0, 1.0, 1.0)"
    assert (own.grid["dropout"], own.grid["width"]) == (RANGE, {"min": 8, "max": 32})
    changed(tree, "sweep.only", [AA_NAME])
    assert list(load(tree, tmp_path).sweep.models) == [AA_NAME]


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


def test_an_invalid_file(tmp_path: Path, golden: Callable[..., None]) -> None:
    def file(content: bytes | None) -> None:
        path = tmp_path / "params.yaml"
        if content is not None:
            path.write_bytes(content)
        load_params(path)

    transcribe(golden, "params_files.txt", {"file": file}, f"{tmp_path}/")


def numbers(hint: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield path and type of each number in a type."""
    base = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if base in (int, float):
        yield path, hint
    elif isinstance(base, type) and issubclass(base, ParamsSection):
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


def test_points_are_combined_with_the_grid_and_searched_at_random() -> None:
    sweep = small_sweep({"width": [8, 4]}, [5])
    listed = [{"optimizer": "adagrad", "adagrad_accumulator": 0.3}, {"learning_rate": 0.5}]
    sweep.models[MODEL].points.extend(listed)
    every = [
        *((8, "adagrad", 0.3, 0.01), (4, "adagrad", 0.3, 0.01)),
        *((8, "adam", 0.1, 0.5), (4, "adam", 0.1, 0.5)),
    ]
    for draw, count in ((None, 4), (RandomSearch(3, seed=1).draw, 3), (RandomSearch(9, 1).draw, 4)):
        rows = [
            (c.network.width, t.optimizer, t.adagrad_accumulator, t.learning_rate)
            for c in sweep_trials(sweep, draw)
            for t in [c.training]
        ]
        assert rows == [row for row in every if row in rows] and len(rows) == count
    assert trial_count(sweep) == 4
    width = sweep.models[MODEL].model_copy(update={"grid": {"width": {"min": 8, "max": 99}}})
    ranged = sweep.model_copy(update={"models": {MODEL: width}})
    drawn = sweep_trials(ranged, RandomSearch(9, seed=1).draw)
    assert len({config.network.width for config in drawn}) > 4 and len(set(drawn)) == 9


def test_the_grid_and_the_settings_of_a_model_take_precedence() -> None:
    [config] = sweep_trials(small_sweep({"width": [2]}, [1], dropout=0.3))
    assert config.flat().items() >= {"width": 2, "dropout": 0.3, "init": SETTINGS["init"]}.items()
