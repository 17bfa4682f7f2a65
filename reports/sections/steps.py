"""Steps of adaptive models: distribution, dependence on labels and depth, and accuracy."""

import altair as alt
import pandas as pd

from reports import format as fmt
from reports import marks
from reports.blocks import Chart, Section, Table
from reports.load import Artifacts
from reports.marks import BLUE
from reports.statistics import mean_sd, wide

QUINTILES = ("fewest", "second", "third", "fourth", "most")
AGAINST = {"depth": "recorded depth", "mean_length": "sentence length"}


def predictions(data: Artifacts, model: str) -> pd.DataFrame:
    """Return one row per seed and test pair: steps, label, and `right` as 0 or 1."""
    rows = data.select("evaluate/predictions", model=model)
    return rows.assign(right=(rows["label"] == rows["predicted"]).astype(float))


def by_label(data: Artifacts, model: str) -> pd.DataFrame:
    """Return mean steps by seed and gold label."""
    rows = predictions(data, model)
    return rows.groupby(["seed", "label"], as_index=False)["steps"].mean().assign(model=model)


def label_difference(data: Artifacts, model: str) -> "pd.Series[float]":
    """Return steps on contradiction minus entailment pairs by seed; NaN if either is missing."""
    steps = by_label(data, model).pivot(index="seed", columns="label", values="steps")
    steps = steps.reindex(columns=["entailment", "contradiction"])
    return steps["contradiction"] - steps["entailment"]


def quintiles(data: Artifacts, model: str) -> pd.DataFrame:
    """Return mean steps, accuracy and label fractions of each seed's quintiles of steps.

    Pairs with equal steps are exchangeable: where a boundary runs through them, each pair counts
    proportionally on both sides.
    """
    rows = predictions(data, model)
    shares = {f"share_{name}": (rows["label"] == name).astype(float) for name in data.classes}
    rows = rows.assign(**shares)
    return pd.DataFrame(
        {"model": model, "seed": seed, "quintile": name} | _quintile(index, group)
        for seed, group in rows.groupby("seed")
        for index, name in enumerate(QUINTILES)
    )


def _quintile(index: int, rows: pd.DataFrame) -> dict[str, float]:
    """Average one quintile of one seed's pairs."""
    size = rows.groupby("steps").size() * len(QUINTILES)  # integers: boundaries are exact
    ends = size.cumsum()
    low, high = index * len(rows), (index + 1) * len(rows)
    weights = (ends.clip(upper=high) - (ends - size).clip(lower=low)).clip(lower=0) / len(rows)
    shares = [str(name) for name in rows.columns if str(name).startswith("share_")]
    means = rows.groupby("steps")[["right", *shares]].mean()
    sums = means.assign(steps=means.index).mul(weights, axis=0).sum()
    return {str(name): float(value) for name, value in sums.items()}


def quintile_difference(data: Artifacts, model: str) -> "pd.Series[float]":
    """Return accuracy in the highest minus the lowest quintile of steps, by seed."""
    right = quintiles(data, model).pivot(index="seed", columns="quintile", values="right")
    return right["most"] - right["fewest"]


def steps_section(data: Artifacts) -> Section | None:
    """Return charts and tables; None without an adaptive model."""
    models = data.adaptive
    if not models:
        return None
    labels = pd.concat([by_label(data, model) for model in models])
    labels = mean_sd(labels, ["model", "label"], ["steps"])
    counts = data["evaluate/predictions"].drop_duplicates("pair_id")["label"].value_counts()
    labels = labels.assign(pairs=labels["label"].map(counts))
    ranks = {name: rank for rank, name in enumerate([*models, *data.classes])}
    labels = labels.sort_values(["model", "label"], key=lambda column: column.map(ranks))
    label_columns: dict[str, fmt.Cell] = {
        "model": fmt.model_name,
        "gold label": fmt.text("label"),
        "pairs": fmt.count("pairs"),
        "mean steps": fmt.number("steps"),
    }
    frame = pd.concat([quintiles(data, model) for model in models])
    shares = {name: f"share_{name}" for name in data.classes}
    frame = mean_sd(frame, ["model", "quintile"], ["steps", "right", *shares.values()])
    columns: dict[str, fmt.Cell] = {
        "model": fmt.model_name,
        "quintile of steps": fmt.text("quintile"),
        "mean steps": fmt.number("steps"),
        "accuracy, %": fmt.percent("right"),
        **{f"{name}, %": fmt.percent(f"{share}_mean", 0) for name, share in shares.items()},
    }
    caption = "Pairs by quintile of steps, with the fraction of each gold label."
    return Section(
        "Steps, labels and accuracy",
        [
            *(draw(data, model) for model in models for draw in (_histogram, _joint)),
            _accuracy_chart(frame),
            Table("steps_by_label", labels, label_columns, text_columns=2),
            Table("steps_quintiles", frame, columns, caption, text_columns=2),
            *_depth(data),
            *_agreement(data),
        ],
        "Steps on test pairs are averaged within each seed, then mean ± sd over seeds. Claims has "
        "the significance of the differences.",
    )


