"""The schema of params.yaml, which editors read, accepts what the loader accepts.

Three exceptions: the loader alone has rules that span several keys, the order of select_best.ties,
and the form of a port or a regular expression; JSON takes 1.0 for a whole number, and has no NaN.
"""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter, ValidationError
from ruamel.yaml import YAML

from pipeline.parameters.json_schema import json_schema
from pipeline.parameters.studies import params_type
from tests.pipeline.test_presets import ROOT, compose

VALUES: list[Any] = [-1, 0, 2, 1.5, True, None, "", "zzz", "a b", "REQUIRED", "auto", [], {}]
VALUES += [
    ["zzz"],
    [1, 1],
    ["zzz", "zzz"],
    "a" * 64,
    "https://a/b",
    "s3://a/b",
    "x ",
    {"zzz": None},
]
SCHEMA = json_schema()
STUDIES = ("sequences_paper", "cloze_cbt", "fidelity", "halting")


def mutations(node: Any) -> Iterator[Any]:
    """Yield a tree with one value replaced, one key missing or unknown, or one item twice."""
    yield from VALUES
    if isinstance(node, list) and node:
        yield [*node, node[0]]
    items = dict(enumerate(node)) if isinstance(node, list) else node
    for key, inner in items.items() if isinstance(items, dict) else ():
        for mutated in mutations(inner):
            changed = copy.copy(node)
            changed[key] = mutated
            yield changed
    if isinstance(node, dict):
        yield node | {"zzz": 1}
        yield from ({k: v for k, v in node.items() if k != key} for key in node)


def loads(section: Any, value: Any) -> bool:
    try:
        TypeAdapter(section).validate_python(value)
    except ValidationError:
        return False
    return True


def trees(folder: Path) -> Iterator[dict[str, Any]]:
    tree = YAML(typ="safe", pure=True).load((ROOT / "params.yaml").read_text())
    yield tree
    width, rate = {"min": 1, "max": 10}, {"min": 1, "max": 7, "step": 0.5}  # so is each mutation
    grid = {"width": [width], "learning_rate": rate, "dropout": [0.1]}
    models = {"adaptive_attention": {"settings": {}, "grid": grid}, "spinn_pi": None}
    models["lstm_encoders"] = {"settings": {}, "grid": {}}
    yield tree | {"sweep": tree["sweep"] | {"models": models}}
    for study in STUDIES:
        yield compose(folder, "preset=paper", f"study={study}").model_dump()


@pytest.mark.slow  # 21,000 mutations
def test_the_schema_agrees_with_the_loader(tmp_path: Path) -> None:
    assert len(json.dumps(SCHEMA)) < 80_000  # shared definitions: editors read all of it
    checked, whole = list[Any](), Draft202012Validator(SCHEMA)
    for tree in trees(tmp_path):
        assert whole.is_valid(tree)
        for name, field in params_type(*tree["studies"]).model_fields.items():
            if tree[name] in checked:
                continue
            checked.append(tree[name])
            schema = SCHEMA["properties"][name] | {"$defs": SCHEMA["$defs"]}
            validator = Draft202012Validator(schema)
            of = (
                Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
            )
            for value in mutations(tree[name]):
                assert validator.is_valid(value) == loads(of, value), (name, value)


@pytest.mark.parametrize("changes", [{"swep": {}}, {"report": None}])
def test_sections_are_known_and_complete(changes: dict[str, Any]) -> None:
    tree = YAML(typ="safe", pure=True).load((ROOT / "params.yaml").read_text()) | changes
    tree = {name: section for name, section in tree.items() if section is not None}
    assert not loads(params_type("multihop"), tree) and not Draft202012Validator(SCHEMA).is_valid(
        tree
    )
