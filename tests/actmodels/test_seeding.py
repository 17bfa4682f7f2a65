"""Independent random numbers per purpose."""

import ast
from pathlib import Path

import torch

import actmodels
from actmodels.seeding import generator, seed_of

PACKAGES = [
    Path(actmodels.__file__).parents[1] / name for name in ("actmodels", "pipeline", "tune")
]


def test_purpose_and_every_number_make_another_seed() -> None:
    purposes = [("a", 1), ("a", 2), ("b", 1), ("a", 1, 1), ("a", 11), ("a 1", 1)]
    seeds = {seed_of(*one) for one in purposes}
    assert len(seeds) == len(purposes)
    assert all(0 <= seed < 2**63 for seed in seeds)
    first, again = (torch.rand(4, generator=generator("a", 1)) for _ in range(2))
    assert torch.equal(first, again)


def test_every_seed_has_a_purpose() -> None:
    files = [path for package in PACKAGES for path in package.rglob("*.py")]
    nodes = [(path, node) for path in files for node in ast.walk(ast.parse(path.read_text()))]
    seeded = [
        (path, node)
        for path, node in nodes
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("manual_seed", "seed")
    ]
    assert len(seeded) >= 2
    assert [path for path, node in seeded if "seed_of" not in ast.dump(node)] == []
