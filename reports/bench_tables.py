"""The benchmark's parts as tables; each function takes what one part measured.

A cell with a spread is `median (smallest-largest)` over the rounds; n is their number.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from reports.markdown import DASH, Table

Found = Mapping[str, Any]
WAYS = {"plain": "plain loop", "ours": "this software"}


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A table as markdown."""
    return str(Table(header, rows, left))


def figure(value: float | None, scale: float = 1) -> str:
    """Three digits, more in front of the point, whole numbers whole: 0.0123, 1.38, 12.3, 1,234."""
    if value is None:
        return DASH
    scaled = value * scale
    if isinstance(scaled, int):
        return f"{scaled:,}"
    size = abs(scaled)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2
    return f"{scaled:,.{digits}f}" if size >= 1 else f"{scaled:.3g}"


def spread(summary: Found, scale: float = 1) -> str:
    """`193 (180-247)`: the median and the ends; one value has no spread."""
    if summary["n"] == 1:
        return figure(summary["median"], scale)
    ends = f"{figure(summary['min'], scale)}{DASH}{figure(summary['max'], scale)}"
    return f"{figure(summary['median'], scale)} ({ends})"


def of(values: Sequence[float]) -> dict[str, float]:
    """The same of single runs."""
    return {"median": median(values), "min": min(values), "max": max(values), "n": len(values)}


def rounds(summary: Found) -> str:
    """The number of rounds."""
    return str(int(summary["n"]))


def single(found: Found) -> str:
    """Speed of each way of training, and how many times as fast ours is."""
    facts = [
        f"Batch {fact['batch_size']}: {fact['examples']} examples a round, "
        f"{figure(fact['mean_steps'])} steps (sd {figure(fact['sd_steps'])}), "
        f"{figure(fact['premise_tokens'])} premise and {figure(fact['hypothesis_tokens'])} "
        "hypothesis tokens in the mean."
        for fact in found["facts"]
    ]
    model = f"Adaptive Attention with {found['facts'][0]['parameters']:,} parameters. "
    header = ["training", "batch", "processes", "threads each", "examples/s"]
    header += ["per processor-second", "n"]
    rows = [
        [
            WAYS[row["way"]],
            *(str(row[name]) for name in ("batch_size", "processes", "threads")),
            spread(row["per_second"]),
            spread(row["per_cpu_second"]),
            rounds(row["per_second"]),
        ]
        for row in found["rows"]
    ]
    goal = found["goal"]
    compared = [
        [
            str(row["batch_size"]),
            str(row["processes"]),
            spread(row["per_second"]),
            spread(row["per_cpu_second"]),
            "yes" if row["per_second"]["median"] >= goal else "no",
            rounds(row["per_second"]),
        ]
        for row in found["ratios"]
    ]
    ratio_header = ["batch", "processes", "times as fast", "per processor-second"]
    ratio_header += [f"{goal} reached", "n"]
    return "\n\n".join(
        [
            model + " ".join(facts),
            markdown_table(header, rows),
            "This software against the plain loop, round by round:",
            markdown_table(ratio_header, compared, left=0),
        ]
    )


def flops(found: Found) -> str:
    """Useful and executed arithmetic, and shares of the peak."""
    peaks = "; ".join(
        f"{row['cube']}: {spread(row['per_second'], 1e-9)} by the clock, "
        f"{spread(row['per_cpu_second'], 1e-9)} by the processor"
        for row in found["peak"]
    )
    header = ["training", "batch", "MFLOP/example needed", "executed", "useful, %"]
    header += ["useful GF/s", "of the peak, %", "of the peak per processor-second, %", "n"]
    rows = [
        [
            WAYS[row["way"]],
            str(row["batch_size"]),
            figure(row["useful_per_example"], 1e-6),
            figure(row["executed_per_example"], 1e-6),
            figure(row["useful_share"], 100),
            spread(row["useful_rate"]["per_second"], 1e-9),
            spread(row["share_of_peak"]["per_second"], 100),
            spread(row["share_of_peak"]["per_cpu_second"], 100),
            rounds(row["useful_rate"]["per_second"]),
        ]
        for row in found["rows"]
    ]
    said = (
        f"Matrix products alone, one thread. Needed: no padding, and each example's own steps. "
        f"The peak is that of square matrices, GF/s by size: {peaks}."
    )
    return f"{said}\n\n{markdown_table(header, rows)}"


