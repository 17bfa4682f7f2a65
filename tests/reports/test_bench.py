"""The benchmark's JSON as tables, and as a section of the report."""

import copy
from pathlib import Path
from typing import Any

import pytest

from actmodels.errors import ArtefactError
from reports.bench import ALL, bench_report, read_bench
from reports.bench_tables import figure, spread

ONE = {"median": 193.26, "min": 180.04, "max": 247.9, "n": 5}
RATE = {"per_second": ONE, "per_cpu_second": {"median": 2.5, "min": 2.0, "max": 3.0, "n": 5}}
RATIO = {
    "per_second": {"median": 1.84, "min": 1.7, "max": 1.9, "n": 5},
    "per_cpu_second": {"median": 1.79, "min": 1.7, "max": 1.9, "n": 5},
}
MEASURED = {"key": "0123456789abcdef", "others_before": 0.01, "seconds": 12.0}
SWEPT = {"seconds": 99.0, "start_seconds": 9.0, "run_seconds": 87.0, "finish_seconds": 3.0}
CONTENT: dict[str, Any] = {
    "machine": {
        "cpu": "Imagined 9000",
        "cores": 4,
        "memory_gib": 16.0,
        "gpu": None,
        "system": "Linux",
        "python": "3.11.7",
        "torch": "2.13.0",
        "cuda": None,
        "instructions": "AVX2",
    },
    "plan": "full",
    "sentences": "drawn",
    "failed": {},
    "parts": {
        "single": MEASURED
        | {
            "goal": 1.8,
            "facts": [
                {"batch_size": 8, "examples": 640, "parameters": 1784004, "mean_steps": 5.13}
                | {"sd_steps": 1.38, "premise_tokens": 14.1, "hypothesis_tokens": 7.8}
            ],
            "rows": [
                {"way": way, "batch_size": 8, "processes": 4, "threads": 1, **RATE}
                for way in ("plain", "ours")
            ],
            "ratios": [{"batch_size": 8, "processes": 4, **RATIO}],
        },
        "flops": MEASURED
        | {
            "peak": [{"cube": 1024, "per_second": ONE, "per_cpu_second": ONE}],
            "rows": [
                {"way": "ours", "batch_size": 8, "executed_per_example": 69_440_900.0}
                | {"useful_per_example": 66_677_993.0, "useful_share": 0.9602}
                | {"useful_rate": RATE, "share_of_peak": RATIO}
            ],
        },
        "packs": MEASURED
        | {
            "rows": [
                {"kind": "unlike", "batch_size": 8, "trials": trials, **RATE}
                | {"against_alone": RATIO}
                for trials in (None, 48)
            ]
        },
        "inference": MEASURED
        | {
            "rows": [
                {"way": "running", "batch_size": 256, "steps_mean": 5.1, **RATE}
                | {"steps_sd_wanted": 1.4, "step_evaluations": 5.27}
            ]
        },
        "memory": MEASURED
        | {
            "rows": [
                {"way": "ours", "batch_size": 8, "trials": 48, "peak_mebibytes": 1727.0}
                | {"base_mebibytes": 300.0, "per_trial_mebibytes": 29.73}
            ]
        },
        "gpu": MEASURED
        | {
            "note": None,
            "rows": [
                {"width": 200, "batch_size": 8, "trials": 48, "precision": "highest"}
                | {"graphs": True, "seconds_per_update": 0.0081, "first_run_seconds": 20.5}
                | {"kernels_per_update": 2500.4, "peak_mebibytes": 3201.0, **RATE}
            ],
            "grid_hours": [{"trials": 48, "precision": "highest", "graphs": True, "hours": 12.34}],
        },
        "no_op_trials": MEASURED
        | {
            "runs": [
                SWEPT
                | {"trials": 486, "tracked": 486, "seconds_per_trial": 0.179}
                | {"driver_cpu_seconds": 31.0}
            ]
        },
        "overhead": MEASURED
        | {
            "runs": [
                SWEPT
                | {"trials": 8, "workers": 2, "between": between, "overhead": 0.05}
                | {"trial_cpu_seconds": 64.0, "driver_cpu_seconds": 3.0}
                for between in (0.021, 0.017, 0.034)
            ]
        },
        "scaling": MEASURED
        | {
            "rows": [
                {"workers": number, "trials_per_second": 0.5 * number, "examples_per_second": 900.0}
                for number in (1, 2)
            ]
        },
        "worker_memory": MEASURED | {"before": [400.0, 500.0], "after": [499.0, 501.0]},
        "data_stages": MEASURED
        | {
            "rows": [
                {"pairs": 550000, "opening_seconds": 0.0123}
                | {
                    "stages": [
                        {"stage": "corpus", "wall_seconds": 61.2, "cpu_seconds": 60.1}
                        | {"peak_mebibytes": 512.0}
                    ]
                }
            ]
        },
    },
}


