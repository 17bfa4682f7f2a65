"""Test accuracy and steps by the depth that the corpus records."""

from reports.charts.figure import Figure
from reports.charts.lines import lines, mean_row
from reports.charts.look import COLOURS
from reports.charts.series import SERIES, Row, figure, layered, over, repeated
from reports.featured import featured
from reports.spread import Spread, title
from reports.stored.artefacts import Artefacts
from reports.tables.depth import by_depth, depth_models

ACROSS = "recorded depth"


def shown_models(artefacts: Artefacts) -> list[str]:
    """Those with figures by depth; of many models, those that are featured."""
    return [model for model in depth_models(artefacts) if model in featured(artefacts)]


def stepping_models(artefacts: Artefacts) -> list[str]:
    """Those of them that take steps at every depth."""
    return [
        model
        for model in shown_models(artefacts)
        if all(steps is not None for *_, steps in by_depth(artefacts, model))
    ]


def depth_accuracy(artefacts: Artefacts) -> Figure:
    """A line per model over the depths."""
    found = {
        model: [(at, pairs, accuracy) for at, pairs, accuracy, _ in by_depth(artefacts, model)]
        for model in shown_models(artefacts)
    }
    return _by_depth(artefacts, found, "Test accuracy", "test accuracy (%)", 100)


def depth_steps(artefacts: Artefacts) -> Figure:
    """The same of the mean steps, of those models that take any."""
    found = {
        model: [
            (at, pairs, steps)
            for at, pairs, _, steps in by_depth(artefacts, model)
            if steps is not None
        ]
        for model in stepping_models(artefacts)
    }
    steps = "steps per test pair"
    return _by_depth(artefacts, found, f"Mean {steps}", f"mean {steps}", 1)


def _by_depth(
    artefacts: Artefacts,
    found: dict[str, list[tuple[int, int, Spread]]],
    what: str,
    up: str,
    scale: int,
) -> Figure:
    """A line per model; its colour is the same in both figures."""
    of = dict(zip(shown := shown_models(artefacts), repeated(COLOURS, len(shown)), strict=True))
    rows: list[Row] = []
    said = []
    unit = " %" if scale == 100 else ""
    for model, line in found.items():
        for at, pairs, spread in line:
            worded = spread.percent() if scale == 100 else spread.plain()
            told = {"depth": str(at), "value": worded + unit, "pairs": f"{pairs:,}"}
            rows.append(mean_row(title(model), at, spread, scale) | told)
        ends = [rows[-len(line)], rows[-1]]
        each = [f"{end['value']} at depth {end['depth']}" for end in ends]
        said.append(f"{title(model)} {' and '.join(dict.fromkeys(each))}")
    told = {SERIES: "model", "depth": "depth", "value": what, "n": "seeds", "pairs": "pairs"}
    names = [title(model) for model in found]
    spread = next(iter(found.values()))[0][2]
    return figure(
        layered(*lines(rows, names, ACROSS, up, told, colours=[of[m] for m in found])),
        f"{what} by {ACROSS}",
        over(spread),
        f"{what} by {ACROSS} ({over(spread)}): {'; '.join(said)}.",
    )
