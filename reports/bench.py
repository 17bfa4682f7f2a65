"""The benchmark's JSON as markdown: what was measured, of which machine, and what failed."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from actmodels.errors import ArtefactError
from reports.bench_tables import TABLES, Found, figure, markdown_table, of, spread
from reports.markdown import DASH

BUSY = 0.05  # share of the processors that others may use without a word


def read_bench(root: Path) -> dict[str, Any] | None:
    """The stored benchmark under `artefacts/`; None if nobody has run it.

    Raises:
        ArtefactError: it is damaged.
    """
    path = root / "bench" / "bench.json"
    if not path.is_file():
        return None
    try:
        stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        bench_report(stored)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        shown = f"{root.name}/bench/bench.json"
        raise ArtefactError(f"{shown} is damaged; remove it and run: make bench") from error
    return stored


def bench_report(content: Found) -> str:
    """The whole of bench.md."""
    return "\n\n".join(["# Benchmark of this software", *_body(content, "##")]) + "\n"


def _body(content: Found, heading: str) -> list[str]:
    parts = [_conditions(content)]
    for name, (title, table) in ALL.items():
        if name in content["parts"]:
            parts += [f"{heading} {title}", table(content["parts"][name])]
        elif name in content["failed"]:
            parts += [f"{heading} {title}", f"Not measured: {content['failed'][name]}"]
    return parts


def _conditions(content: Found) -> str:
    machine = content["machine"]
    memory = "" if machine["memory_gib"] is None else f", {machine['memory_gib']} GiB"
    said = [
        f"These figures are of one machine: {machine['cpu']} ({machine['instructions']}), "
        f"{machine['cores']} cores{memory}, {machine['gpu'] or 'no GPU'}; {machine['system']}, "
        f"Python {machine['python']}, torch {machine['torch']}.",
        "Models read drawn sentences with SNLI's lengths."
        if content["sentences"] == "drawn"
        else f"Models read the pairs of `{content['sentences']}`.",
        "Cells give the median (smallest to largest) of n rounds in which the variants took turns.",
    ]
    if content["plan"] == "quick":
        said.insert(0, "**A quick run at tiny sizes: no figure counts.**")
    absent = [name for name in ALL if name not in {**content["parts"], **content["failed"]}]
    if absent:
        said.append(f"Not measured: {', '.join(absent)}.")
    shares = {
        name: part["others_before"]
        for name, part in content["parts"].items()
        if (part["others_before"] or 0) > BUSY
    }
    if shares:
        named = ", ".join(f"{name} ({100 * share:.0f} %)" for name, share in shares.items())
        said.append(
            f"**Other work ran on the machine** before these parts began: {named}. Figures by the "
            "processor suffer less from that than those by the clock."
        )
    return " ".join(said)


def _runs(found: Found, names: Mapping[str, tuple[str, float]]) -> str:
    """Rows of a figure each, over the runs of a part."""
    runs = found["runs"]
    rows = [
        [said, spread(of([run[name] for run in runs]), scale)]
        for name, (said, scale) in names.items()
    ]
    return f"n = {len(runs)}.\n\n{markdown_table(['', 'measured'], rows)}"


def _no_op_trials(found: Found) -> str:
    return _runs(
        found,
        {
            "trials": ("trials that train nothing", 1),
            "tracked": ("of them finished in MLflow", 1),
            "seconds": ("seconds from call to proof", 1),
            "start_seconds": ("until the first trial began", 1),
            "run_seconds": ("until the last one ended", 1),
            "finish_seconds": ("until the end", 1),
            "seconds_per_trial": ("ms per trial while they ran", 1000),
            "driver_cpu_seconds": ("processor-seconds of the driver", 1),
        },
    )


def _overhead(found: Found) -> str:
    return _runs(
        found,
        {
            "between": ("time in which no epoch ran, % of the time in which one ran", 100),
            "overhead": ("all time beyond the trials' own, % of it", 100),
            "driver_cpu_seconds": ("processor-seconds of the driver", 1),
            "trial_cpu_seconds": ("processor-seconds of the trials", 1),
        },
    )


def _scaling(found: Found) -> str:
    header = ["workers", "trials/s", "examples/s"]
    rows = [
        [
            str(row["workers"]),
            figure(row["trials_per_second"]),
            figure(row["examples_per_second"]),
        ]
        for row in found["rows"]
    ]
    return f"n = 1.\n\n{markdown_table(header, rows, left=0)}"


def _worker_memory(found: Found) -> str:
    header = ["", *(f"trial {number}" for number in range(1, len(found["before"]) + 1))]
    rows = [[f"{when} it, MB", *map(figure, found[when])] for when in ("before", "after")]
    return markdown_table(header, rows)


def _data_stages(found: Found) -> str:
    header = ["training pairs", "stage", "seconds", "processor-seconds", "peak, MiB"]
    rows = []
    for row in found["rows"]:
        pairs = f"{row['pairs']:,}"
        rows += [
            [
                pairs,
                cost["stage"],
                figure(cost["wall_seconds"]),
                figure(cost["cpu_seconds"]),
                figure(cost["peak_mebibytes"]),
            ]
            for cost in row["stages"]
        ]
        if row["opening_seconds"] is not None:
            rows.append([pairs, "opening", figure(row["opening_seconds"]), DASH, DASH])
    return f"n = 1; each stage in a process of its own.\n\n{markdown_table(header, rows, left=2)}"


ALL: dict[str, tuple[str, Callable[[Found], str]]] = {
    **TABLES,
    "no_op_trials": ("Sweep of trials that train nothing", _no_op_trials),
    "overhead": ("What a sweep adds to its trials", _overhead),
    "scaling": ("Sweep by the number of workers", _scaling),
    "worker_memory": ("Memory of a worker, trial by trial", _worker_memory),
    "data_stages": ("Data stages on generated archives", _data_stages),
}
