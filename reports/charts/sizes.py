"""Test accuracy by number of training pairs, with the power law through it."""

import altair as alt

from reports.blocks import Figure
from reports.charts.look import COLOURS, MUTED
from reports.charts.series import (
    POINTED,
    SERIES,
    Row,
    colour,
    faded,
    figure,
    inline,
    layered,
    lifted,
    over,
    rounded,
    shape,
    tooltips,
    with_legend,
)
from reports.published import SNLI_TRAIN
from reports.spread import title
from reports.stored.artefacts import Artefacts
from reports.studies.sizes import Law, Size, beside, laws, sized_models, sizes

TOLD = {SERIES: "model", "pairs": "training pairs", "accuracy": "test accuracy", "n": "seeds"}


def by_size(artefacts: Artefacts, published: bool) -> Figure:
    """Points are measured; lines and bands are laws of all sizes that say something."""
    models = sized_models(artefacts)
    drawn = [model for model in models if _foretold(artefacts, model)]
    points = [_point(model, at) for model in models for at in sizes(artefacts, model)]
    known = [
        {"x": SNLI_TRAIN, "y": row.accuracy, "system": row.system, "source": row.source}
        for model in models
        for row in beside(artefacts, model, published)
    ]
    said = [f"{title(model)} {_ends(artefacts, model)}" for model in models]
    most = max((at.test for model in models for at in sizes(artefacts, model)), key=lambda s: s.n)
    below = f"{over(most)}; bands: 95 % of the law" if drawn else over(most)
    return figure(
        _layers(points, _curves(artefacts, drawn), known, [title(model) for model in models]),
        "Test accuracy by number of training pairs",
        f"{below}; crosses: published" if known else below,
        f"Test accuracy by number of training pairs ({over(most)}), with the power law where it "
        f"says something: {'; '.join(said)}.",
        height=300,
    )


def _ends(artefacts: Artefacts, model: str) -> str:
    found = sizes(artefacts, model)
    ends = [f"{at.test.percent()} % at {at.pairs:,}" for at in (found[0], found[-1])]
    told = [f"foretold {law.percent()} % at {law.pairs:,}" for law in _foretold(artefacts, model)]
    return ", ".join([*ends, *told])


def _foretold(artefacts: Artefacts, model: str) -> list[Law]:
    """The law of all sizes, if it says something."""
    found = laws(artefacts, model)
    return [law for law in found if not law.without_largest and not law.why_not]


def _point(model: str, at: Size) -> Row:
    mean, sd = 100 * at.test.mean, 100 * (at.test.sd or 0.0)
    row = {SERIES: title(model), "x": at.pairs, "y": rounded(mean), "n": str(at.test.n)}
    row |= {"low": rounded(mean - sd), "high": rounded(mean + sd)}
    return row | {"pairs": f"{at.pairs:,}", "accuracy": f"{at.test.percent()} %"}


def _curves(artefacts: Artefacts, models: list[str]) -> list[Row]:
    of = artefacts.law_curves[artefacts.law_curves["model"].isin(models)]
    rows: list[Row] = []
    for model, *numbers in of[["model", "pairs", "accuracy", "low", "high"]].itertuples(
        index=False
    ):
        pairs, mean, low, high = map(float, numbers)
        ends = {"y": rounded(100 * mean), "low": rounded(100 * low), "high": rounded(100 * high)}
        rows.append({SERIES: title(str(model)), "x": pairs, **ends})
    return rows


def _layers(
    points: list[Row], curves: list[Row], known: list[Row], names: list[str]
) -> alt.LayerChart:
    axis = alt.Axis(title="training pairs", grid=False, format="~s")
    x = alt.X("x:Q", axis=axis, scale=alt.Scale(type="log", nice=False, padding=10))
    y = alt.Y("y:Q", title="test accuracy (%)", scale=alt.Scale(zero=False))
    coloured = colour(names, colours=COLOURS)
    law = alt.Chart(inline(curves)).encode(x=x, color=coloured)
    band = law.mark_area().encode(y=alt.Y("low:Q"), y2="high:Q", opacity=faded(0.16))
    line = law.mark_line(strokeWidth=1.4).encode(y=y, opacity=faded(0.9))
    base = alt.Chart(inline(points)).encode(x=x, color=coloured)
    bars = base.mark_rule(strokeWidth=1.2).encode(y=alt.Y("low:Q"), y2="high:Q", opacity=faded(0.8))
    point = base.mark_point(filled=True).encode(
        y=y,
        shape=shape(names),
        opacity=faded(1),
        size=lifted(50, 110),
        tooltip=tooltips(TOLD),
    )
    told = {"system": "published", "y": "test accuracy, %", "source": "source"}
    cross = alt.Chart(inline(known)).mark_point(shape="cross", color=MUTED, filled=True, size=70)
    others = [cross.encode(x=x, y=y, tooltip=tooltips(told))] if known else []
    pointed = point.properties(name="points").add_params(POINTED)
    return layered(with_legend(band), line, *others, bars, pointed)
