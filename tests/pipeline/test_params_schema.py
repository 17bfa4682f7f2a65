"""The schema of params.yaml, which editors read, accepts what the loader accepts."""

import json
import random
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from actmodels.errors import ConfigError
from pipeline.parameters.load import validated
from pipeline.parameters.studies import json_schema, study_names
from tests.fuzz.test_params import HOSTILE, places
from tests.pipeline.project import params_tree

SCHEMA = json_schema()
VALID = Draft202012Validator(SCHEMA).is_valid
VALUES = [*HOSTILE, 0.5, 3, "auto", "https://a/b", "a" * 64, ["a", "b"], [0.1, 0.2], [[1]]]
VALUES += [{"min": 1, "max": 8}, [{"min": 1, "max": 7, "step": 2}]]


def test_the_schema_refuses_nothing_that_the_loader_accepts() -> None:
    assert len(json.dumps(SCHEMA)) < 100_000  # shared definitions: editors read all of it
    draw, accepted = random.Random(1), 0
    whole = params_tree(*(name for name in study_names() if name != "cloze"))
    for _ in range(300):
        tree = json.loads(json.dumps(whole))
        *parents, last = draw.choice(list(places(whole)))
        node = tree
        for parent in parents:
            node = node[parent]
        node[last] = draw.choice(VALUES)
        try:
            validated(tree, "")
        except ConfigError:
            continue
        accepted += 1
        assert VALID(tree), (parents, last, node[last])
    assert accepted > 10


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("swep", {}),
        ("vocabulary", {"size": 9}),  # lowercase is missing
        ("vocabulary", {"size": 9.5, "lowercase": True}),
        ("vocabulary", {"size": 0, "lowercase": True}),
        ("report", {"examples": 10**10}),
        ("evaluate", {"reference": 1}),
        ("export", {"name": "a", "names": "b"}),
    ],
)
def test_the_schema_refuses(key: str, value: Any) -> None:
    tree = params_tree("multihop")
    assert VALID(tree) and not VALID(tree | {key: value})
    assert not VALID({name: section for name, section in tree.items() if name != "report"})
