"""The sweep by configuration and setting, and learning curves of the retrained models."""

from collections.abc import Iterator

import altair as alt
import numpy as np
import pandas as pd

from actmodels.records import trial_name
from reports import format as fmt
from reports import marks
from reports.blocks import Chart, Section, Table
from reports.load import Artifacts, settings_of
from reports.marks import BLUE, INK, parallel
from reports.statistics import levels, mean_sd

ACCURACY = "dev accuracy (%)"
TOP = 5  # configurations shown per model
NAMED = 10  # ours: diverged trials that are named
ROWS = 3000  # ours: most rows of a chart's data, which a browser draws in a second
ENDS = ["stopped", "diverged"]
PARTS = {"dev_accuracy": "dev", "train_accuracy": "training, with dropout"}
METRICS = ["dev_accuracy", "dev_loss", "dev_mean_steps"]


def settings(trials: pd.DataFrame) -> list[str]:
    """Return the settings of a model's trials, in column order."""
    names = settings_of(trials["model"])
    return [name for name in trials if name in names]


def varied(trials: pd.DataFrame) -> list[str]:
    """Return the settings with more than one value in a model's trials."""
    return [name for name in settings(trials) if trials[name].nunique() > 1]


def ranges(data: Artifacts) -> pd.DataFrame:
    """Return the number of trials and configurations, and the range of dev accuracy, by model.

    The range is that of the trials that did not diverge.
    """
    rows = []
    for model, trials in data["sweep/trials"].groupby("model", sort=False):
        points = trials.groupby(settings(trials), dropna=False).ngroups
        accuracies = trials[~trials["diverged"]]["dev_accuracy"].agg(["max", "median", "min"])
        ends = trials[ENDS].sum().astype(int)
        rows.append([model, len(trials), points, *accuracies, *ends])
    columns = ["model", "trials", "configurations", "best", "median", "worst", *ENDS]
    return pd.DataFrame(rows, columns=columns)


def at_one_rung(data: Artifacts, model: str) -> pd.DataFrame:
    """Return a model's trials that did not diverge, as of the first epoch after which one stopped.

    So a mean is of equal epochs. The column `rung` has that epoch, 0 without early stopping.
    """
    trials = data.select("sweep/trials", model=model, diverged=False)
    if not trials["stopped"].any():
        return trials.assign(rung=0)
    rung = int(trials[trials["stopped"]]["epochs"].min())
    history = data.select("sweep/history", model=model)
    history = history[history["epoch"] <= rung]
    best = history.loc[history.groupby("key")["dev_accuracy"].idxmax(), ["key", *METRICS]]
    return trials.drop(columns=METRICS).merge(best, on="key").assign(rung=rung)


def lost(data: Artifacts) -> str:
    """Return sentences on the end of the sweep, trials that diverged, models without others."""
    trials = data.select("sweep/trials", diverged=True)
    names = [
        f"{trial_name(row['key'], row['model'])} in epoch {row['epochs']}"
        for _, row in trials.head(NAMED).iterrows()
    ]
    if len(trials) > NAMED:
        names.append(f"and {len(trials) - NAMED} more")
    ended = data.documents["sweep/summary"].get("ended", "")
    texts = [f"{ended[:1].upper()}{ended[1:]}."] if ended else []
    texts += [f"Diverged: {', '.join(names)}."] if names else []
    for model in dict.fromkeys(trials["model"]):
        if model not in data.documents["select_best/best"]:
            rates = ", ".join(
                trials[trials["model"] == model]["learning_rate"].unique().astype(str)
            )
            why = f"all its trials diverged (learning_rate {rates})"
            texts.append(f"{fmt.title(model)} was not selected: {why}.")
    return " ".join(texts)


def configurations(data: Artifacts, model: str) -> pd.DataFrame:
    """Return a model's best configurations over seeds, the selected one first in a tie."""
    trials = data.select("sweep/trials", model=model)
    keys = data.documents["select_best/best"].get(model, {}).get("keys", [])
    trials = trials.assign(chosen=trials["key"].isin(keys))
    by = settings(trials)
    frame = mean_sd(trials, by, [*METRICS, "chosen"], total=["diverged"])
    frame["chosen"], frame["group"] = frame["chosen_mean"] > 0, range(len(frame))
    order = {"diverged": True, "dev_accuracy_mean": False, "chosen": False}
    frame = frame.sort_values([*order], ascending=[*order.values()], kind="stable").head(TOP)
    groups = trials.groupby(by, sort=False, dropna=False).ngroup()  # in the order of mean_sd
    ends = [_ends(trials[groups == group]) for group in frame.pop("group")]
    return frame.assign(ends=ends, rank=range(1, len(frame) + 1), model=model)


