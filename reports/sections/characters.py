"""Characters of a text (Graves 2016, section 3.5): bits per character, steps along a passage."""

import math
from collections.abc import Iterator

import altair as alt
import pandas as pd

from reports.blocks import Chart, Table
from reports.charts import marks
from reports.charts.theme import BLUE, INK, ORANGE
from reports.format import Cell, count, number, percent, text
from reports.load import Artifacts
from reports.published.results import CHARACTERS, NONE, ON_CHARACTERS
from reports.sections.halting import label
from reports.statistics import mean_sd

NATS = math.log(2)  # of one bit
LETTER = "letter"
LINE = 40  # bytes of a line: on a phone there is room for no more
HEIGHT = 58  # px of a line
HALF, FOOT, UP, DOWN = 0.38, 0.17, 0.42, 0.2  # of a line: half a bar, its foot, the longest bars
SIGNS = {32: "\N{MIDDLE DOT}", 9: "\N{MIDDLE DOT}", 10: "\N{PILCROW SIGN}", 13: "\N{PILCROW SIGN}"}
OTHER = "\N{WHITE SQUARE}"  # a byte that is no printable letter


def readers(data: Artifacts) -> pd.DataFrame:
    """Return the runs on characters over their seeds: bits, wrong bytes, steps and N + R."""
    rows = data.of("sequences/results", task=CHARACTERS)
    rows = rows.assign(bits=rows["dev_loss"] / NATS).rename(
        columns={"dev_error": "wrong", "dev_mean_steps": "steps", "dev_ponder_cost": "ponder"}
    )
    by, columns = ["run", "halting", "ponder_weight"], ["bits", "wrong", "steps", "ponder"]
    frame = mean_sd(rows, by, columns, first=["parameters"])
    return frame.assign(name=frame["run"].map(label))


def byte_classes(data: Artifacts) -> pd.DataFrame:
    """Return steps, bits and entropy by class of byte of each run that halts.

    In addition share (of all bytes) and gap (steps minus those on letters, by seed).
    """
    halting = data.of("sequences/results", task=CHARACTERS).query(f"halting != '{NONE}'")
    rows = data["sequences/bytes"]
    rows = rows[rows["run"].isin(halting["run"])]
    letters = rows[rows["kind"] == LETTER].set_index(["run", "seed"])["steps"]
    own = pd.MultiIndex.from_frame(rows[["run", "seed"]])
    rows = rows.assign(
        bits=rows["loss"] / NATS,
        entropy_bits=rows["entropy"] / NATS,
        gap=(rows["steps"] - letters.reindex(own).to_numpy()).round(12),
    )
    columns = ["steps", "ponder", "bits", "entropy_bits", "gap"]
    frame = mean_sd(rows, ["run", "kind"], columns, total=["bytes"])
    whole = frame.groupby("run")["bytes"].transform("sum")
    return frame.assign(name=frame["run"].map(label), share=frame["bytes"] / whole)


def characters_parts(data: Artifacts) -> Iterator[Table | Chart]:
    """Yield tables, bits by epoch, and the passage as each run that halts has read it."""
    columns: dict[str, Cell] = {
        "run": text("name"),
        "seeds": count("bits_n"),
        "bits per character": number("bits"),
        "bytes wrong, %": percent("wrong"),
        "mean steps per byte": number("steps"),
        "mean N + R": number("ponder"),
        "parameters": count("parameters"),
    }
    yield Table("characters", readers(data), columns, f"Characters of a text. {ON_CHARACTERS}")
    history = data.of("sequences/history", task=CHARACTERS)
    history = history.assign(bits=history["dev_loss"] / NATS)
    frame = mean_sd(history.dropna(subset=["bits"]), ["run", "epoch"], ["bits"])
    if not frame.empty:
        names = frame["run"].map(label)
        frame = marks.with_band(frame, "bits", x=frame["epoch"], series=names)
        drawn = marks.lines(frame, "epoch", "bits per character")
        yield marks.chart("characters_curves", "Bits per character by epoch", drawn, half=True)
    for run, rows in data.of("sequences/reading", task=CHARACTERS).groupby("run", sort=False):
        yield _passage(str(run), rows)
    classes = byte_classes(data)
    if not classes.empty:
        shown: dict[str, Cell] = {
            "run": text("name"),
            "class of byte": text("kind"),
            "share, %": percent("share"),
            "mean steps": number("steps"),
            "minus letters": number("gap", sign=True),
            "mean N + R": number("ponder"),
            "bits of the next byte": number("bits"),
            "entropy, bits": number("entropy_bits"),
        }
        yield Table("characters_by_class", classes, shown, "Steps by class of byte.", left=2)


def _passage(run: str, rows: pd.DataFrame) -> Chart:
    """Draw a passage with bars: upwards the steps on a byte, downwards the bits of the next one."""
    at = rows["position"] - 1
    x, line = at % LINE, -(at // LINE)
    bits = rows["loss"] / NATS
    frame = pd.DataFrame(
        {
            **{"x": x, "left": x - HALF, "right": x + HALF, "y": line},
            **{"foot": line + FOOT, "up": line + FOOT + UP * rows["steps"] / rows["steps"].max()},
            **{"drop": line - FOOT, "down": line - FOOT - DOWN * bits / bits.max()},
            **{"sign": rows["byte"].map(_sign), "steps": rows["steps"], "bits": bits},
            "N + R": rows["ponder"],
        }
    )
    base = marks.data(frame).encode(
        x=alt.X("left:Q", axis=None, scale=alt.Scale(domain=[-0.6, LINE - 0.4], nice=False)),
        tooltip=["sign:N", "steps:Q", "N + R:Q", "bits:Q"],
    )
    lines = int(1 - line.min())
    scale = alt.Scale(domain=[1 - lines - FOOT - DOWN, FOOT + UP], nice=False)
    y = {name: alt.Y(f"{name}:Q", axis=None, scale=scale) for name in ("foot", "drop", "y")}
    layers = [
        base.mark_rect(color=BLUE).encode(x2="right:Q", y=y["foot"], y2="up:Q"),
        base.mark_rect(color=ORANGE, opacity=0.75).encode(x2="right:Q", y=y["drop"], y2="down:Q"),
        base.mark_text(color=INK, baseline="middle").encode(x="x:Q", y=y["y"], text="sign:N"),
    ]
    return marks.chart(
        f"characters_passage_{''.join(c if c.isalnum() else '_' for c in run)}",
        f"Steps along a passage: {label(run)}",
        layers,
        caption="Up: steps on a byte. Down: bits of the byte after it.",
        height=HEIGHT * lines,
    )


def _sign(byte: int) -> str:
    return SIGNS.get(byte) or (chr(byte) if 32 < byte < 127 else OTHER)