def packs(found: Found) -> str:
    """Speed by the number of trials in a pack."""
    header = ["trials are", "batch", "trials in a pack", "trials · examples/s"]
    header += ["per processor-second", "against one after another", "n"]
    rows = [
        [
            row["kind"],
            str(row["batch_size"]),
            "one after another" if row["trials"] is None else str(row["trials"]),
            spread(row["per_second"]),
            spread(row["per_cpu_second"]),
            DASH if row["trials"] is None else spread(row["against_alone"]["per_second"]),
            rounds(row["per_second"]),
        ]
        for row in found["rows"]
    ]
    said = "Unlike trials take 2 to 10 steps in the mean, 6 over all of a pack; like ones 5.1."
    return f"{said}\n\n{markdown_table(header, rows)}"


def inference(found: Found) -> str:
    """Speed of each way of answering."""
    header = ["steps are taken", "batch", "mean N (sd asked for)", "steps done per example"]
    header += ["examples/s", "per processor-second", "n"]
    rows = [
        [
            row["way"],
            str(row["batch_size"]),
            f"{figure(row['steps_mean'])} ({figure(row['steps_sd_wanted'])})",
            figure(row["step_evaluations"]),
            spread(row["per_second"]),
            spread(row["per_cpu_second"]),
            rounds(row["per_second"]),
        ]
        for row in found["rows"]
    ]
    said = "Batches by length, as in an evaluation."
    return f"{said}\n\n{markdown_table(header, rows)}"


def memory(found: Found) -> str:
    """Memory by the number of trials in a process."""
    header = ["training", "batch", "trials", "peak, MiB", "without a trial, MiB"]
    header += ["per trial, MiB"]
    rows = [
        [
            WAYS[row["way"]] + (", packed" if row["trials"] > 1 else ""),
            str(row["batch_size"]),
            str(row["trials"]),
            *(figure(row[f"{name}_mebibytes"]) for name in ("peak", "base", "per_trial")),
        ]
        for row in found["rows"]
    ]
    return f"One process each, n = 1.\n\n{markdown_table(header, rows)}"


def gpu(found: Found) -> str:
    """Speed on the GPU, and the hours of the paper's grid."""
    note = [] if found["note"] is None else [f"**{found['note'][0].upper()}{found['note'][1:]}.**"]
    if not found["rows"]:
        return "\n\n".join(note)
    header = ["width", "batch", "trials", "float32 products", "launched as", "trials · examples/s"]
    header += ["ms/update", "kernels/update", "first run, s", "GPU memory, MiB", "n"]
    rows = [
        [
            *(str(row[name]) for name in ("width", "batch_size", "trials", "precision")),
            launched(row),
            spread(row["per_second"]),
            figure(row["seconds_per_update"], 1000),
            figure(row["kernels_per_update"]),
            figure(row["first_run_seconds"]),
            figure(row["peak_mebibytes"]),
            rounds(row["per_second"]),
        ]
        for row in found["rows"]
    ]
    hours = [
        [str(row["trials"]), row["precision"], launched(row), figure(row["hours"])]
        for row in found["grid_hours"]
    ]
    parts = [*note, markdown_table(header, rows)]
    if hours:
        parts += ["The paper's grid (432 trials, 15 epochs, 549,367 pairs), projected:"]
        parts += [markdown_table(["trials in a pack", "products", "launched as", "hours"], hours)]
    return "\n\n".join(parts)


def launched(row: Found) -> str:
    """How kernels reach the GPU."""
    return "CUDA graphs" if row["graphs"] else "one by one"


TABLES: dict[str, tuple[str, Callable[[Found], str]]] = {
    "single": ("Training one trial per processor", single),
    "flops": ("Arithmetic", flops),
    "packs": ("Packs of trials, one thread", packs),
    "inference": ("Answering, one thread", inference),
    "memory": ("Memory of training", memory),
    "gpu": ("GPU", gpu),
}
