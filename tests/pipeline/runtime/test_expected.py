"""Results next to the ranges to expect, by the text of their lines and the digest of parameters."""

import json
from pathlib import Path

import pytest

from actmodels.files import write_text
from pipeline.parameters.load import load_params
from pipeline.runtime.expected import (
    FILE,
    MODELS,
    Expectations,
    parameters_digest,
    results,
    template,
)
from tests.pipeline.project import write_params

LINE = "decomposable_attention: 92.0 ± 0.67 % (n = 3, 4.7 steps)"
HOPS = "hop_attention, steps 4: 1:100.0 10:72.5 % by number of hops"


def test_results_have_a_decimal_point() -> None:
    for line, found, kept in (
        (LINE, ["92.0", "4.7"], "decomposable_attention: # % (n, # steps)"),
        (HOPS, ["100.0", "72.5"], "hop_attention, steps 4: 1:# 10:# % by number of hops"),
    ):
        for text in (line, line.replace(" ± 0.67", "").replace("n = 3", "n = 1")):
            assert (results(text), template(text)) == (found, kept)


@pytest.mark.parametrize(
    ("high", "verdict"),
    [
        (93.1, ["as expected on any processor: 2 results"]),
        (91.9, ["not as expected: decomposable_attention: 92.0 is outside of 90.5 to 91.9"]),
    ],
)
def test_ranges_hold_for_equal_parameters(folder: Path, high: float, verdict: list[str]) -> None:
    write_params(folder, multihop={})
    params = load_params()
    ranges = {template(LINE): {"ranges": [[90.5, high], [3.1, 5.9]]}}
    part = {"parameters": parameters_digest(params, MODELS), "lines": ranges}
    write_text(folder / "demo.json", json.dumps({"parts": {MODELS: part}}))
    demo = Expectations(params, folder / "demo.json")
    assert demo.annotated(MODELS, LINE) == f"{LINE}; expected 90.5 to {high}, 3.1 to 5.9"
    assert demo.annotated("multihop", HOPS) == HOPS
    assert demo.verdict() == verdict
    assert parameters_digest(params, MODELS) != parameters_digest(params, "multihop")
    changed = params.model_copy(
        update={"retrain": params.retrain.model_copy(update={"seeds": [9]})}
    )
    other = Expectations(changed, folder / "demo.json")
    assert (other.annotated(MODELS, LINE), other.verdict()) == (LINE, [])


def test_the_stored_ranges_are_those_of_the_demo() -> None:
    """After a change of params.yaml that changes results: make ranges."""
    params = load_params(FILE.parents[2] / "params.yaml")
    for name, part in json.loads(FILE.read_text())["parts"].items():
        assert part["parameters"] == parameters_digest(params, name)
