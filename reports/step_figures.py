"""Figures about steps: by ponder weight, during training, and against sentence length."""

import matplotlib
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from reports.artefacts import Artefacts
from reports.correlations import joint_counts
from reports.drawing import BLUE, GREY, MARKERS, ORANGE, headed, legend_below
from reports.spread import Spread, setting, title
from reports.steps import ponder_weights, steps_by_epoch
from reports.sweep import trials_of

LEVEL = 4  # labels of ponder weights that fit side by side
PAIR_TICKS = [base * 10**power for power in range(7) for base in (1, 3)]
SHADES = "viridis"  # light to dark with any colour vision, for what has an order


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
        if len(weights) > LEVEL:
            panel.tick_params(axis="x", labelrotation=45)
        panel.set_xlim(-0.5, len(weights) - 0.5)
        panel.set_xlabel("ponder weight λ")
        panel.set_ylabel(label)
    headed(figure, f"{title(model)}, sweep: points are trials, bars their means")


def draw_steps_by_epoch(artefacts: Artefacts, model: str, figure: Figure) -> None:
    """Mean ± sd of the steps of training and dev pairs by epoch, one line per ponder weight."""
    panels = figure.subplots(1, 2, sharey=True)
    weights, epochs = ponder_weights(artefacts, model), steps_by_epoch(artefacts, model)
    shades = matplotlib.colormaps[SHADES]
    for at, weight in enumerate(weights):
        line = [epoch for epoch in epochs if epoch.ponder_weight == weight]
        colour = shades(0.9 * at / max(1, len(weights) - 1))
        values = (
            [(epoch.train_mean, epoch.train_sd) for epoch in line],
            [(epoch.dev_mean, epoch.dev_sd) for epoch in line],
        )
        places = [epoch.epoch for epoch in line]
        for panel, pairs in zip(panels, values, strict=True):
            low, high = [m - sd for m, sd in pairs], [m + sd for m, sd in pairs]
            label, marker = f"λ = {setting(weight)}", MARKERS[at % len(MARKERS)]
            means = [mean for mean, _ in pairs]
            panel.plot(places, means, color=colour, marker=marker, label=label)
            panel.fill_between(places, low, high, color=colour, alpha=0.13, linewidth=0)
    for panel, what in zip(panels, ("training pairs", "dev pairs"), strict=True):
        panel.set_title(what)
        panel.set_xlabel("epoch")
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panels[0].set_ylabel("steps per pair")
    headed(figure, f"{title(model)}, sweep: steps (mean ± 1 sd between pairs)")
    legend_below(figure, panels[0], 4)


def draw_lengths(artefacts: Artefacts, model: str, figure: Figure) -> None:
    """Joint and marginal distributions of steps and mean sentence length (thesis figure 6.5)."""
    counts = joint_counts(artefacts, model)
    steps, lengths = counts.index.to_numpy(), counts.columns.to_numpy()
    grid = figure.add_gridspec(2, 2, width_ratios=(5, 1), height_ratios=(1, 3))
    joint = figure.add_subplot(grid[1, 0])
    above = figure.add_subplot(grid[0, 0], sharex=joint)
    beside = figure.add_subplot(grid[1, 1], sharey=joint)
    shown = counts.to_numpy().astype(float)
    norm = LogNorm(1, max(2.0, shown.max()))
    edges = ([*lengths, lengths[-1] + 1], [*(steps - 0.5), steps[-1] + 0.5])
    shown[shown == 0] = float("nan")  # left white
    mesh = joint.pcolormesh(*edges, shown, norm=norm, cmap="Blues")
    above.bar(lengths, counts.sum(axis=0), width=1, align="edge", color=GREY, alpha=0.6)
    beside.barh(steps, counts.sum(axis=1), height=1, color=GREY, alpha=0.6)
    joint.set_xlabel("mean of premise and hypothesis length (tokens)")
    joint.set_ylabel("steps")
    for axis in (joint.xaxis, joint.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    above.set_ylabel("pairs")
    beside.set_xlabel("pairs")
    for panel in (above, beside):
        panel.tick_params(labelleft=panel is above, labelbottom=panel is beside)
    joint.grid(visible=False)
    ticks = [tick for tick in PAIR_TICKS if tick <= norm.vmax]
    bar = figure.colorbar(mesh, ax=[joint, above, beside], label="pairs", ticks=ticks)
    bar.set_ticklabels([f"{tick:,}" for tick in ticks])
    bar.minorticks_off()
    runs = artefacts.lengths[artefacts.lengths["model"] == model]["seed"].nunique()
    over = "1 seed" if runs == 1 else f"{runs} seeds"
    headed(figure, f"{title(model)}: steps and sentence length, test pairs of {over}")
