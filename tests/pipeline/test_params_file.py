"""params.yaml as a file: what is no YAML, no mapping, or not there is told by its place."""

from pathlib import Path

import pytest

from actmodels.errors import ConfigError
from pipeline.parameters.load import load_params

PARAMS = Path(__file__).parents[2] / "params.yaml"


def test_an_exponent_needs_no_point(tmp_path: Path) -> None:
    text = PARAMS.read_text(encoding="utf-8")
    path = tmp_path / "params.yaml"
    path.write_text(text.replace("[0.001, 0.0005]", "[1e-3, 5E-4]"), encoding="utf-8")
    grid = load_params(path).sweep.models["decomposable_attention"].grid
    assert grid["learning_rate"] == [0.001, 0.0005]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty"),
        (b"# only a comment\n", "is empty"),
        (b"- a\n", "holds a list; must be a mapping of sections"),
        (b"a: 1\nb: [\n", "is not YAML at line 3"),
        (b"a: 1\nb:\tc: d\n", "is not YAML at line 2"),
        (b"a:\n  b: 1\n  b: 2\n", 'has a key twice at line 3: found duplicate key "b"'),
        (b"a: \xff\n", "is not UTF-8 at byte 3"),
        (b"a: \x00\n", "is not YAML"),
        (b"a: !!python/name:os.system\n", "is not YAML at line 1"),
    ],
)
def test_a_file_that_is_no_mapping_is_told_by_its_line(
    tmp_path: Path, content: bytes, sentence: str
) -> None:
    path = tmp_path / "params.yaml"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_params(path)
    assert len(caught.value.problems) == 1
    assert caught.value.problems[0].startswith(sentence)


def test_a_missing_file_tells_where_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"^params\.yaml: no such file; run from the project"):
        load_params()
