"""Traced questions are read as they were written, or the line that is wrong is named."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import ArtefactError
from reports.nse_queries import Traced, read_queries
from reports.reading import Source
from tests.reports.write_nse import GATED, HALTING, queries, write_queries

READERS = {
    (kind, run, seed): (strategy, 6)
    for kind in ("NE", "CN")
    for run, strategy in ((GATED, "query_gating"), (HALTING, "adaptive_computation"))
    for seed in (1, 2, 3)
}
Line = dict[str, Any]


def read(root: Path, lines: list[Line]) -> tuple[Traced, ...]:
    (root / "artefacts" / "nse").mkdir(parents=True)
    write_queries(root / "artefacts", lines)
    return read_queries(Source(root / "artefacts", "nse", "queries.jsonl"), READERS)


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
        read_queries(Source(tmp_path, "nse", "queries.jsonl"), READERS)


def put(**values: Any) -> Callable[[Line], None]:
    return lambda line: line.update(values)


def step(number: int, **values: Any) -> Callable[[Line], None]:
    return lambda line: line["steps"][number - 1].update(values)


SHARE = "must be a number between 0 and 1"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda line: line.pop("query"), "has no key query"),
        (put(number="4"), "number is '4'; must be a whole number"),
        (put(document="words"), "document is 'words'; must be a list"),
        (put(seed=4), f"has seed 4 of NE, {GATED}, which results.csv has not"),
        (put(document=["a", 1]), "document must be a list of one or more words"),
        (put(attended=[]), "attended must be a list of one or more words"),
        (put(query=["no", "gap"]), "query has no XXXXX; must have one where the answer is missing"),
        (put(candidates=["Tessa", "Tessa"]), "candidates has a word twice"),
        (put(answer="Ilse"), "answer is 'Ilse'; must be one of Mara, Owen, Tessa"),
        (put(predicted="Ilse"), "predicted is 'Ilse'; must be one of Mara, Owen, Tessa"),
        (put(attended=["Mara"] * 4), "attended has 4 words; must have 3 at most"),
        (put(attended=["sea"]), "attended has 'sea', which is not in the document"),
        (lambda line: line["steps"].pop(), "has 5 steps; must have 6, as its run"),
        (lambda line: line["steps"].__setitem__(1, 5), "step 2: it must be a mapping"),
        (lambda line: line["steps"][1].pop("gate"), "step 2: has no key gate"),
        (step(2, key=[0.5]), "step 2: key has 1 numbers where query has 11 words"),
        (step(2, key=None), "step 2: key has None where query has 11 words"),
        (step(2, gate=[0.5] * 12), "step 2: gate has 12 numbers where query has 11 words"),
        (step(2, key=[1.5] * 11), f"step 2: key has 1.5; {SHARE}"),
        (step(2, gate=["1"] * 11), f"step 2: gate has '1'; {SHARE}"),
        (step(2, gate=None), "step 2: gate is null; only the last step has none"),
        (step(2, halting=0.5), "step 2: halting is 0.5; must be null, as its run has none"),
        (step(2, weight=-0.1), f"step 2: weight has -0.1; {SHARE}"),
        (step(2, probability=True), f"step 2: probability has True; {SHARE}"),
        (step(2, probability=float("nan")), "has NaN, which is no number"),
        (step(2, answer="Ilse"), "step 2: answer is 'Ilse'; must be one of Mara, Owen, Tessa"),
        (step(2, weight=0.5), "weights of the steps add up to 1.5; must add up to 1"),
    ],
)
def test_a_damaged_line_is_named(
    tmp_path: Path, change: Callable[[Line], object], said: str
) -> None:
    lines = queries()
    change(lines[0])
    assert problem(tmp_path, lines) == f"artefacts/nse/queries.jsonl, line 1: {said}"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (step(1, halting=None), "step 1: halting is null; only the last step has none"),
        (step(6, halting=0.5), "step 6: halting is 0.5; must be null, as the last step writes"),
        (step(1, halting=2), f"step 1: halting has 2; {SHARE}"),
    ],
)
def test_a_damaged_line_of_a_run_that_halts(
    tmp_path: Path, change: Callable[[Line], object], said: str
) -> None:
    lines = queries()
    change(lines[1])
    assert problem(tmp_path, lines).startswith(f"artefacts/nse/queries.jsonl, line 2: {said}")


def test_gates_where_there_are_none(tmp_path: Path) -> None:
    lines = queries()
    lines[1]["steps"][0]["gate"] = [0.0] * 11
    assert ", line 2: step 1: gate is [0.0, " in problem(tmp_path, lines)


def test_a_share_may_be_off_by_rounding(tmp_path: Path) -> None:
    lines = queries()
    lines[0]["steps"][5]["weight"] = 1 + 1e-7
    assert len(read(tmp_path, lines)) == 6


def test_a_line_that_was_cut_off(tmp_path: Path) -> None:
    folder = tmp_path / "artefacts" / "nse"
    folder.mkdir(parents=True)
    (folder / "queries.jsonl").write_text(json.dumps(queries()[0])[:-20], encoding="utf-8")
    with pytest.raises(ArtefactError, match=r"queries.jsonl, line 1: is not JSON \("):
        read_queries(Source(tmp_path / "artefacts", "nse", "queries.jsonl"), READERS)


def test_a_line_that_is_a_list(tmp_path: Path) -> None:
    folder = tmp_path / "artefacts" / "nse"
    folder.mkdir(parents=True)
    (folder / "queries.jsonl").write_text("[]\n", encoding="utf-8")
    with pytest.raises(ArtefactError, match="line 1: the line must be a mapping; run"):
        read_queries(Source(tmp_path / "artefacts", "nse", "queries.jsonl"), READERS)


def test_a_question_twice(tmp_path: Path) -> None:
    lines = queries()
    said = f"line 7: has question 4 of NE, {GATED}, seed 1 again"
    assert problem(tmp_path, [*lines, lines[0]]).endswith(said)


def test_a_question_that_is_two(tmp_path: Path) -> None:
    lines = queries()
    lines[1]["query"] = ["Then", *lines[1]["query"][1:]]
    said = f"line 2: question 4 of NE, {HALTING}, seed 1 is not the question that question 4 of NE"
    assert said in problem(tmp_path, lines)
