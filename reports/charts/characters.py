"""Characters of a text (Graves 2016, figures 22, 23): bits by epoch, steps along a passage."""

from collections.abc import Iterator

import altair as alt

from reports.blocks import Chart, Figure
from reports.charts.lines import spread_lines
from reports.charts.look import BLUE, INK, ORANGE
from reports.charts.series import Row, figure, layered, rounded, tooltips
from reports.stored.artefacts import Artefacts
from reports.studies.graves.characters import NATS, Reader, bits_curve, readers

LINE = 40  # bytes of a line: on a phone there is room for no more
HALF = 0.38  # of a bar, where a byte has 1
FOOT, UP, DOWN = 0.17, 0.42, 0.2  # of a line: where bars begin, and how long the longest are
HEIGHT = 58  # px of a line
SIGNS = {ord(" "): ("\N{MIDDLE DOT}", "space"), ord("\t"): ("\N{MIDDLE DOT}", "tab")}
SIGNS |= {ord("\n"): ("\N{PILCROW SIGN}", "line end"), ord("\r"): ("\N{PILCROW SIGN}", "line end")}
OTHER = "\N{WHITE SQUARE}"  # a part of a letter beyond ASCII, or no letter at all


def characters_charts(artefacts: Artefacts) -> Iterator[Chart]:
    """The bits by epoch, and the passage as each run that halts has read it."""
    found = readers(artefacts)
    for at, reader in enumerate(found):
        if rows := _rows(artefacts, reader):
            yield Chart(f"characters_passage_{at}", passage(reader, rows))
    yield from spread_lines(
        "characters_curves",
        [(reader.label, bits_curve(artefacts, reader)) for reader in found],
        ("epoch", "bits per character"),
        "Characters: bits per character by epoch",
        "Characters: bits per character on dev by epoch",
    )


def _rows(artefacts: Artefacts, reader: Reader) -> list[Row]:
    """A row for each byte: its place, its bars, and what is told of it."""
    table = artefacts.graves_passage
    read = table[table["run"] == reader.name].to_dict("records")
    if not read:
        return []
    most, worst = max(one["steps"] for one in read), max(one["loss"] for one in read)
    rows: list[Row] = []
    for one in read:
        line, column = divmod(int(one["position"]) - 1, LINE)
        sign, said = shown(int(one["byte"]))
        steps, bits = int(one["steps"]), one["loss"] / NATS
        rows.append(
            {
                **{"left": column - HALF, "right": column + HALF, "x": column, "y": -line},
                **{"foot": rounded(FOOT - line), "drop": rounded(-FOOT - line)},
                "up": rounded(FOOT - line + UP * steps / most),
                "down": rounded(-FOOT - line - DOWN * one["loss"] / max(worst, 1e-9)),
                **{"sign": sign, "byte": said, "steps": str(steps), "bits": f"{bits:.2f}"},
                "entropy": f"{one['entropy'] / NATS:.2f}",
                "ponder": "" if one["ponder"] != one["ponder"] else f"{one['ponder']:.2f}",
            }
        )
    return rows


def shown(byte: int) -> tuple[str, str]:
    """How a byte is drawn, and what it is called."""
    if byte in SIGNS:
        return SIGNS[byte]
    return (chr(byte), chr(byte)) if 32 < byte < 127 else (OTHER, f"byte {byte}")


def passage(reader: Reader, rows: list[Row]) -> Figure:
    """A passage of the text with bars: upwards its steps, downwards the loss of what came next."""
    lines = 1 - int(rows[-1]["y"])
    x = alt.X("left:Q", axis=None, scale=alt.Scale(domain=[-0.6, LINE - 0.4], nice=False))
    low, high = -(lines - 1) - FOOT - DOWN, FOOT + UP
    y = alt.Scale(domain=[low, high], nice=False)
    told = {"byte": "byte", "steps": "steps (N)", "ponder": "N + R"}
    told |= {"bits": "bits of the byte after it", "entropy": "entropy, bits"}
    base = alt.Chart().encode(x=x, x2="right:Q", tooltip=tooltips(told))
    up = base.mark_rect(color=BLUE).encode(y=alt.Y("foot:Q", axis=None, scale=y), y2="up:Q")
    down = base.mark_rect(color=ORANGE, opacity=0.75).encode(
        y=alt.Y("drop:Q", axis=None, scale=y), y2="down:Q"
    )
    text = (
        alt.Chart()
        .mark_text(color=INK, baseline="middle")
        .encode(x=alt.X("x:Q", axis=None), y=alt.Y("y:Q", axis=None, scale=y), text="sign:N")
    )
    steps = [int(row["steps"]) for row in rows]
    name = reader.label
    return figure(
        layered(up, down, text.encode(tooltip=tooltips(told)), rows=rows),
        f"Characters: steps along a passage, {name}",
        f"up: steps on a byte, at most {max(steps)}; down: bits of the byte after it, at most "
        f"{max(float(row['bits']) for row in rows):.1f}; a dot is a space, a pilcrow a line end",
        f"Characters: steps of {name} along {len(rows)} bytes that were not trained on, one seed: "
        f"{sum(steps) / len(steps):.2f} in the mean, {min(steps)} to {max(steps)}; {_by(rows)}.",
        height=HEIGHT * lines,
    )


def _by(rows: list[Row]) -> str:
    """Mean steps on letters, spaces and the rest of a passage, in words."""
    kinds: dict[str, list[int]] = {"letters": [], "spaces": [], "other bytes": []}
    for row in rows:
        kind = "other bytes"
        if row["byte"] == "space":
            kind = "spaces"
        elif len(row["sign"]) == 1 and row["sign"].isascii() and row["sign"].isalpha():
            kind = "letters"
        kinds[kind].append(int(row["steps"]))
    return ", ".join(
        f"{sum(steps) / len(steps):.2f} on {len(steps)} {kind}"
        for kind, steps in kinds.items()
        if steps
    )
