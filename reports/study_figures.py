"""Figures of the two studies: what each deviation costs, and the ways of halting."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.artefacts import Artefacts
from reports.drawing import BLUE, COLOURS, GREY, MARKERS, ORANGE, headed, legend_below
from reports.fidelity import Variant, fidelity_models, variants
from reports.halting import halting_points
from reports.spread import KINDS, title

# Label, colour, marker and fill of a clear loss, of neither, of a clear gain.
BELOW = ("clearly below", ORANGE, "v", ORANGE)
UNCLEAR = ("not clear", GREY, "o", "white")
ABOVE = ("clearly above", BLUE, "^", BLUE)


def fidelity_size(artefacts: Artefacts) -> tuple[float, float]:
    """Inches that give every variant a line."""
    models = fidelity_models(artefacts)
    return 6.8, 0.9 + sum(0.65 + 0.21 * len(variants(artefacts, m)) for m in models)


def draw_fidelity(artefacts: Artefacts, figure: Figure) -> None:
    """Differences in test accuracy with their intervals; a panel per model, a line per variant."""
    found = {model: variants(artefacts, model) for model in fidelity_models(artefacts)}
    heights = [len(listed) for listed in found.values()]
    panels = figure.subplots(
        len(found), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
    )[:, 0]
    for panel, (model, listed) in zip(panels, found.items(), strict=True):
        _differences(panel, listed[1:])
        panel.set_title(f"{title(model)}: difference from “{listed[0].name}”")
    panels[-1].set_xlabel("difference in test accuracy (points), 95 % interval")
    for label, colour, marker, face in (BELOW, UNCLEAR, ABOVE):
        panels[0].plot([], [], color=colour, marker=marker, mfc=face, label=label)
    legend_below(figure, panels[0], 3)


def _differences(axes: Axes, found: list[Variant]) -> None:
    axes.axvline(0, color=GREY, linewidth=1, zorder=1)
    for at, variant in enumerate(found):
        gap = variant.difference
        mean, low, high = (100 * value for value in (gap.mean, gap.low, gap.high))
        look = BELOW if gap.high < 0 else ABOVE if gap.low > 0 else UNCLEAR
        _, colour, marker, face = look
        axes.plot([low, high], [at, at], color=colour)
        axes.plot([mean], [at], color=colour, marker=marker, mfc=face, ls="")
    axes.set_yticks(range(len(found)), [variant.name for variant in found])
    axes.set_ylim(max(1, len(found)) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def draw_halting(artefacts: Artefacts, figure: Figure) -> None:
    """Dev accuracy against mean steps, both with an sd over seeds; a marker per way of halting."""
    axes = figure.add_subplot()
    points = halting_points(artefacts)
    kinds = dict.fromkeys(point.kind for point in points)
    for at, kind in enumerate(kinds):
        line = sorted((p for p in points if p.kind == kind), key=lambda p: p.steps.mean)
        axes.errorbar(
            [p.steps.mean for p in line],
            [100 * p.accuracy.mean for p in line],
            xerr=[p.steps.sd or 0.0 for p in line],
            yerr=[100 * (p.accuracy.sd or 0.0) for p in line],
            color=COLOURS[at % len(COLOURS)],
            marker=MARKERS[at % len(MARKERS)],
            markersize=6,
            linewidth=0.8,
            linestyle=":",
            elinewidth=1.1,
            label=KINDS[kind],
        )
    axes.set_xlabel("mean steps per dev pair")
    axes.set_ylabel("dev accuracy (%)")
    seeds = max(point.accuracy.n for point in points)
    spread = "bars: ± 1 sd over seeds" if seeds > 1 else "1 seed"
    headed(figure, f"Ways of halting: a point per setting ({spread})")
    legend_below(figure, axes, 3)
