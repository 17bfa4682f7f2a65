"""Character prediction (Graves 2016, section 3.5): bits per character, steps along a passage."""

import math
from collections.abc import Iterator

import altair as alt
import pandas as pd

from reports import format as fmt
from reports.blocks import Chart, Table
from reports.charts import marks
from reports.charts.theme import BLUE, INK, ORANGE
from reports.load import Artifacts
from reports.statistics import mean_sd

CHARACTERS = "characters"  # the task without difficulty levels
NONE = "none"  # `halting` of a run without halting
ON_CHARACTERS = (
    "Graves (3.5; LSTM 1500, windows of 500 bytes) reports similar bits with and without ACT, "
    "and more steps at spaces, commas, full stops and markup."
)
NATS = math.log(2)  # per bit
LETTER = "letter"
LINE = 40  # bytes per line: the width of a phone
HEIGHT = 58  # px per line
# Fractions of a line: half a bar's width, its base, the longest bars upward and downward
HALF, BASE, UP, DOWN = 0.38, 0.17, 0.42, 0.2
SIGNS = {32: "\N{MIDDLE DOT}", 9: "\N{MIDDLE DOT}", 10: "\N{PILCROW SIGN}", 13: "\N{PILCROW SIGN}"}
OTHER = "\N{WHITE SQUARE}"  # a non-printable or non-ASCII byte


def readers(data: Artifacts) -> pd.DataFrame:
    """Return the runs over seeds: bits, byte error, steps and ponder cost N + R."""
    rows = data.select("sequences/results", task=CHARACTERS)
    rows = rows.assign(bits=rows["dev_loss"] / NATS).rename(
        columns={"dev_error": "wrong", "dev_mean_steps": "steps", "dev_ponder_cost": "ponder"}
    )
    by, columns = ["run", "halting", "ponder_weight"], ["bits", "wrong", "steps", "ponder"]
    frame = mean_sd(rows, by, columns, first=["parameters"])
    return frame.assign(name=frame["run"].map(fmt.settings))


def byte_classes(data: Artifacts) -> pd.DataFrame:
    """Return steps, bits and entropy by byte class of each run with halting.

    share: fraction of all bytes. gap: steps minus those on letters, paired by seed.
    """
    halting = data.select("sequences/results", task=CHARACTERS).query(f"halting != '{NONE}'")
    rows = data["sequences/bytes"]
    rows = rows[rows["run"].isin(halting["run"])]
    letters = rows[rows["kind"] == LETTER].set_index(["run", "seed"])["steps"]
    keys = pd.MultiIndex.from_frame(rows[["run", "seed"]])
    rows = rows.assign(
        bits=rows["loss"] / NATS,
        entropy_bits=rows["entropy"] / NATS,
        gap=(rows["steps"] - letters.reindex(keys).to_numpy()).round(12),
    )
    columns = ["steps", "ponder", "bits", "entropy_bits", "gap"]
    frame = mean_sd(rows, ["run", "kind"], columns, total=["bytes"])
    total = frame.groupby("run")["bytes"].transform("sum")
    return frame.assign(name=frame["run"].map(fmt.settings), share=frame["bytes"] / total)


def characters_parts(data: Artifacts) -> Iterator[Table | Chart]:
    """Yield tables, learning curves, and the passage as each run with halting reads it."""
    columns: dict[str, fmt.Cell] = {
        "run": fmt.text("name"),
        "seeds": fmt.count("bits_n"),
        "bits per character": fmt.number("bits"),
        "byte error, %": fmt.percent("wrong"),
        "mean steps per byte": fmt.number("steps"),
        "mean N + R": fmt.number("ponder"),
        "parameters": fmt.count("parameters"),
    }
    yield Table("characters", readers(data), columns, f"Characters. {ON_CHARACTERS}")
    history = data.select("sequences/history", task=CHARACTERS)
    history = history.assign(bits=history["dev_loss"] / NATS)
    panel = ("curves", history, "epoch", "bits", "bits per character")
    yield from marks.curves("characters_{}", "Characters", [panel])
    for run, rows in data.select("sequences/reading", task=CHARACTERS).groupby("run", sort=False):
        yield _passage(str(run), rows)
    classes = byte_classes(data)
    if not classes.empty:
        class_columns: dict[str, fmt.Cell] = {
            "run": fmt.text("name"),
            "byte class": fmt.text("kind"),
            "fraction, %": fmt.percent("share"),
            "mean steps": fmt.number("steps"),
            "minus letters": fmt.number("gap", sign=True),
            "mean N + R": fmt.number("ponder"),
            "bits per next byte": fmt.number("bits"),
            "entropy, bits": fmt.number("entropy_bits"),
        }
        caption = "Steps by byte class."
        yield Table("characters_by_class", classes, class_columns, caption, text_columns=2)


def _passage(run: str, rows: pd.DataFrame) -> Chart:
    """Draw a passage with bars: steps on each byte upward, bits of the next byte downward."""
    index = rows["position"] - 1
    x, line = index % LINE, -(index // LINE)
    bits = rows["loss"] / NATS
    frame = pd.DataFrame(
        {
            **{"x": x, "left": x - HALF, "right": x + HALF, "y": line},
            **{"foot": line + BASE, "up": line + BASE + UP * rows["steps"] / rows["steps"].max()},
            **{"drop": line - BASE, "down": line - BASE - DOWN * bits / bits.max()},
            **{"sign": rows["byte"].map(_sign), "steps": rows["steps"], "bits": bits},
            "N + R": rows["ponder"],
        }
    )
    base = marks.data(frame).encode(
        x=alt.X("left:Q", axis=None, scale=alt.Scale(domain=[-0.6, LINE - 0.4], nice=False)),
        tooltip=["sign:N", "steps:Q", "N + R:Q", "bits:Q"],
    )
    lines = int(1 - line.min())
    scale = alt.Scale(domain=[1 - lines - BASE - DOWN, BASE + UP], nice=False)
    y = {name: alt.Y(f"{name}:Q", axis=None, scale=scale) for name in ("foot", "drop", "y")}
    layers = [
        base.mark_rect(color=BLUE).encode(x2="right:Q", y=y["foot"], y2="up:Q"),
        base.mark_rect(color=ORANGE, opacity=0.75).encode(x2="right:Q", y=y["drop"], y2="down:Q"),
        base.mark_text(color=INK, baseline="middle").encode(x="x:Q", y=y["y"], text="sign:N"),
    ]
    return marks.chart(
        f"characters_passage_{''.join(c if c.isalnum() else '_' for c in run)}",
        f"Steps along a passage: {fmt.settings(run)}",
        layers,
        caption="Up: steps on a byte. Down: bits of the next byte.",
        height=HEIGHT * lines,
    )


def _sign(byte: int) -> str:
    return SIGNS.get(byte) or (chr(byte) if 32 < byte < 127 else OTHER)
