"""Traced test pairs: effect of further steps, and the browser of pairs step by step."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from actmodels import tables
from actmodels.registry import is_adaptive
from reports import format as fmt
from reports.blocks import Section, Table, Widget
from reports.load import Artifacts
from reports.statistics import mean_sd

OUTCOMES = {outcome: outcome.replace("_", " ") for outcome in tables.OUTCOMES}
PAPER = "The findings of section 4 of the paper, on the traced pairs."
SENTENCES = ("premise", "hypothesis")
FINDINGS = {  # finding of paper section 4: measure
    "moves": (
        "attention changes over the steps",
        "pairs whose most attended word of a sentence differs between two steps",
    ),
    "single": ("a single step is very rare", "pairs with one step"),
    "last": (
        "the last step often has a large weight",
        "pairs of several steps whose last weight is the largest",
    ),
}
SCALE = 1000  # the page stores probabilities and weights per mille


def outcomes(data: Artifacts) -> pd.DataFrame:
    """Count the traced pairs of each model and seed by outcome."""
    rows = [
        {"model": model, "seed": seed.removeprefix("seed_")} | counts
        for model, seeds in data.documents["trace/summary"].items()
        for seed, counts in seeds.items()
    ]
    return pd.DataFrame(rows, columns=["model", "seed", *tables.COUNTS])


def findings(data: Artifacts) -> pd.DataFrame:
    """Return a row for each adaptive model and finding of paper section 4: the share of pairs."""
    rows = []
    for line in filter(lambda line: is_adaptive(line["model"]), data.lines["trace/traces"]):
        steps = line["trace"]
        weights = [step["weight"] for step in steps]
        focus = {name: {_most(step[f"{name}_attention"]) for step in steps} for name in SENTENCES}
        rows.append(
            {"model": line["model"], "seed": line["seed"], "single": len(steps) == 1}
            | {"moves": any(len(words) > 1 for words in focus.values())}
            | {"last": weights[-1] == max(weights) and len(steps) > 1}
        )
    if not rows:
        return pd.DataFrame()
    means = pd.DataFrame(rows).groupby(["model", "seed"], sort=False).mean().reset_index()
    frame = mean_sd(means, ["model"], list(FINDINGS))
    return pd.DataFrame(
        {"model": row["model"], "finding": finding, "measure": measure}
        | {f"pairs_{part}": row[f"{name}_{part}"] for part in ("mean", "sd", "n")}
        for row in frame.to_dict("records")
        for name, (finding, measure) in FINDINGS.items()
    )


def _most(weights: Sequence[float]) -> int:
    return max(range(len(weights)), key=weights.__getitem__)


def pairs_section(data: Artifacts, max_pairs: int) -> Section | None:
    """Return counts and the first `max_pairs` pairs; None if no pair was traced."""
    traces = data.lines["trace/traces"]
    if not traces:
        return None
    columns: dict[str, fmt.Cell] = {
        "model": fmt.model_name,
        "seed": fmt.text("seed"),
        "pairs": fmt.count("pairs"),
        "correct after step 1": _share("right_after_step_1"),
        "correct": _share("right"),
        **{name: _share(outcome) for outcome, name in OUTCOMES.items()},
    }
    of_findings: dict[str, fmt.Cell] = {
        "model": fmt.model_name,
        "finding of the paper": fmt.text("finding"),
        "measured": fmt.text("measure"),
        "traced pairs, %": fmt.percent("pairs"),
    }
    caption = (
        "Each state is classified separately, although most models are not trained for that. "
        "Corrected: wrong after step 1, right at the end; spoiled: the reverse."
    )
    title, found = "Pairs, step by step", findings(data)
    paper = Table("trace_findings", found, of_findings, PAPER, text_columns=3)
    widgets = [Widget("pairs", title, widget_data(traces[:max_pairs]))] if max_pairs else []
    return Section(
        title,
        [
            *widgets,
            Table("trace_outcomes", outcomes(data), columns, caption),
            *([] if found.empty else [paper]),
        ],
        "At each step the model attends to the hypothesis, then to the premise, and updates its "
        "state. The prediction is made from the weighted mean of the states.",
    )


def _share(name: str) -> fmt.Cell:
    return lambda row: f"{row[name]:,} ({100 * row[name] / row['pairs']:.1f} %)"


def widget_data(traces: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the data of pairs.js: names, and pairs with their steps, per mille."""
    labels = list(traces[0]["answer"])
    runs = list(dict.fromkeys(f"{fmt.title(t['model'])}, seed {t['seed']}" for t in traces))
    return {
        "labels": labels,
        "runs": runs,
        "outcomes": list(OUTCOMES.values()),
        "pairs": [_pair(trace, labels, runs) for trace in traces],
    }


def _pair(trace: dict[str, Any], labels: list[str], runs: list[str]) -> dict[str, Any]:
    return {
        "id": trace["pair_id"],
        "run": runs.index(f"{fmt.title(trace['model'])}, seed {trace['seed']}"),
        "label": labels.index(trace["label"]),
        "predicted": labels.index(trace["predicted"]),
        "outcome": list(OUTCOMES).index(trace["outcome"]),
        "premise": " ".join(trace["premise"]),
        "hypothesis": " ".join(trace["hypothesis"]),
        "answer": _per_mille(trace["answer"].values()),
        "steps": [
            [
                *(round(SCALE * step["halting_probability"]), round(SCALE * step["weight"])),
                _per_mille(step["class_probabilities"][label] for label in labels),
                _per_mille(step["hypothesis_attention"]),
                _per_mille(step["premise_attention"]),
            ]
            for step in trace["trace"]
        ],
    }


def _per_mille(values: Any) -> list[int]:
    return [round(SCALE * value) for value in values]
