"""Learning curves of the retrained models."""

import pandas as pd

from reports.blocks import Chart, Section
from reports.charts import marks
from reports.charts.theme import INK
from reports.load import Artifacts
from reports.names import title

PARTS = {"dev_accuracy": "dev", "train_accuracy": "training, with dropout"}


def curves_section(data: Artifacts) -> Section:
    """Return a chart for each model."""
    return Section(
        "Learning curves",
        [_chart(data, model) for model in data.models],
        "Accuracy by epoch of each retrained seed. Large points mark the epochs that dev selected.",
    )


def _chart(data: Artifacts, model: str) -> Chart:
    history = data.of("retrain/history", model=model)
    frame = history.melt(["seed", "epoch"], list(PARTS), "part", "y")
    frame["series"], frame["x"] = "seed " + frame["seed"].astype(str), frame["epoch"]
    frame["y"], frame["part"] = 100 * frame["y"], frame["part"].map(PARTS)
    trials = data.of("retrain/trials", model=model)
    best = pd.DataFrame({"series": "seed " + trials["seed"].astype(str), "x": trials["best_epoch"]})
    best["y"] = 100 * trials["dev_accuracy"]
    kept = marks.data(best).mark_point(size=110, stroke=INK, strokeWidth=1.5)
    kept = kept.encode(x="x:Q", y="y:Q", color=marks.series(frame["series"]))
    drawn = marks.lines(frame, "epoch", "accuracy (%)", dash="part")
    name, heading = f"learning_curves_{model}", f"{title(model)}: accuracy by epoch"
    return marks.chart(name, heading, [*drawn, kept], half=True)
