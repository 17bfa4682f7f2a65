"""Section `sizes`: messages for invalid values."""

from pathlib import Path

from tests.pipeline.project import params_tree
from tests.pipeline.test_params import changed, problems


def test_models_are_swept(tmp_path: Path) -> None:
    [problem] = problems(changed(params_tree("sizes"), "sizes.models", ["cloze"]), tmp_path)
    assert "sizes.models[0] is 'cloze'; must be one of sweep.models" in problem
