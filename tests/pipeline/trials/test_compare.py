"""Two sweeps compared: folders, revisions and experiments; each problem in one sentence."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from actmodels.errors import ArtifactError, ConfigError
from actmodels.files import write_text
from actmodels.records import TrialRecord
from pipeline.report import compared
from pipeline.trials.compare import RECORDS, compare
from reports.blocks import Table
from tests.pipeline.trials.test_selection import record
from tests.samples import MODELS

CODE = {"code": "1"}
BEFORE = [replace(record(0.7, 0.1, seed=seed), provenance=CODE) for seed in (1, 2)]
NEW = [record(0.8, 0.2), record(0.9, 0.2, seed=2), record(0.6, model=MODELS[0])]
AFTER = [*BEFORE, *(replace(one, provenance=CODE) for one in NEW)]


def write_sweep(path: Path, records: Sequence[TrialRecord]) -> None:
    write_text(path, "".join(one.result_json() + "\n" for one in records))


def test_two_folders(folder: Path, golden: Callable[..., None]) -> None:
    write_sweep(folder / "before/records.jsonl", BEFORE)
    write_sweep(folder / "after" / RECORDS, AFTER)
    other = [replace(one, key=f"{one.key}-2", provenance={"code": "2"}) for one in BEFORE[:1]]
    write_sweep(folder / "code/sweep/records.jsonl", other)
    texts = [compare("before", second, folder) for second in ("after", "code")]
    golden("compare.txt", "\n\n".join(texts) + "\n")


def test_the_section_of_the_report(folder: Path) -> None:
    write_sweep(folder / RECORDS, AFTER)
    write_sweep(folder / "before/records.jsonl", BEFORE)
    [section], none = compared("before"), compared(None)
    assert (section.title, none) == ("Compared with before", [])
    assert section.caption == "this sweep: 5 trials; before: 2 trials; in common: 2 trials."
    tables = {part.name: part.rows for part in section.parts if isinstance(part, Table)}
    assert tables["compared_settings"] == [["Adaptive Attention", "dropout", "0.1, 0.2", "0.1"]]
    assert tables["compared_best"][1] == [
        *("Adaptive Attention", "before", "70.0", "[70.0, 70.0]", "2", "dropout 0.1")
    ]
    write_sweep(folder / "same/records.jsonl", AFTER)
    [section] = compared("same")
    assert [part.name for part in section.parts] == ["compared_best"]


@pytest.mark.slow(minutes=0.3)
def test_a_revision_and_an_experiment(folder: Path) -> None:
    dvc = [sys.executable, "-m", "dvc"]

    def run(*command: str) -> None:
        subprocess.run(command, check=True, capture_output=True)

    run("git", "init", "-q")
    run("git", "config", "user.name", "test")
    run("git", "config", "user.email", "test@localhost")
    run(*dvc, "init", "-q")
    for name, records in {"before": BEFORE, "after": AFTER}.items():
        write_sweep(folder / RECORDS, records)
        run(*dvc, "add", "artifacts/sweep")
        if name == "before":
            run("git", "add", "-A")
            run("git", "commit", "-qm", name)
    run(*dvc, "exp", "save", "-n", "wide")
    write_text(folder / RECORDS, "")  # that of the workspace is not read
    lines = compare("HEAD", "wide", folder).splitlines()
    assert lines[:3] == ["HEAD: 2 trials", "wide: 5 trials", "in common: 2 trials"]
    problem = r"^'no' is neither a folder with a sweep nor a revision or experiment .*'no'\); list"
    with pytest.raises(ArtifactError, match=problem):
        compare("HEAD", "no", folder)


@pytest.mark.parametrize("text", ["{", "[1]\n", '{"key": 1}', '{"history": [], "config": {}}'])
def test_a_sweep_that_cannot_be_read(folder: Path, text: str) -> None:
    write_sweep(folder / "before/records.jsonl", BEFORE)
    write_text(folder / "other/records.jsonl", text)
    with pytest.raises(ArtifactError, match=r"^other: .*records\.jsonl is corrupt, or another ver"):
        compare("before", "other", folder)


def test_one_sweep_is_not_compared_with_itself(folder: Path) -> None:
    with pytest.raises(ConfigError, match="'one' is named twice; name two sweeps"):
        compare("one", "one", folder)
