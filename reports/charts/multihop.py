"""Multi-hop inference: accuracy and steps by number of hops, and one against the other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import altair as alt

from actmodels.registry import MODELS
from reports.blocks import Chart
from reports.charts.lines import lines, mean_row
from reports.charts.look import COLOURS, MUTED
from reports.charts.series import (
    SERIES,
    Row,
    faded,
    figure,
    inline,
    layered,
    over,
    repeated,
    rounded,
    tooltips,
)
from reports.charts.studies import Placed, by_steps
from reports.findings import counted
from reports.spread import Spread
from reports.stored.artefacts import Artefacts
from reports.studies.multihop import Run, all_hops, multihop_runs, trained_hops

CLASSES = 3  # labels of a pair, equally frequent
CHANCE, DIAGONAL = f"chance ({100 / CLASSES:.1f} %)", "steps = hops"
MARGIN = 0.3  # hops to the right of the last point


def multihop_charts(artefacts: Artefacts) -> Iterator[Chart]:
    """Draw the two panels, and steps against accuracy where two mechanisms choose their steps."""
    runs, hops = multihop_runs(artefacts), all_hops(artefacts)
    ends = (hops[0], hops[-1])
    names = _short_names(runs)
    accuracy = {name: run.accuracy for name, run in zip(names, runs, strict=True)}
    level = [_reference(CHANCE, at, 100 / CLASSES) for at in ends]
    yield _panel(artefacts, "accuracy", "test accuracy (%)", accuracy, level, scale=100)
    steps = {name: run.steps for name, run in zip(names, runs, strict=True)}
    if any(steps.values()):
        diagonal = [_reference(DIAGONAL, at, at) for at in ends]
        yield _panel(artefacts, "steps", "mean steps", steps, diagonal, scale=1)
    placed = [one for run in runs if (one := _placed(run)) is not None]
    adaptive = {MODELS[run.model].halting for run in runs if artefacts.adapts(run.model)}
    if len(adaptive) > 1 and placed:
        share, of = "accuracy at untrained depths", "test pair of the trained depths"
        drawn = by_steps(placed, "Steps and accuracy at untrained depths", share, of, highest=True)
        caption = f"Mean steps over trained depths against {share}, {counted(len(placed), 'run')}."
        yield Chart("multihop_pareto", replace(drawn, alternative=caption))


def _short_names(runs: Sequence[Run]) -> list[str]:
    """Return the names without the architecture that all runs share: a phone has 30 characters."""
    parts = [run.name.partition(", ") for run in runs]
    shared = len({part[0] for part in parts}) == 1
    return [part[2] if shared else run.name for part, run in zip(parts, runs, strict=True)]


def _panel(
    artefacts: Artefacts,
    what: str,
    up: str,
    found: Mapping[str, Mapping[int, Spread]],
    reference: Sequence[Row],
    scale: int,
) -> Chart:
    """Draw a line per run over the hops, a dashed reference and the untrained depths."""
    level, across = str(reference[0][SERIES]), "hops"
    colours = dict(zip(found, repeated(COLOURS, len(found)), strict=True))
    rows: list[Row] = []
    for name, by in found.items():
        for at, spread in by.items():
            shown = f"{spread.percent()} %" if scale == 100 else spread.plain()
            rows.append(mean_row(name, at, spread, scale) | {"at": str(at), "shown": shown})
    names = [name for name, by in found.items() if by]
    own = [*(colours[name] for name in names), MUTED]
    tips = {SERIES: "run", "at": "hops", "shown": up.removesuffix(" (%)"), "n": "seeds"}
    drawn = lines(rows, [*names, level], across, up, tips, colours=own, levels=[level])
    rule = alt.Chart(inline(reference)).mark_line(color=MUTED, strokeDash=[5, 3])
    dashed = rule.encode(
        x="x:Q", y="y:Q", opacity=faded(1), tooltip=tooltips({SERIES: "reference"})
    )
    heading = f"{up.removesuffix(' (%)').capitalize()} by number of hops"
    most = max((s for by in found.values() for s in by.values()), key=lambda s: s.n)
    return Chart(
        f"multihop_{what}",
        figure(
            layered(*_untrained(artefacts), dashed, *drawn),
            heading,
            over(most),
            f"{heading}, {counted(len(names), 'run')} ({over(most)}). Dashed: {level}.",
        ),
        half=True,
    )


def _reference(name: str, x: float, y: float) -> Row:
    return {SERIES: name, "x": x, "y": rounded(y)}


def _untrained(artefacts: Artefacts) -> list[alt.Chart]:
    """Shade and label the depths that no training pair has."""
    last, deepest = trained_hops(artefacts), all_hops(artefacts)[-1]
    if deepest <= last:
        return []
    ends = {"left": last + 0.5, "right": deepest + MARGIN, "name": "never trained"}
    base = alt.Chart(inline([ends]))
    shade = base.mark_rect(color=MUTED, opacity=0.1).encode(x="left:Q", x2="right:Q")
    text = base.mark_text(align="right", baseline="bottom", color=MUTED)
    return [shade, text.encode(x="right:Q", y=alt.value(-2), text="name:N")]


def _placed(run: Run) -> Placed | None:
    halting = MODELS[run.model].halting if run.model in MODELS else None
    if halting is None or run.trained_steps is None or run.untrained_accuracy is None:
        return None
    steps, share = run.trained_steps, run.untrained_accuracy
    return Placed(halting.title, run.settings, run.name, steps, share)
