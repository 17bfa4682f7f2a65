"""Traced questions are read as they were written."""

from pathlib import Path
from typing import Any

import pytest

from reports.stored.traces import Traced, read_queries
from tests.reports.write_nse import queries, write_queries

Line = dict[str, Any]


def read(root: Path, lines: list[Line]) -> tuple[Traced, ...]:
    (root / "artefacts" / "nse").mkdir(parents=True)
    write_queries(root / "artefacts", lines)
    return read_queries(root / "artefacts")


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    found, stored = read(tmp_path, queries()), queries()
    assert len(found) == 6
    for one, line in zip(found, stored, strict=True):
        assert (one.questions, one.run, one.seed, one.number) == (
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
