"""The figures of the report, each from the artefacts alone."""

import math
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from reports.ablation import FIXED, points
from reports.artefacts import Artefacts
from reports.depth import by_depth, depth_models
from reports.drawing import (
    BLUE,
    COLOURS,
    GREY,
    MARKERS,
    ORANGE,
    Draw,
    band,
    headed,
    legend_below,
    save,
)
from reports.featured import featured
from reports.fidelity import fidelity_models
from reports.spread import Spread, title
from reports.step_figures import draw_lengths, draw_ponder_weight, draw_steps_by_epoch
from reports.steps import weighed_models
from reports.study_figures import draw_fidelity, draw_halting, fidelity_size

ACROSS = 4  # panels in a row, as many as stay legible
# The figures of a model's ponder weights.
PONDERING = {"steps_by_epoch": draw_steps_by_epoch, "ponder_weight": draw_ponder_weight}


Plan = tuple[Draw, tuple[float, float]]  # what is drawn, and its size in inches


def draw_all(artefacts: Artefacts, folder: Path) -> dict[str, Path]:
    """Write every figure that the artefacts allow; its path by its name."""
    planned = plans(artefacts)
    paths = {name: folder / f"{name}.png" for name in planned}
    for name, (draw, size) in planned.items():
        save(paths[name], draw, size)
    for stray in sorted(set(folder.glob("*.png")) - set(paths.values())):
        stray.unlink()  # of an earlier report on other artefacts
    return paths


def plans(artefacts: Artefacts) -> dict[str, Plan]:
    """The figures that the artefacts allow, by name."""
    found: dict[str, Plan] = {}
    if artefacts.ablated:
        found["ablation"] = (partial(draw_ablation, artefacts), (6.8, 4.0))
    rows, across = _panels(artefacts)
    size = max(6.8, 0.8 + 2.8 * across), 1.2 + 2.6 * rows
    found["learning_curves"] = (partial(draw_learning_curves, artefacts), size)
    for model in weighed_models(artefacts):
        for name, by_model in PONDERING.items():
            found[f"{name}_{model}"] = (partial(by_model, artefacts, model), (6.8, 3.4))
    for model in filter(artefacts.adapts, featured(artefacts)):
        found[f"lengths_{model}"] = (partial(draw_lengths, artefacts, model), (6.8, 4.2))
    if depth_models(artefacts):
        found["depth"] = (partial(draw_depth, artefacts), (6.8, 3.6))
    if fidelity_models(artefacts):
        found["fidelity"] = (partial(draw_fidelity, artefacts), fidelity_size(artefacts))
    if not artefacts.halting.empty:
        found["halting"] = (partial(draw_halting, artefacts), (6.8, 4.2))
    return found


def draw_ablation(artefacts: Artefacts, figure: Figure) -> None:
    """Dev accuracy by number of steps in both readings, beside adaptive halting (paper, fig. 2)."""
    axes = figure.add_subplot()
    found = points(artefacts.ablation_dev, "dev")
    for reading, colour, marker in zip(FIXED, (BLUE, ORANGE), MARKERS, strict=False):
        line = [p for p in found if p.reading == reading]
        band(
            axes,
            [p.steps or 0 for p in line],
            [p.accuracy for p in line],
            colour=colour,
            marker=marker,
            label=FIXED[reading].label,
            scale=100,
        )
    adaptive = found[-1]
    mean, sd = 100 * adaptive.accuracy.mean, 100 * (adaptive.accuracy.sd or 0.0)
    steps = f"adaptive halting (mean {adaptive.mean_steps.mean:.1f} steps)"
    axes.axhline(mean, color=GREY, linestyle="--", label=steps, zorder=1)
    if sd > 0:
        axes.axhspan(mean - sd, mean + sd, color=GREY, alpha=0.12, linewidth=0)
    axes.set_xlabel("inference steps k")
    axes.set_ylabel("dev accuracy (%)")
    most = max(p.steps or 0 for p in found)
    axes.set_xticks([1, *range(2, most + 1, 1 if most <= 10 else 2)])
    spread = _shown(mean_of=adaptive.accuracy)
    axes.set_title(f"{title(artefacts.ablated or '')}, steps fixed after training ({spread})")
    legend_below(figure, axes, 3)


def _shown(mean_of: Spread) -> str:
    return f"mean ± 1 sd, {mean_of.n} seeds" if mean_of.n > 1 else "1 seed"


def draw_learning_curves(artefacts: Artefacts, figure: Figure) -> None:
    """Accuracy by epoch of each retrained seed; the epoch that was kept is marked."""
    rows, across = _panels(artefacts)
    grid = figure.subplots(rows, across, sharey=True, squeeze=False)
    panels = list(grid.flat)
    for at, model in enumerate(artefacts.models):
        panel = panels[at]
        _learning_curves(artefacts, model, panel)
        panel.set_title(title(model).replace(", ", ",\n"))
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        if at % across == 0:
            panel.set_ylabel("accuracy (%)")
        if at + across >= len(artefacts.models):  # none below it
            panel.set_xlabel("epoch")
    for panel in panels[len(artefacts.models) :]:
        panel.remove()
    legend_below(figure, panels[0], 5)


def _panels(artefacts: Artefacts) -> tuple[int, int]:
    """Rows and columns of a panel for each model."""
    count = len(artefacts.models)
    return math.ceil(count / ACROSS), min(count, ACROSS)


def _learning_curves(artefacts: Artefacts, model: str, axes: Axes) -> None:
    history = artefacts.history[artefacts.history["model"] == model]
    for at, (seed, epochs) in enumerate(history.groupby("seed", sort=True)):
        colour = COLOURS[at % len(COLOURS)]
        train, dev = 100 * epochs["train_accuracy"], 100 * epochs["dev_accuracy"]
        axes.plot(epochs["epoch"], train, color=colour, ls=":", lw=1.1)
        axes.plot(epochs["epoch"], dev, color=colour, label=f"dev, seed {seed}")
        kept = dev == dev.max()
        axes.plot(epochs["epoch"][kept][:1], dev[kept][:1], color=colour, marker="o", ls="")
    axes.plot([], [], color=GREY, ls=":", lw=1.1, label="training, with dropout")
    axes.plot([], [], color=GREY, marker="o", ls="", label="epoch kept")


def draw_depth(artefacts: Artefacts, figure: Figure) -> None:
    """Test accuracy and steps by the reasoning depth that the corpus records.

    Of many models, those that are featured.
    """
    left, right = figure.subplots(1, 2)
    models = [model for model in depth_models(artefacts) if model in featured(artefacts)]
    for model, colour, marker in zip(models, COLOURS, MARKERS, strict=False):
        rows = by_depth(artefacts, model)
        depths = [depth for depth, *_ in rows]
        spreads = [accuracy for _, _, accuracy, _ in rows]
        steps = [spread for *_, spread in rows if spread is not None]
        draw = partial(band, colour=colour, marker=marker, label=title(model))
        draw(left, depths, spreads, scale=100)
        if len(steps) == len(depths):
            draw(right, depths, steps)
    for panel, label in ((left, "test accuracy (%)"), (right, "mean steps per test pair")):
        panel.set_xlabel("recorded reasoning depth")
        panel.set_ylabel(label)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    headed(figure, f"Test accuracy and steps by depth ({_shown(mean_of=spreads[0])})")
    legend_below(figure, left, 3)
