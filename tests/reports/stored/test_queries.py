"""Traced questions are read as they were written, or the line that is wrong is named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import ArtefactError
from reports.stored.queries import Traced, read_queries
from reports.stored.reading import Source
from tests.reports.write_nse import queries, write_queries

Line = dict[str, Any]


def read(root: Path, lines: list[Line]) -> tuple[Traced, ...]:
    (root / "artefacts" / "nse").mkdir(parents=True)
    write_queries(root / "artefacts", lines)
    return read_queries(Source(root / "artefacts", "nse", "queries.jsonl"))


def problem(root: Path, lines: list[Line]) -> str:
    with pytest.raises(ArtefactError) as caught:
        read(root, lines)
    said = str(caught.value)
    assert said.endswith("; run: dvc repro -f -s nse")
    return said.removesuffix("; run: dvc repro -f -s nse")


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    found, stored = read(tmp_path, queries()), queries()
    assert len(found) == 6
    for one, line in zip(found, stored, strict=True):
        assert (one.kind, one.run, one.seed, one.number) == (
            *(line["questions"], line["run"], line["seed"]),
            line["number"],
        )
        for key in ("document", "query", "candidates", "answer", "predicted", "attended"):
            assert getattr(one, key) == line[key]
        for step, of in zip(one.steps, line["steps"], strict=True):
            assert all(getattr(step, key) == value for key, value in of.items())
    assert [one.right for one in found] == [True] * 5 + [False]


def test_what_a_step_writes_over(tmp_path: Path) -> None:
    gated, halting = read(tmp_path, queries())[:2]
    # “Next”: key 0.1 + 0.12, gate 0.1 + 0.2; the gap: key 0.91, gate 0.1 + 0.2 + 2 * 0.02
    assert gated.steps[0].rewritten[0] == pytest.approx(0.78 * 0.7)
    assert gated.steps[0].rewritten[2] == pytest.approx(0.09 * 0.66)
    assert halting.steps[0].rewritten[0] == pytest.approx(0.78)


def test_nothing_traced_is_nothing_read(tmp_path: Path) -> None:
    assert read(tmp_path, []) == ()


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match=r"nse/queries.jsonl is missing; run: dvc repro nse$"):
        read_queries(Source(tmp_path, "nse", "queries.jsonl"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda line: line.pop("query"), "has no key query"),
        (lambda line: line["steps"][1].pop("gate"), "has no key gate"),
        (lambda line: line.update(steps=None), "is not of the stage's form ("),
        (lambda line: line["steps"].insert(0, 5), "is not of the stage's form ("),
    ],
)
def test_a_damaged_line_is_named(
    tmp_path: Path, change: Callable[[Line], object], said: str
) -> None:
    lines = queries()
    change(lines[1])
    assert problem(tmp_path, lines).startswith(f"artefacts/nse/queries.jsonl, line 2: {said}")


@pytest.mark.parametrize(
    ("text", "said"),
    [(json.dumps(queries()[0])[:-20], r"is not JSON \("), ("[]\n", "is not of the stage's form")],
)
def test_a_line_that_is_no_mapping(tmp_path: Path, text: str, said: str) -> None:
    folder = tmp_path / "artefacts" / "nse"
    folder.mkdir(parents=True)
    (folder / "queries.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(ArtefactError, match=f"queries.jsonl, line 1: {said}"):
        read_queries(Source(tmp_path / "artefacts", "nse", "queries.jsonl"))
