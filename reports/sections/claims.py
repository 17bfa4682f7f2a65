"""Every claim: difference, 95 % CI, n, p and its Holm-corrected significance."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from reports import format as fmt
from reports.blocks import Section, StudyReports, Table
from reports.load import Artifacts
from reports.published import BY_STEPS, PAIRS, accuracy
from reports.sections.ablation import READINGS, best_fixed
from reports.sections.steps import label_difference, quintile_difference
from reports.statistics import DECIMALS, holm, t_interval, verdicts

Claim = dict[str, Any]
DIFFICULTIES = {
    "depth": "recorded depth",
    "entropy": "the entropy of the annotators' labels",
    "loss": "the loss of a model without steps",
}


def claims(data: Artifacts, studies: StudyReports) -> pd.DataFrame:
    """Return one row per claim: difference with sd or CI, seeds, pairs, p and verdict."""
    of_studies = [row for study in studies.values() for row in study.claims(data)]
    rows = [*_models(data), *_fixed(data), *of_studies, *_steps(data), *_difficulty(data)]
    columns = ["claim", "unit", "difference", "low", "high", "sd", "seeds", "pairs", "p"]
    frame = pd.DataFrame(rows, columns=[*columns, "published"])
    tested = frame["p"].astype(float).dropna()
    frame["p_adjusted"] = pd.Series(holm(tested.to_dict()), dtype=float)
    frame["verdict"] = verdicts(frame)
    return frame


def _models(data: Artifacts) -> Iterator[Claim]:
    """Compare each model with the reference, paired by test pair."""
    for row in data["evaluate/paired"].to_dict("records"):
        systems = PAIRS.get((row["model"], row["reference"]))
        published = systems and not data.is_own and _difference(*map(accuracy, systems))
        yield row | {
            "claim": f"{fmt.title(row['model'])} minus {fmt.title(row['reference'])}",
            "unit": "points",
            "published": published or None,
        }


def _fixed(data: Artifacts) -> Iterator[Claim]:
    """Compare adaptive halting with the fixed number of steps that is best on dev."""
    for reading, name in READINGS.items():
        if (row := best_fixed(data, reading)) is None:
            continue
        published = None if data.is_own else BY_STEPS.get(row["steps"])
        fixed = name.replace("k steps", f"{row['steps']} steps")
        yield row | {
            "claim": f"{fmt.title(row['model'])}: adaptive halting minus {fixed}",
            "unit": "points",
            "published": published and _difference(BY_STEPS["adaptive"], published),
        }


def _steps(data: Artifacts) -> Iterator[Claim]:
    """Relate steps to labels, accuracy and sentence length, over seeds."""
    for model in data.adaptive:
        r = data.select("evaluate/correlations", model=model, steps_against="mean_length")
        quintiles = "accuracy in the highest minus the lowest quintile of steps"
        for name, unit, values in (
            (
                "steps on contradiction minus entailment pairs",
                "steps",
                label_difference(data, model),
            ),
            (quintiles, "points", quintile_difference(data, model)),
            ("correlation of steps with mean sentence length", "r", r["pearson"]),
        ):
            if n := int(values.count()):
                mean, sd = values.agg(["mean", "std"]).round(DECIMALS)
                claim = {"claim": f"{fmt.title(model)}: {name}", "unit": unit, "sd": sd, "seeds": n}
                yield claim | t_interval(mean, sd, n)


def _difficulty(data: Artifacts) -> Iterator[Claim]:
    """Relate steps, or the loss of a model without steps, to the difficulty of pairs."""
    for row in data["evaluate/difficulty"].to_dict("records"):
        name, measure = fmt.title(row["model"]), row["measure"]
        if row["against"] == "agreement":
            text = f"{measure} where annotators agree least minus where all agree"
            unit = "steps" if measure == "steps" else "nats"
        else:
            text, unit = f"correlation of {measure} with {DIFFICULTIES[row['against']]}", "r"
        yield row | {"claim": f"{name}: {text}", "unit": unit}


def _difference(one: float, other: float) -> str:
    return f"{fmt.signed(one - other)} ({one:.1f} vs {other:.1f})"


def _result(row: fmt.Row) -> str:
    scale = 100 if row["unit"] == "points" else 1
    if pd.isna(row["sd"]) and not pd.isna(row["pairs"]):
        value = fmt.with_range(row["difference"], row["low"], row["high"], scale)
    else:
        value = fmt.with_sd(row["difference"], row["sd"], scale=scale, sign=True)
    return f"r = {value}" if row["unit"] == "r" else f"{value} {row['unit']}"


def claims_section(frame: pd.DataFrame) -> Section:
    """Return the section of a frame of `claims`."""
    columns: dict[str, fmt.Cell] = {
        "claim": fmt.text("claim"),
        "significance (Holm-corrected)": fmt.text("verdict"),
        "test result": _result,
        "seeds": fmt.count("seeds"),
        "pairs": fmt.count("pairs"),
        "p": fmt.p_value(),
        "p (Holm)": fmt.p_value("p_adjusted"),
    }
    if frame["published"].notna().any():
        columns["published, SNLI"] = fmt.text("published")
    return Section(
        "Claims",
        [Table("claims", frame, columns, text_columns=2)],
        "Brackets are 95 % CIs over seeds and test pairs, clustered by premise; ± is the sd over "
        "seeds. Significant: corrected for the number of claims with a p (Holm 1979), p ≤ 0.05. A "
        "claim of one seed, or of equal results for all seeds and pairs, has no p.",
    )