@pytest.fixture
def content() -> dict[str, Any]:
    return copy.deepcopy(CONTENT)


def lines(text: str, start: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(start)]


@pytest.mark.parametrize(
    ("value", "worded"),
    [
        *[(0.01234, "0.0123"), (0.5, "0.5"), (1.384, "1.38"), (12.34, "12.3"), (1234.6, "1,235")],
        *[(486, "486"), (None, "\N{EN DASH}"), (0.0, "0")],
    ],
)
def test_a_figure_has_three_digits(value: float | None, worded: str) -> None:
    assert figure(value) == worded


def test_a_spread_names_median_and_ends_and_one_value_has_none() -> None:
    assert spread(ONE) == "193 (180\N{EN DASH}248)"
    assert spread({"median": 2.0, "min": 2.0, "max": 2.0, "n": 1}) == "2.00"


def test_the_machine_and_the_conditions_come_first(content: dict[str, Any]) -> None:
    first = bench_report(content).split("\n\n")[1]
    assert first.startswith(
        "These figures are of one machine: Imagined 9000 (AVX2), 4 cores, 16.0 GiB, no GPU; Linux, "
        "Python 3.11.7, torch 2.13.0. Models read drawn sentences with SNLI's lengths."
    )
    assert "Other work" not in first and "quick" not in first and "Not measured" not in first


def test_every_part_has_its_section(content: dict[str, Any]) -> None:
    text = bench_report(content)
    assert [line[3:] for line in lines(text, "## ")] == [title for title, _ in ALL.values()]
    assert "1,784,004 parameters" in text
    assert "| 8 | 4 | 1.84 (1.70–1.90) | 1.79 (1.70–1.90) | yes | 5 |" in text  # noqa: RUF001
    assert "| unlike | 8 | one after another | 193 (180–248) | 2.50 (2.00–3.00) | – | 5 |" in text  # noqa: RUF001
    assert "| this software | 8 | 66.7 | 69.4 | 96.0 |" in text
    assert "| 48 | highest | CUDA graphs | 12.3 |" in text
    assert "| of them finished in MLflow | 486 |" in text
    assert lines(text, "| time in which no epoch ran")[0].endswith("| 2.10 (1.70–3.40) |")  # noqa: RUF001
    assert "| 550,000 | opening | 0.0123 | – | – |" in text  # noqa: RUF001


def test_every_table_is_whole(content: dict[str, Any]) -> None:
    width = 0
    for line in bench_report(content).splitlines():
        cells = line.count("|")
        assert not (width and cells) or cells == width, line
        width = cells


def test_a_goal_missed_is_said(content: dict[str, Any]) -> None:
    content["parts"]["single"]["ratios"][0]["per_second"] |= {"median": 1.79}
    assert "| no | 5 |" in bench_report(content)


def test_a_busy_machine_is_named(content: dict[str, Any]) -> None:
    content["parts"]["packs"]["others_before"] = 0.42
    assert "**Other work ran on the machine** before these parts began: packs (42 %)" in (
        bench_report(content)
    )


def test_a_quick_run_says_that_nothing_counts(content: dict[str, Any]) -> None:
    content["plan"] = "quick"
    assert "**A quick run at tiny sizes: no figure counts.**" in bench_report(content)


def test_failed_and_missing_parts_are_named(content: dict[str, Any]) -> None:
    del content["parts"]["packs"], content["parts"]["scaling"]
    content["failed"] = {"packs": "RuntimeError: out of memory"}
    text = bench_report(content)
    assert "Not measured: scaling." in text
    assert "## Packs of trials, one thread\n\nNot measured: RuntimeError: out of memory" in text


def test_without_a_gpu_its_section_says_so(content: dict[str, Any]) -> None:
    content["parts"]["gpu"] |= {"note": "no GPU: not measured", "rows": [], "grid_hours": []}
    assert "## GPU\n\n**No GPU: not measured.**\n\n##" in bench_report(content)


@pytest.mark.parametrize("damage", ["", "[]", "{}", '{"machine": {}, "parts": {}, "failed": {}}'])
def test_a_damaged_file_is_named_with_what_mends_it(tmp_path: Path, damage: str) -> None:
    root = tmp_path / "artefacts"
    (root / "bench").mkdir(parents=True)
    (root / "bench" / "bench.json").write_text(damage)
    sentence = r"artefacts/bench/bench\.json is damaged; remove it and run: make bench"
    with pytest.raises(ArtefactError, match=sentence):
        read_bench(root)
