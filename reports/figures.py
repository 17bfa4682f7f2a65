"""The figures of the report, each from the artefacts alone."""

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
from reports.spread import Spread, setting, title
from reports.sweep import sweep_models, trials_of


def draw_all(artefacts: Artefacts, folder: Path) -> dict[str, Path]:
    """Write every figure that the artefacts allow; its path by its name."""
    plans: dict[str, tuple[Draw, tuple[float, float]]] = {}
    if artefacts.ablated:
        plans["ablation"] = (partial(draw_ablation, artefacts), (6.8, 4.0))
    width = max(6.8, 0.8 + 3.0 * len(artefacts.models))
    plans["learning_curves"] = (partial(draw_learning_curves, artefacts), (width, 3.8))
    for model in sweep_models(artefacts):
        if len(ponder_weights(artefacts, model)) > 1:
            plans["ponder_weight"] = (partial(draw_ponder_weight, artefacts, model), (6.8, 3.2))
    if depth_models(artefacts):
        plans["depth"] = (partial(draw_depth, artefacts), (6.8, 3.6))
    paths = {name: folder / f"{name}.png" for name in plans}
    for name, (draw, size) in plans.items():
        save(paths[name], draw, size)
    for stray in sorted(set(folder.glob("*.png")) - set(paths.values())):
        stray.unlink()  # of an earlier report on other artefacts
    return paths


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
    panels = figure.subplots(1, len(artefacts.models), sharey=True, squeeze=False)[0]
    for panel, model in zip(panels, artefacts.models, strict=True):
        _learning_curves(artefacts, model, panel)
        panel.set_title(title(model))
        panel.set_xlabel("epoch")
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panels[0].set_ylabel("accuracy (%)")
    legend_below(figure, panels[-1], 5)


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


def ponder_weights(artefacts: Artefacts, model: str) -> list[str]:
    """The ponder weights of a model's grid, smallest first."""
    if "ponder_weight" not in artefacts.settings:
        return []
    stored = set(trials_of(artefacts, model)["ponder_weight"]) - {""}
    return sorted(stored, key=float)


def draw_ponder_weight(artefacts: Artefacts, model: str, figure: Figure) -> None:
    """Dev accuracy and steps of the sweep's trials by ponder weight; evenly spaced values."""
    weights, trials = ponder_weights(artefacts, model), trials_of(artefacts, model)
    panels = figure.subplots(1, 2)
    columns = (
        (100 * trials["dev_accuracy"], "dev accuracy (%)"),
        (trials["dev_mean_steps"], "mean steps per dev pair"),
    )
    for panel, (column, label), colour in zip(panels, columns, (BLUE, ORANGE), strict=True):
        values = [list(column[trials["ponder_weight"] == weight]) for weight in weights]
        for at, group in enumerate(values):
            panel.plot([at] * len(group), group, color=colour, marker="o", ls="", alpha=0.45)
        means = [Spread.of(group).mean for group in values]
        panel.plot(range(len(weights)), means, color=colour, marker="_", ms=18, mew=2, lw=1)
        panel.set_xticks(range(len(weights)), [setting(weight) for weight in weights])
        panel.set_xlim(-0.5, len(weights) - 0.5)
        panel.set_xlabel("ponder weight λ")
        panel.set_ylabel(label)
    headed(figure, f"{title(model)}, sweep: points are trials, bars their means")


def draw_depth(artefacts: Artefacts, figure: Figure) -> None:
    """Test accuracy and steps by the reasoning depth that the corpus records."""
    left, right = figure.subplots(1, 2)
    for model, colour, marker in zip(depth_models(artefacts), COLOURS, MARKERS, strict=False):
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