def _ends(seeds: pd.DataFrame) -> str:
    """Return the epochs of a configuration's seeds, whether they were stopped, or diverged."""
    epochs = sorted(set(seeds[~seeds["diverged"]]["epochs"]))
    parts = [" to ".join(map(str, [epochs[0], *epochs[1:][-1:]]))] if epochs else []
    parts += ["stopped"] if seeds["stopped"].any() else []
    for _, row in seeds[seeds["diverged"]].iterrows():
        parts.append(f"seed {row['seed']} diverged in epoch {row['epochs']}")
    return ", ".join(parts)


def importance(trials: pd.DataFrame, name: str) -> float:
    """Return the share of the variance of dev accuracy that a setting explains (eta squared).

    In a full grid this is the setting's main effect of a functional analysis of variance.
    """
    accuracy = trials["dev_accuracy"]
    groups = accuracy.groupby(levels(trials[name]))
    total = ((accuracy - accuracy.mean()) ** 2).sum()
    between = ((groups.transform("mean") - accuracy.mean()) ** 2).sum()
    return float(between / total) if total else 0.0


def by_setting(data: Artifacts) -> pd.DataFrame:
    """Return each value of each varied setting, averaged over all trials with that value."""
    parts = []
    for model in dict.fromkeys(data["sweep/trials"]["model"]):
        trials = at_one_rung(data, model)
        shares = {name: importance(trials, name) for name in varied(trials)}
        for name in sorted(shares, key=lambda name: -shares[name]):
            values = trials.sort_values(name, kind="stable").assign(
                value=lambda t, n=name: levels(t[n])
            )
            frame = mean_sd(values, ["value"], METRICS, first=["rung"])
            frame["importance"] = shares[name]
            frame.insert(0, "setting", name)
            frame.insert(0, "model", model)
            parts.append(frame)
    return pd.concat(parts) if parts else pd.DataFrame()


def sweep_section(data: Artifacts) -> Section:
    """Return ranges, then the best configurations and the charts of each model."""
    columns = {
        "model": fmt.model_name,
        "trials": fmt.count("trials"),
        "configurations": fmt.count("configurations"),
        "best dev, %": fmt.percent("best"),
        "median dev, %": fmt.percent("median"),
        "worst dev, %": fmt.percent("worst"),
        "stopped": fmt.count("stopped"),
        "diverged": fmt.count("diverged"),
    }
    parts: list[Table | Chart] = [Table("sweep", ranges(data), columns, lost(data))]
    for model in dict.fromkeys(data["sweep/trials"]["model"]):
        parts += _model(data, model)
    frame = by_setting(data)
    if not frame.empty:
        columns = {
            "model": fmt.model_name,
            "setting": fmt.text("setting"),
            "value": fmt.text("value"),
            "trials": fmt.count("dev_accuracy_n"),
            "dev accuracy, %": fmt.percent("dev_accuracy"),
            "mean steps": fmt.number("dev_mean_steps_mean"),
            "importance, %": fmt.percent("importance", 0),
        }
        caption = (
            "Mean ± sd over all trials with that value that did not diverge. Importance: the share "
            "of dev accuracy's variance that the setting alone explains."
        )
        if frame["rung"].any():
            columns["epochs"] = lambda row: str(row["rung"] or "all")
            caption += " Epochs: the first after which a trial was stopped; the means are of these."
        parts.append(Table("sweep_settings", frame, columns, caption, text_columns=3))
    about = data.documents["sweep/environment"].get("about")
    return Section(
        "Sweep",
        parts,
        (f"{about}. " if about else "")
        + "Dev accuracy is from each trial's best epoch; the best of many trials is optimistic. "
        "MLflow has all trials with their curves and settings: make ui.",
    )


