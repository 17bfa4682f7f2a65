"""Any params.yaml is soon accepted or rejected, with one message for each problem."""

import io
import random
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from actmodels.errors import ConfigError
from pipeline.parameters.load import load_params
from tests.end_to_end.project import ROOT

HOSTILE: list[Any] = [
    *(None, True, 0, -1, 1, 2**31, 2**64, 10**12, 10**400, -(10**400)),
    *(0.0, -0.5, 1e-320, 1e308, float("inf"), float("nan")),
    *("", " ", "a\0b", "\ud7ff\u202e", "../..", "/proc/self/mem", "file://", "s3://", "http://["),
    *("1_0", "no", "${x}", "x" * 10_000, "a\nb", "[1, 2]", "{}", "![a](x.png)", "?" * 3),
    *([], [[]], [None], [1, 1], [1, 1.0], [float("nan")], list(range(5000))),
    *({}, {"a": 1}, {"": None}, {1: 2}),
]


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value, also of mappings and lists."""
    if path:
        yield path
    inside = dict(enumerate(node)) if isinstance(node, list) else node
    for key, value in inside.items() if isinstance(inside, dict) else ():
        yield from places(value, (*path, key))


def test_any_value_replaced(tmp_path: Path, examples: Iterable[random.Random]) -> None:
    text, yaml = (ROOT / "params.yaml").read_text(), YAML(typ="safe", pure=True)
    ways, path = list(places(yaml.load(text))), tmp_path / "params.yaml"
    refused = 0
    for drawn in examples:
        tree = yaml.load(text)
        for _ in range(drawn.choice([1, 1, 1, 3])):
            *parents, last = drawn.choice(ways)
            node, value = tree, drawn.choice(HOSTILE)
            try:
                for parent in parents:
                    node = node[parent]
                node[last] = value
            except (KeyError, IndexError, TypeError):
                continue  # replaced before
        stream = io.StringIO()
        yaml.dump(tree, stream)
        path.write_text(stream.getvalue(), encoding="utf-8")
        start = time.monotonic()
        try:
            load_params(path)
        except ConfigError as error:
            refused += 1
            for line in str(error).splitlines():
                assert line.startswith(f"{path}: "), stream.getvalue()
                assert len(line) < 1000, line
        assert time.monotonic() - start < 10
    assert refused
