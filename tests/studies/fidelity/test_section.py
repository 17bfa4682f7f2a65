"""Section `fidelity`: messages for invalid values."""

from pathlib import Path

import pytest

from tests.pipeline.project import params_tree
from tests.pipeline.test_params import AA_NAME, changed, problems


@pytest.mark.parametrize(
    ("model", "changes", "sentence"),
    [
        ("lstm_encoders", {}, "'lstm_encoders'; must be one of sweep.models"),
        (AA_NAME, {"steps": 2}, f"{AA_NAME}.a.steps is unknown; did"),
    ],
)
def test_an_invalid_variant(
    tmp_path: Path, model: str, changes: dict[str, int], sentence: str
) -> None:
    tree = changed(params_tree("fidelity"), f"fidelity.models.{model}", {"a": changes})
    [problem] = problems(tree, tmp_path)
    assert sentence in problem
