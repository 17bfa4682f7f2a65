"""Traced test pairs: what more steps changed, and the browser of pairs step by step."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from actmodels import tables
from reports.blocks import Section, Table, Widget
from reports.format import Cell, count, model_name, text, title
from reports.load import Artifacts

OUTCOMES = {outcome: outcome.replace("_", " ") for outcome in tables.OUTCOMES}
MILLE = 1000  # shares are embedded per mille: more cannot be seen


def outcomes(data: Artifacts) -> pd.DataFrame:
    """Return how many traced pairs of each model and seed had each outcome."""
    rows = [
        {"model": model, "seed": seed.removeprefix("seed_")} | counts
        for model, seeds in data.documents["trace/summary"].items()
        for seed, counts in seeds.items()
    ]
    return pd.DataFrame(rows, columns=["model", "seed", *tables.COUNTS])


def pairs_section(data: Artifacts, most: int) -> Section | None:
    """Return counts and the first `most` pairs; None where none was traced."""
    traces = data.lines["trace/traces"]
    if not traces:
        return None
    columns: dict[str, Cell] = {
        "model": model_name,
        "seed": text("seed"),
        "pairs": count("pairs"),
        "right after step 1": _share("right_after_step_1"),
        "right answers": _share("right"),
        **{name: _share(outcome) for outcome, name in OUTCOMES.items()},
    }
    said = (
        "The state after each step is classified alone: corrected means wrong after step 1 and "
        "right at the end, spoiled the reverse. A state is seldom trained to be classified alone."
    )
    title_ = "Pairs, step by step"
    shown = [Widget("pairs", title_, browsed(traces[:most]))] if most else []
    return Section(
        title_,
        [*shown, Table("trace_outcomes", outcomes(data), columns, said)],
        "Test pairs as the model saw them: at each step it attends to the hypothesis, then to the "
        "premise, and updates its state. The answer is the mean of the states by their weights.",
    )


def _share(name: str) -> Cell:
    return lambda row: f"{row[name]:,} ({100 * row[name] / row['pairs']:.1f} %)"


def browsed(traces: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what the browser reads: names, and each pair with its steps; shares per mille."""
    labels = list(traces[0]["answer"])
    runs = list(dict.fromkeys(f"{title(t['model'])}, seed {t['seed']}" for t in traces))
    return {
        "labels": labels,
        "runs": runs,
        "outcomes": list(OUTCOMES.values()),
        "pairs": [_pair(trace, labels, runs) for trace in traces],
    }


def _pair(trace: dict[str, Any], labels: list[str], runs: list[str]) -> dict[str, Any]:
    return {
        "id": trace["pair_id"],
        "run": runs.index(f"{title(trace['model'])}, seed {trace['seed']}"),
        "label": labels.index(trace["label"]),
        "predicted": labels.index(trace["predicted"]),
        "outcome": list(OUTCOMES).index(trace["outcome"]),
        "premise": " ".join(trace["premise"]),
        "hypothesis": " ".join(trace["hypothesis"]),
        "answer": _mille(trace["answer"].values()),
        "steps": [
            [
                *(round(MILLE * step["halting_probability"]), round(MILLE * step["weight"])),
                _mille(step["class_probabilities"][label] for label in labels),
                _mille(step["hypothesis_attention"]),
                _mille(step["premise_attention"]),
            ]
            for step in trace["trace"]
        ],
    }


def _mille(shares: Any) -> list[int]:
    return [round(MILLE * share) for share in shares]
