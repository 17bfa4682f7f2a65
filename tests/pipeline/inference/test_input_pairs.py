"""Read pairs from files and standard input; errors name file, line and key."""

import io
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from pipeline.inference.input_pairs import InputPair, Layout, read_file, read_lines
from pipeline.parameters.labels import NLI, ClassReader
from pipeline.predict import with_options
from tests.pipeline.project import make_zip, params_tree, transcribe

FILES = params_tree()["corpus"]["files"]
LAYOUT = Layout(FILES["columns"], FILES["labels"], [*NLI], None)


def classes() -> ClassReader:
    return ClassReader(NLI, FILES["labels"])


def show(pairs: Iterable[InputPair]) -> list[str]:
    """Return the fields of each pair, then its sentences, name, label and refusal."""
    return [f"{pair.where}: {pair.fields} {[*pair[2:]]}" for pair in pairs]


def test_files_standard_input_and_options(
    folder: Path, golden: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def file(name: str, content: str, **columns: list[str]) -> list[str]:
        Path(name).write_text(content)
        return show(read_file(name, LAYOUT._replace(columns=LAYOUT.columns | columns), classes()))

    def lines(content: bytes, *options: list[str]) -> list[str]:
        layout = with_options(LAYOUT, *options) if options else LAYOUT
        return show(read_lines(io.BytesIO(content), layout, classes()))

    def sick(place: str) -> list[str]:
        """Read pairs of an archive, by the columns of the training files."""
        rows = b"sentence_A\tsentence_B\tjudgment\na\tb\tNEUTRAL\nc\td\t?\ne\tf\t-\n"
        make_zip(Path("sick.zip"), {"sick.txt": rows, "readme.txt": b"x"})
        names = {"premise": ["sentence_A"], "hypothesis": ["sentence_B"], "label": ["judgment"]}
        return show(read_file(place, LAYOUT._replace(columns=LAYOUT.columns | names), classes()))

    def options(*words: list[str], names: Any = NLI) -> list[object]:
        layout = with_options(LAYOUT._replace(classes=[*names]), *words)
        return [layout.columns, {k: v for k, v in layout.labels.items() if k not in LAYOUT.labels}]

    names = {"file": file, "lines": lines, "sick": sick, "options": options}
    transcribe(golden, "input_pairs.txt", names, f"{folder}/")
