"""One look for all figures, and PNG files whose bytes depend on the figures alone."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from actmodels.files import replacing
from reports.spread import Spread

# Okabe and Ito's colours: told apart with any colour vision, and in print by their lightness.
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#595959"
COLOURS = (ORANGE, BLUE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P")
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.7,
    "axes.edgecolor": GREY,
    "axes.labelcolor": "#222222",
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": "#222222",
    "ytick.labelcolor": "#222222",
    "legend.frameon": False,
    "legend.columnspacing": 1.4,
    "legend.handlelength": 1.8,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "savefig.dpi": 160,
}

Draw = Callable[[Figure], None]


def save(path: Path, draw: Draw, size: tuple[float, float]) -> None:
    """Draw on an empty figure of `size` inches and write it as PNG, atomically.

    The reader's own matplotlib settings play no part, and neither versions nor dates are stored.
    """
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=size, layout="constrained")
        canvas = FigureCanvasAgg(figure)
        draw(figure)
        with replacing(path) as temporary:
            metadata: dict[str, Any] = {"Software": None}
            canvas.print_figure(temporary, format="png", metadata=metadata)


def headed(figure: Figure, heading: str) -> None:
    """A heading over all panels, at the left like those of single panels."""
    figure.suptitle(heading, x=0.01, ha="left", fontsize=10)


def legend_below(figure: Figure, axes: Axes, columns: int) -> None:
    """The legend of one panel under the figure, where it hides no data."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)


def band(
    axes: Axes,
    places: Sequence[float],
    spreads: Sequence[Spread],
    *,
    colour: str,
    marker: str,
    label: str,
    scale: float = 1,
) -> None:
    """A line of means with markers and, where there is a spread, a band of one sd each way."""
    means = [scale * spread.mean for spread in spreads]
    axes.plot(places, means, color=colour, marker=marker, label=label)
    if any(spread.sd is not None for spread in spreads):
        sds = [scale * (spread.sd or 0.0) for spread in spreads]
        low = [mean - sd for mean, sd in zip(means, sds, strict=True)]
        high = [mean + sd for mean, sd in zip(means, sds, strict=True)]
        axes.fill_between(places, low, high, color=colour, alpha=0.18, linewidth=0)
