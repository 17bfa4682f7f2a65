"""Parallel coordinates: a line per trial, through the value of each of its settings."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from reports import format as fmt
from reports.charts import marks
from reports.charts.theme import INK

LABELS = 12  # of an axis, without overlap


def parallel(frame: pd.DataFrame, names: Sequence[str], score: str) -> list[alt.Chart]:
    """Draw a line for each row, colored by its score, and highlight the one under the pointer.

    Values of a setting have equal distances, in ascending order; the score has its own scale.

    Args:
        frame: columns `trial`, `names` and the score.
        score: name of the last axis.
    """
    low, high = frame[score].min(), frame[score].max()
    places = {score: (frame[score] - low) / ((high - low) or 1)}
    ticks = [(score, 0.0, f"{low:.1f}"), (score, 1.0, f"{high:.1f}")]
    for name in names:
        values = sorted(frame[name].dropna().unique())
        heights = {value: i / (len(values) - 1) for i, value in enumerate(values)}
        places[name] = frame[name].map(heights)
        labeled = list(heights.items())[:: 1 + len(heights) // LABELS]
        ticks += [(name, y, fmt.setting(value)) for value, y in labeled]
    lines = pd.DataFrame(places).assign(trial=frame["trial"])
    tips = [*names, score]
    lines = lines.melt("trial", tips, "axis", "y").merge(frame, on="trial")
    x = alt.X("axis:N", sort=tips, title=None, axis=alt.Axis(labelAngle=0, grid=True, orient="top"))
    y = alt.Y("y:Q", axis=None)
    pointed = alt.selection_point(fields=["trial"], on="pointerover", empty=False)
    color = alt.Color(f"{score}:Q", scale=alt.Scale(scheme="viridis"))
    line = marks.data(lines).mark_line(opacity=0.8).encode(x=x, y=y, color=color, detail="trial:N")
    line = line.encode(
        strokeWidth=alt.condition(pointed, alt.value(4), alt.value(1.5)),
        tooltip=["trial:N", *(f"{name}:N" for name in names), alt.Tooltip(f"{score}:Q")],
    )
    labels = pd.DataFrame(ticks, columns=["axis", "y", "text"])
    text = marks.data(labels).mark_text(align="left", dx=4, color=INK)
    return [line.add_params(pointed), text.encode(x=x, y=y, text="text:N")]
