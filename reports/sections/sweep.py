"""The grid search by configuration and setting, and learning curves of the retrained models."""

from collections.abc import Iterator

import altair as alt
import pandas as pd

from reports.blocks import Chart, Section, Table
from reports.charts import marks
from reports.charts.theme import BLUE, INK
from reports.format import Cell, count, model_name, number, percent, setting, text, title
from reports.load import Artifacts, settings_of
from reports.statistics import mean_sd

TOP = 5  # configurations that are shown of a model
PARTS = {"dev_accuracy": "dev", "train_accuracy": "training, with dropout"}
MEASURED = ["dev_accuracy", "dev_loss", "dev_mean_steps"]


def settings(trials: pd.DataFrame) -> list[str]:
    """Return the settings of a model's trials, in stored order."""
    own = settings_of(trials["model"])
    return [name for name in trials if name in own]


def varied(trials: pd.DataFrame) -> list[str]:
    """Return the settings with more than one value in a model's trials, in stored order."""
    return [name for name in settings(trials) if trials[name].nunique() > 1]


def ranges(data: Artifacts) -> pd.DataFrame:
    """Return trials, configurations and the range of dev accuracy of each model."""
    rows = []
    for model, trials in data["sweep/trials"].groupby("model", sort=False):
        points = trials.groupby(settings(trials), dropna=False).ngroups
        accuracies = trials["dev_accuracy"].agg(["max", "median", "min"])
        rows.append([model, len(trials), points, *accuracies, int(trials["diverged"].sum())])
    columns = ["model", "trials", "configurations", "best", "median", "worst", "diverged"]
    return pd.DataFrame(rows, columns=columns)


def configurations(data: Artifacts, model: str) -> pd.DataFrame:
    """Return a model's configurations over seeds, best on dev first, the chosen one of equals."""
    trials = data.of("sweep/trials", model=model)
    keys = data.documents["select_best/best"].get(model, {}).get("keys", [])
    trials = trials.assign(chosen=trials["key"].isin(keys))
    frame = mean_sd(trials, settings(trials), [*MEASURED, "chosen"])
    frame["chosen"] = frame["chosen_mean"] > 0
    frame = frame.sort_values(["dev_accuracy_mean", "chosen"], ascending=False, kind="stable")
    return frame.assign(rank=range(1, len(frame) + 1), model=model)


def by_setting(data: Artifacts) -> pd.DataFrame:
    """Return each value of each varied setting over all trials that have it."""
    parts = []
    for model, trials in data["sweep/trials"].groupby("model", sort=False):
        for name in varied(trials):
            frame = mean_sd(trials, [name], MEASURED).rename(columns={name: "value"})
            parts.append(frame.assign(model=model, setting=name, value=frame["value"].map(setting)))
    if not parts:
        return pd.DataFrame()
    frame = pd.concat(parts)
    return frame[[*frame.columns[-2:], "value", *frame.columns[1:-2]]]


def sweep_section(data: Artifacts) -> Section:
    """Return ranges, then the best configurations and the charts of each model."""
    columns = {
        "model": model_name,
        "trials": count("trials"),
        "configurations": count("configurations"),
        "best dev, %": percent("best"),
        "median dev, %": percent("median"),
        "worst dev, %": percent("worst"),
        "diverged": count("diverged"),
    }
    parts: list[Table | Chart] = [Table("sweep", ranges(data), columns)]
    for model in dict.fromkeys(data["sweep/trials"]["model"]):
        parts += _model(data, model)
    found = by_setting(data)
    if not found.empty:
        shown = {
            "model": model_name,
            "setting": text("setting"),
            "value": text("value"),
            "trials": count("dev_accuracy_n"),
            "dev accuracy, %": percent("dev_accuracy"),
            "mean steps": number("dev_mean_steps_mean"),
        }
        said = "Mean ± sd over all trials with that value, whatever their other settings."
        parts.append(Table("sweep_settings", found, shown, said, left=3))
    return Section(
        "Sweep",
        parts,
        "Dev accuracy is that of each trial's best epoch, and the best of many trials on dev is "
        "optimistic. All trials, with their curves and settings, are in MLflow: make ui.",
    )


