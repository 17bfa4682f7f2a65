"""Every claim with its difference, interval, n, test and verdict, corrected for their number."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from reports.blocks import Section, Table
from reports.format import Row, count, p_value, points, signed, text, title, with_sd
from reports.load import Artifacts
from reports.published.results import BY_STEPS, PAIRS, accuracy
from reports.sections.ablation import READINGS, best_fixed
from reports.sections.fidelity import comparisons
from reports.sections.steps import label_gap, quintile_gap
from reports.statistics import holm, mean_sd, t_interval, verdicts

Claim = dict[str, Any]


def claims(data: Artifacts) -> pd.DataFrame:
    """Return one row per claim: its difference with sd or interval, seeds, pairs, p and verdict."""
    found = [*_models(data), *_fixed(data), *comparisons(data), *_steps(data)]
    columns = ["claim", "unit", "difference", "low", "high", "sd", "seeds", "pairs", "p"]
    frame = pd.DataFrame(found, columns=[*columns, "published"])
    frame["p_adjusted"] = holm(frame["p"].astype(float))
    frame["verdict"] = verdicts(frame)
    return frame


def _models(data: Artifacts) -> Iterator[Claim]:
    """Compare each model with the reference, paired by test pair."""
    for row in data["evaluate/paired"].to_dict("records"):
        known = PAIRS.get((row["model"], row["reference"]))
        yield row | {
            "claim": f"{title(row['model'])} minus {title(row['reference'])}",
            "unit": "points",
            "published": None if known is None else _difference(*map(accuracy, known)),
        }


def _fixed(data: Artifacts) -> Iterator[Claim]:
    """Compare adaptive halting with the fixed number of steps that is best on dev."""
    for reading, name in READINGS.items():
        if (row := best_fixed(data, reading)) is None:
            continue
        known = BY_STEPS.get(row["steps"])
        fixed = name.replace("k steps", f"{row['steps']} steps")
        yield row | {
            "claim": f"{title(row['model'])}: adaptive halting minus {fixed}",
            "unit": "points",
            "published": None if known is None else _difference(BY_STEPS["adaptive"], known),
        }


def _steps(data: Artifacts) -> Iterator[Claim]:
    """Relate steps to labels, to right answers and to the length of sentences, over seeds."""
    for model in data.adaptive:
        r = data.of("evaluate/correlations", model=model, steps_against="mean_length")["pearson"]
        quintile_text = "accuracy in the fifth of pairs with the most steps minus the fewest"
        for what, unit, values in (
            ("steps on contradictions minus on entailments", "steps", label_gap(data, model)),
            (quintile_text, "points", quintile_gap(data, model)),
            ("correlation of steps with mean sentence length", "r", r if r.notna().any() else None),
        ):
            if values is not None:
                frame = values.to_frame("of").assign(claim=f"{title(model)}: {what}", unit=unit)
                known = mean_sd(frame, ["claim", "unit"], ["of"]).iloc[0]
                mean, sd, n = known["of_mean"], known["of_sd"], int(known["of_n"])
                claim = {"claim": known["claim"], "unit": unit, "sd": sd, "seeds": n}
                yield claim | t_interval(mean, sd, n)


def _difference(one: float, other: float) -> str:
    return f"{signed(one - other)} ({one:.1f} vs {other:.1f})"


def _measured(row: Row) -> str:
    if pd.isna(row["sd"]) and not pd.isna(row["pairs"]):
        return f"{points()(row)} points"
    scale = 100 if row["unit"] == "points" else 1
    value = with_sd(row["difference"], row["sd"], scale=scale, sign=True)
    return f"r = {value}" if row["unit"] == "r" else f"{value} {row['unit']}"


def claims_section(frame: pd.DataFrame, published: bool) -> Section:
    """Return the section of a frame of `claims`."""
    columns = {
        "claim": text("claim"),
        "verdict": text("verdict"),
        "measured on test": _measured,
        "seeds": count("seeds"),
        "pairs": count("pairs"),
        "p": p_value(),
        "p, Holm": p_value("p_adjusted"),
    }
    if published:
        columns["published, SNLI"] = text("published")
    return Section(
        "Claims",
        [Table("claims", frame, columns, left=2)],
        "Brackets hold 95 % intervals over seeds and test pairs (those of one premise together), "
        "± is the sd over seeds. Significant means that p, corrected for the number of claims "
        "(Holm 1979), is at most 0.05.",
    )
