"""Which networks differ from Hop Attention with DACT at the deepest test pairs."""

from collections.abc import Hashable, Mapping

import pandas as pd
from scipy.special import stdtr, stdtrit

from reports import format as fmt
from reports.blocks import Table
from reports.statistics import LEVEL, holm, verdicts

REFERENCE = ("hop_attention_dact", "as set")
ACT = "hop_attention"  # its own unit, read as a threshold, is a row of its own


def welch(values: Mapping[Hashable, "pd.Series[float]"], reference: Hashable) -> pd.DataFrame:
    """Compare each series of seeds with the reference by Welch's t test, corrected by Holm.

    Returns:
        `difference`, `low`, `high` (95 % CI), `p` and `p_adjusted` by name. No p without variance.
    """
    rows, base = {}, values[reference]
    for name, own in values.items():
        if name == reference or len(own) < 2 or own.var() + base.var() == 0:
            continue
        parts = own.var() / len(own), base.var() / len(base)
        gap, error = own.mean() - base.mean(), sum(parts) ** 0.5
        freedom = error**4 / (parts[0] ** 2 / (len(own) - 1) + parts[1] ** 2 / (len(base) - 1))
        margin = stdtrit(freedom, 1 - LEVEL / 2) * error
        p = 2 * stdtr(freedom, -abs(gap) / error)
        rows[name] = {"difference": gap, "low": gap - margin, "high": gap + margin, "p": float(p)}
    adjusted = holm({name: row["p"] for name, row in rows.items()})
    return pd.DataFrame(
        [{"name": name, **row, "p_adjusted": adjusted[name]} for name, row in rows.items()]
    )


def difference_table(hops: pd.DataFrame, exits: pd.DataFrame, names: pd.DataFrame) -> Table | None:
    """Return a row for each run, and for ACT's own unit; names: `series` by model and run."""
    unit = exits[(exits["model"] == ACT) & exits["exit"].str.startswith("unit")]
    unit = unit.assign(run=unit["run"] + ", exit at " + unit["exit"])
    rows, deepest = pd.concat([hops, unit], ignore_index=True), hops["hops"].max()
    rows = rows[rows["hops"] == deepest]
    groups = {name: group["accuracy"] for name, group in rows.groupby(["model", "run"], sort=False)}
    if len(groups.get(REFERENCE, ())) < 2:
        return None
    frame = welch(groups, REFERENCE)
    if frame.empty:
        return None
    series = names.set_index(["model", "run"])["series"].to_dict()
    act = series.get((ACT, "as set"), ACT)
    frame["series"] = [
        series.get(name, f"{act}, {name[1].removeprefix('as set, ')}") for name in frame["name"]
    ]
    frame["verdict"] = verdicts(frame)
    columns: dict[str, fmt.Cell] = {
        "run": fmt.text("series"),
        "difference, points [95 % CI]": fmt.points,
        "p": fmt.p_value(),
        "p, corrected": fmt.p_value("p_adjusted"),
        "verdict": fmt.text("verdict"),
    }
    caption = (
        f"Test accuracy at {deepest} hops minus that of {series[REFERENCE]}: Welch's t test over "
        "seeds, corrected by Holm over this table."
    )
    return Table("multihop_differences", frame, columns, caption, text_columns=1)