def _model(data: Artifacts, model: str) -> Iterator[Table | Chart]:
    frame = configurations(data, model).head(TOP)
    names = varied(data.of("sweep/trials", model=model))
    columns = {
        "rank": lambda row: f"{row['rank']}{' (chosen)' if row['chosen'] else ''}",
        **{name: _setting(name) for name in names},
        "seeds": count("dev_accuracy_n"),
        "dev accuracy, %": percent("dev_accuracy"),
        "dev loss, nats": number("dev_loss_mean", 3),
        "mean steps": number("dev_mean_steps_mean"),
    }
    said = f"{title(model)}: best configurations."
    yield Table(f"configurations_{model}", frame, columns, said)
    yield _epochs(data, model)
    if names:
        yield _strips(data, model, names)
    if "ponder_weight" in names:
        yield _steps(data, model)


def _setting(name: str) -> Cell:
    return lambda row: setting(row[name])


def _epochs(data: Artifacts, model: str) -> Chart:
    """Draw dev accuracy by epoch, a line per trial."""
    history = data.of("sweep/history", model=model)
    frame = pd.DataFrame({"trial": history["key"], "x": history["epoch"]})
    frame["y"] = 100 * history["dev_accuracy"]
    line = marks.data(frame).mark_line(strokeWidth=1, opacity=0.6, color=BLUE, point=True)
    drawn = line.encode(x=marks.x_axis("epoch"), y=marks.y_axis("dev accuracy (%)"))
    drawn = drawn.encode(detail="trial:N", tooltip=["trial:N", "x:Q", "y:Q"])
    heading = f"{title(model)}: dev accuracy of all trials by epoch"
    return marks.chart(f"sweep_curves_{model}", heading, [drawn], half=True)


def _strips(data: Artifacts, model: str, names: list[str]) -> Chart:
    """Draw dev accuracy of all trials by each value of each varied setting, and the means."""
    trials = data.of("sweep/trials", model=model)
    frame = trials.melt(["key", "dev_accuracy"], names, "setting", "value")
    lines = frame["setting"] + " = " + frame["value"].map(setting)
    frame = frame.assign(line=lines, x=100 * frame["dev_accuracy"])
    means = marks.with_band(mean_sd(frame, ["line"], ["x"]), "x").rename(columns={"y": "x"})
    order = list(dict.fromkeys(sorted(lines, key=lambda line: names.index(line.split(" = ")[0]))))
    y = alt.Y("line:N", title=None, sort=order, axis=alt.Axis(grid=False, labelLimit=150))
    x = alt.X("x:Q", title="dev accuracy (%)", scale=alt.Scale(zero=False))
    point = marks.data(frame[["key", "line", "x"]]).mark_point(color=BLUE, opacity=0.45, size=26)
    base = marks.data(means).encode(y=y)
    tips = ["line:N", "x:Q", alt.Tooltip("x_n:Q", title="trials")]
    layers = [
        point.encode(x=x, y=y, tooltip=["key:N", "line:N", "x:Q"]),
        base.mark_point(color=INK, shape="diamond", size=70).encode(x=x, tooltip=tips),
    ]
    if means["low"].notna().any():  # an axis of nothing but missing numbers is a warning
        layers.append(base.mark_rule(color=INK).encode(x="low:Q", x2="high:Q"))
    name, heading = f"sweep_settings_{model}", f"{title(model)}: dev accuracy by setting"
    said, height = "Diamonds: mean ± sd of the trials.", 24 * len(order)
    return marks.chart(name, heading, layers, caption=said, height=height, half=True)


def _steps(data: Artifacts, model: str) -> Chart:
    """Draw mean steps on dev by epoch, a line per ponder weight over its trials."""
    weights = data.of("sweep/trials", model=model).set_index("key")["ponder_weight"]
    history = data.of("sweep/history", model=model)
    history = history.assign(weight=history["key"].map(weights))
    frame = mean_sd(history, ["weight", "epoch"], ["dev_mean_steps"]).sort_values("weight")
    names = "ponder weight " + frame["weight"].map(setting)
    frame = marks.with_band(frame, "dev_mean_steps", series=names, x=frame["epoch"])
    drawn = marks.lines(frame, "epoch", "mean steps per dev pair")
    heading = f"{title(model)}: steps by ponder weight"
    return marks.chart(f"sweep_steps_{model}", heading, drawn, half=True)


def curves_section(data: Artifacts) -> Section:
    """Return a chart for each model."""
    return Section(
        "Learning curves",
        [_curves(data, model) for model in data.models],
        "Accuracy by epoch of each retrained seed. Large points mark the epochs that dev selected.",
    )


def _curves(data: Artifacts, model: str) -> Chart:
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
