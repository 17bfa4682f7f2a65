"""Any params.yaml is accepted or rejected, soon, and with one message for each problem."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from actmodels.errors import ConfigError
from pipeline.parameters.load import load_params, validated
from pipeline.parameters.studies import json_schema, study_names
from tests.pipeline.project import params_tree

HOSTILE: list[Any] = [
    *(None, True, 0, -1, 1, 2**31, 2**64, 10**12, 10**400, -(10**400)),
    *(0.0, -0.5, 1e-320, 1e308, float("inf"), float("nan")),
    *("", " ", "a\0b", "\ud7ff\u202e", "../..", "/proc/self/mem", "file://", "s3://", "http://["),
    *("1_0", "no", "${x}", "x" * 10_000, "a\nb", "[1, 2]", "{}", "![a](x.png)", "?" * 3),
    *([], [[]], [None], [1, 1], [1, 1.0], [float("nan")], list(range(5000))),
    *({}, {"a": 1}, {"": None}, {1: 2}),
]
VALUES = [*HOSTILE, 0.5, 3, "auto", "https://a/b", "a" * 64, ["a", "b"], [0.1, 0.2], [[1]]]
VALUES += [{"min": 1, "max": 8}, {"min": 1, "max": 7, "step": 2}]
SCHEMA = json_schema()
VALID = Draft202012Validator(SCHEMA).is_valid


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value, also of mappings and lists."""
    if path:
        yield path
    inside = dict(enumerate(node)) if isinstance(node, list) else node
    for key, value in inside.items() if isinstance(inside, dict) else ():
        yield from places(value, (*path, key))


def replaced(tree: Any, path: tuple[Any, ...], value: Any) -> None:
    *parents, last = path
    for parent in parents:
        tree = tree[parent]
    tree[last] = value


DEMO = params_tree("multihop")
WHOLE = params_tree(*(name for name in study_names() if name != "cloze"))
PLACE, VALUE = st.sampled_from([*places(DEMO)]), st.sampled_from(HOSTILE)


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(st.tuples(PLACE, VALUE), min_size=1, max_size=3, unique_by=lambda one: one[0]))
def test_any_values_of_a_file(tmp_path: Path, changes: list[tuple[Any, Any]]) -> None:
    tree, stream = params_tree("multihop"), io.StringIO()
    for place, value in sorted(changes, key=lambda one: -len(one[0])):  # the inner ones first
        replaced(tree, place, value)
    YAML(typ="safe", pure=True).dump(tree, stream)
    path = tmp_path / "params.yaml"
    path.write_text(stream.getvalue(), encoding="utf-8")
    try:
        load_params(path)
    except ConfigError as error:
        for line in str(error).splitlines():
            assert line.startswith(f"{path}: ") and len(line) < 1000, line


@settings(max_examples=5 * settings().max_examples)
@given(st.sampled_from([*places(WHOLE)]), st.sampled_from(VALUES))
def test_one_value_is_named_or_accepted_also_by_editors(place: tuple[Any, ...], value: Any) -> None:
    """An accepted value stays as it is through a dump and a load."""
    replaced(tree := json.loads(json.dumps(WHOLE)), place, value)
    try:
        params = validated(tree, "")
    except ConfigError as error:
        names = [str(part) for part in place if isinstance(part, str)]
        assert all(set(names) & {*problem.replace(":", ".").split(".")} or names[0] in problem
                   for problem in error.problems), (names, error.problems)  # fmt: skip
        return
    assert VALID(tree), (place, value)
    assert validated(json.loads(json.dumps(params.model_dump())), "") == params


def test_the_schema_refuses_and_is_small() -> None:
    # shared definitions: editors read all of it
    assert len(json.dumps(SCHEMA)) < 18_000 * len(study_names())
    assert VALID(DEMO) and not VALID({k: v for k, v in DEMO.items() if k != "report"})
    for key, value in (
        *(("swep", {}), ("vocabulary", {"size": 9}), ("report", {"examples": 10**10})),
        *(("vocabulary", {"size": size, "lowercase": True}) for size in (9.5, 0)),
        *(("evaluate", {"reference": 1}), ("export", {"name": "a", "names": "b"})),
    ):
        assert not VALID(DEMO | {key: value}), (key, value)