def _model(data: Artifacts, model: str) -> Iterator[Table | Chart]:
    names, compared = varied(data.select("sweep/trials", model=model)), at_one_rung(data, model)
    columns = {
        "rank": lambda row: f"{row['rank']}{' (chosen)' if row['chosen'] else ''}",
        **{name: fmt.optional(name, fmt.setting) for name in names},
        "seeds": fmt.count("dev_accuracy_n"),
        "epochs": fmt.text("ends"),
        "dev accuracy, %": fmt.percent("dev_accuracy"),
        "dev loss, nats": fmt.number("dev_loss_mean", 3),
        "mean steps": fmt.number("dev_mean_steps_mean"),
    }
    frame, caption = configurations(data, model), f"{fmt.title(model)}: best on dev."
    yield Table(f"configurations_{model}", frame, columns, caption)
    if len(names) > 1:
        yield _parallel(data, model, names)
    yield _epochs(data, model, names)
    if names and len(compared):
        yield _strips(data, model, names)
    if "ponder_weight" in names:
        yield from _steps(data, model)


def _named(trials: pd.DataFrame) -> pd.DataFrame:
    """Add the trials' names in MLflow and messages, and their dev accuracy in %."""
    names = [*map(trial_name, trials["key"], trials["model"])]
    return trials.assign(trial=names, **{ACCURACY: 100 * trials["dev_accuracy"]})