def _histogram(data: Artifacts, model: str) -> Chart:
    """Draw the percentage of test pairs by number of steps."""
    rows = data.select("evaluate/lengths", model=model)
    pairs = rows.pivot_table(index="seed", columns="steps", values="pairs", aggfunc="sum")
    pairs = pairs.reindex(columns=range(int(pairs.columns.min()), int(pairs.columns.max()) + 1))
    percents = 100 * pairs.fillna(0).div(pairs.sum(axis=1), axis=0)
    y, sd = percents.mean().values, percents.std().values
    frame = pd.DataFrame({"x": percents.columns, "y": y, "sd": sd, "low": y - sd, "high": y + sd})
    frame["low"] = frame["low"].clip(lower=0)
    layers = marks.histogram(frame, "steps", "fraction of test pairs (%)")
    title = f"{fmt.title(model)}: steps per test pair"
    return marks.chart(f"steps_{model}", title, layers, height=220, half=True)


def _joint(data: Artifacts, model: str) -> Chart:
    """Draw the joint distribution of steps and mean sentence length (thesis figure 6.5)."""
    rows = data.select("evaluate/lengths", model=model)
    rows = rows.assign(x=rows["mean_length"] // 1, y=rows["steps"])
    frame = rows.groupby(["x", "y"], as_index=False)["pairs"].sum()
    frame["percent"] = 100 * frame["pairs"] / frame["pairs"].sum()
    size = alt.Size("percent:Q", title="test pairs (%)", scale=alt.Scale(rangeMin=4, rangeMax=260))
    point = marks.data(frame).mark_circle(color=BLUE, opacity=0.8)
    layer = point.encode(
        x=marks.x_axis("mean words of a sentence, rounded down"),
        y=alt.Y("y:Q", title="steps", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(zero=False)),
        size=size,
        tooltip=["x:Q", "y:Q", "pairs:Q", "percent:Q"],
    )
    title = f"{fmt.title(model)}: steps and sentence length"
    return marks.chart(f"steps_length_{model}", title, [layer], height=220, half=True)


def _accuracy_chart(frame: pd.DataFrame) -> Chart:
    """Draw accuracy by quintile of steps."""
    ranks = frame["quintile"].map({name: rank for rank, name in enumerate(QUINTILES, 1)})
    names = frame["model"].map(fmt.title)
    frame = marks.with_band(frame, "right", 100, series=names, x=ranks)
    layers = marks.lines(frame, "quintile of steps, fewest first", "test accuracy (%)")
    title = "Test accuracy by number of steps"
    return marks.chart("steps_quintiles", title, layers, height=220, half=True)


def _depth(data: Artifacts) -> list[Table]:
    """Return a table of accuracy and steps by recorded depth, and correlations of steps."""
    depth = mean_sd(data["evaluate/depth"], ["model", "depth"], ["accuracy", "mean_steps"])
    r = mean_sd(data["evaluate/correlations"], ["model", "steps_against"], ["pearson"])
    if depth.empty and r.empty:
        return []
    rows = pd.DataFrame({"model": data.models}).merge(wide(depth, ["model"], "depth"), "left")
    columns: dict[str, fmt.Cell] = {"model": fmt.model_name}
    for value in sorted(depth["depth"].unique()):
        columns[f"depth {value}: accuracy, %"] = fmt.percent(f"accuracy_{value}")
        columns[f"depth {value}: mean steps"] = fmt.number(f"mean_steps_{value}")
    for against, name in AGAINST.items():
        selected = r[r["steps_against"] == against].drop(columns="steps_against")
        selected.columns = selected.columns.str.replace("pearson", f"r_{against}")
        rows = rows.merge(selected, "left", on="model")
        statistics = [f"r_{against}_mean", f"r_{against}_sd"]
        rows.loc[~rows["model"].isin(data.adaptive), statistics] = float("nan")
        columns[f"r(steps, {name})"] = fmt.number(f"r_{against}", sign=True)
    caption = "Depth as recorded by the corpus; r is Pearson's, over test pairs."
    return [Table("steps_by_depth", rows, columns, caption)]


def _agreement(data: Artifacts) -> list[Table]:
    """Return a table of accuracy, steps and loss by the annotators' agreement, if recorded."""
    frame = data["evaluate/agreement"]
    if frame.empty:
        return []
    annotators = frame["annotators"].iloc[0]
    values = ["accuracy", "mean_steps", "mean_loss"]
    rows = mean_sd(frame, ["model", "agreement"], values, first=["pairs"])
    columns: dict[str, fmt.Cell] = {
        "model": fmt.model_name,
        f"annotators who agree, of {annotators}": fmt.count("agreement"),
        "pairs": fmt.count("pairs"),
        "accuracy, %": fmt.percent("accuracy"),
        "mean steps": fmt.number("mean_steps"),
        "mean loss, nats": fmt.number("mean_loss"),
    }
    caption = "Pairs by the number of annotators with the most frequent label."
    return [Table("steps_by_agreement", rows, columns, caption)]