def sampled(trials: pd.DataFrame, rows: int) -> tuple[pd.DataFrame, str]:
    """Return the trials of a chart with `rows` rows for each, and their number in words.

    They are all, or evenly spaced by rank on dev, the best and the worst included.
    """
    count = max(2, ROWS // rows)
    if len(trials) <= count:
        return trials, "all trials"
    places = np.argsort(-trials["dev_accuracy"].to_numpy(), kind="stable")
    chosen = places[np.linspace(0, len(trials) - 1, count).astype(int)]
    return trials.iloc[sorted(chosen)], f"{count} of {len(trials):,} trials, evenly by rank"


def _parallel(data: Artifacts, model: str, names: list[str]) -> Chart:
    trials = _named(data.select("sweep/trials", model=model))
    axes = [*names, "seed"] if trials["seed"].nunique() > 1 else names
    trials, number = sampled(trials, len(axes) + 1)
    layers = parallel(trials[["trial", *axes, ACCURACY]], axes, ACCURACY)
    title = f"{fmt.title(model)}: settings and dev accuracy of {number}"
    return marks.chart(f"sweep_parallel_{model}", title, layers)


def _epochs(data: Artifacts, model: str, names: list[str]) -> Chart:
    """Draw dev accuracy by epoch, a line per trial."""
    trials = _named(data.select("sweep/trials", model=model))
    trials, number = sampled(trials, int(trials["epochs"].max()))
    trials = trials[["key", "trial", *names]]
    frame = data.select("sweep/history", model=model)[["key", "epoch", "dev_accuracy"]]
    frame = frame.assign(x=frame["epoch"], y=100 * frame["dev_accuracy"]).merge(trials, on="key")
    frame = frame.drop(columns=["key", "epoch", "dev_accuracy"])
    line = marks.data(frame).mark_line(strokeWidth=1, opacity=0.6, color=BLUE, point=True)
    line = line.encode(x=marks.x_axis("epoch"), y=marks.y_axis(ACCURACY))
    tips = [alt.Tooltip("x:Q", title="epoch"), alt.Tooltip("y:Q", title=ACCURACY)]
    line = line.encode(detail="trial:N", tooltip=["trial:N", *(f"{n}:N" for n in names), *tips])
    title = f"{fmt.title(model)}: dev accuracy of {number} by epoch"
    return marks.chart(f"sweep_curves_{model}", title, [line], half=True)


def _strips(data: Artifacts, model: str, names: list[str]) -> Chart:
    """Draw dev accuracy of all trials by each value of each varied setting, with means."""
    trials = _named(at_one_rung(data, model))
    values = trials.assign(**{name: levels(trials[name]) for name in names})
    frame = values.melt(["key", "trial", "dev_accuracy"], names, "setting", "value")
    lines = frame["setting"] + " = " + frame["value"]
    frame = frame.assign(line=lines, x=100 * frame["dev_accuracy"])
    means = marks.with_band(mean_sd(frame, ["line"], ["x"]), "x").rename(columns={"y": "x"})
    drawn, number = sampled(trials, len(names))
    frame = frame[frame["key"].isin(drawn["key"])]
    order = list(dict.fromkeys(sorted(lines, key=lambda line: names.index(line.split(" = ")[0]))))
    y = alt.Y("line:N", title=None, sort=order, axis=alt.Axis(grid=False, labelLimit=150))
    x = alt.X("x:Q", title=ACCURACY, scale=alt.Scale(zero=False))
    point = marks.data(frame[["trial", "line", "x"]]).mark_point(color=BLUE, opacity=0.45, size=26)
    base = marks.data(means).encode(y=y)
    setting, accuracy = alt.Tooltip("line:N", title="setting"), alt.Tooltip("x:Q", title=ACCURACY)
    tips = [setting, accuracy, alt.Tooltip("x_n:Q", title="trials")]
    layers = [
        point.encode(x=x, y=y, tooltip=["trial:N", setting, accuracy]),
        base.mark_point(color=INK, shape="diamond", size=70).encode(x=x, tooltip=tips),
    ]
    if means["low"].notna().any():  # Vega warns about an axis with missing values only
        layers.append(base.mark_rule(color=INK).encode(x="low:Q", x2="high:Q"))
    name, title = f"sweep_settings_{model}", f"{fmt.title(model)}: dev accuracy by setting"
    points = "" if len(drawn) == len(trials) else f"Points: {number}. "
    caption, height = f"{points}Diamonds: mean ± sd over trials.", 24 * len(order)
    return marks.chart(name, title, layers, caption=caption, height=height, half=True)


def _steps(data: Artifacts, model: str) -> Iterator[Chart]:
    """Draw mean ± sd of steps over pairs by epoch, a line per ponder weight (thesis 6.3, 6.4)."""
    trials = data.select("sweep/trials", model=model).sort_values("ponder_weight", kind="stable")
    weights = levels(trials["ponder_weight"].set_axis(trials["key"]))
    order = {weight: place for place, weight in enumerate(dict.fromkeys(weights))}
    history = data.select("sweep/history", model=model)
    history = history.assign(weight=history["key"].map(weights))
    for part, name in (("dev", "dev"), ("train", "training")):
        mean, sd = f"{part}_mean_steps", f"{part}_sd_steps"
        frame = history.groupby(["weight", "epoch"], as_index=False)[[mean, sd]].mean()
        frame = frame.assign(low=frame[mean] - frame[sd], high=frame[mean] + frame[sd])
        frame = frame.sort_values("weight", key=lambda of: of.map(order), kind="stable")
        names = "ponder weight " + frame["weight"]
        frame = frame.assign(y=frame[mean], series=names, x=frame["epoch"])
        layers = marks.lines(frame, "epoch", f"steps per {name} pair, mean ± sd over pairs")
        title = f"{fmt.title(model)}: steps on {name} by ponder weight"
        yield marks.chart(f"sweep_steps_{part}_{model}", title, layers, half=True)


def curves_section(data: Artifacts) -> Section:
    """Return a chart for each model."""
    return Section(
        "Learning curves",
        [_curves(data, model) for model in data.models],
        "Accuracy by epoch of each retrained seed. Large points mark the best epoch on dev.",
    )


def _curves(data: Artifacts, model: str) -> Chart:
    history = data.select("retrain/history", model=model)
    frame = history.melt(["seed", "epoch"], list(PARTS), "part", "y")
    frame["series"], frame["x"] = "seed " + frame["seed"].astype(str), frame["epoch"]
    frame["y"], frame["part"] = 100 * frame["y"], frame["part"].map(PARTS)
    trials = data.select("retrain/trials", model=model)
    best = pd.DataFrame({"series": "seed " + trials["seed"].astype(str), "x": trials["best_epoch"]})
    best["y"] = 100 * trials["dev_accuracy"]
    points = marks.data(best).mark_point(size=110, stroke=INK, strokeWidth=1.5)
    points = points.encode(x="x:Q", y="y:Q", color=marks.series(frame["series"]))
    layers = [*marks.lines(frame, "epoch", "accuracy (%)", dash="part"), points]
    name, title = f"learning_curves_{model}", f"{fmt.title(model)}: accuracy by epoch"
    return marks.chart(name, title, layers, half=True)
