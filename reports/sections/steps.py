"""Steps of adaptive models: how many, on which labels, and how accuracy relates to them."""

import pandas as pd

from reports.blocks import Chart, Section, Table
from reports.charts import marks
from reports.format import Cell, count, model_name, number, percent, text, title
from reports.load import Artifacts
from reports.statistics import mean_sd, wide

LABELS = ("entailment", "neutral", "contradiction")
QUINTILES = ("fewest", "second", "third", "fourth", "most")
AGAINST = {"depth": "recorded depth", "mean_length": "sentence length"}


def predictions(data: Artifacts, model: str) -> pd.DataFrame:
    """Return one row per seed and test pair: steps, label, and `right` as 0 or 1."""
    rows = data.of("evaluate/predictions", model=model)
    return rows.assign(right=(rows["label"] == rows["predicted"]).astype(float))


def by_label(data: Artifacts, model: str) -> pd.DataFrame:
    """Return mean steps by seed and gold label."""
    rows = predictions(data, model)
    return rows.groupby(["seed", "label"], as_index=False)["steps"].mean().assign(model=model)


def label_gap(data: Artifacts, model: str) -> "pd.Series[float] | None":
    """Return steps on contradictions minus on entailments by seed; None without either."""
    steps = by_label(data, model).pivot(index="seed", columns="label", values="steps")
    if not {"contradiction", "entailment"} <= set(steps):
        return None
    return steps["contradiction"] - steps["entailment"]


def quintiles(data: Artifacts, model: str) -> pd.DataFrame:
    """Return each seed's pairs in fifths by steps: mean steps, share `right`, share of each label.

    Pairs with equal steps are exchangeable: where a border runs through them, each counts in part
    on both sides.
    """
    rows = predictions(data, model)
    rows = rows.assign(**{label: (rows["label"] == label).astype(float) for label in LABELS})
    found = [
        {"model": model, "seed": seed, "quintile": name} | _quintile(at, of)
        for seed, of in rows.groupby("seed")
        for at, name in enumerate(QUINTILES)
    ]
    return pd.DataFrame(found)


def _quintile(at: int, rows: pd.DataFrame) -> dict[str, float]:
    """Average one fifth of one seed's pairs."""
    size = rows.groupby("steps").size() * len(QUINTILES)  # integers, so that borders are exact
    ends = size.cumsum()
    low, high = at * len(rows), (at + 1) * len(rows)
    inside = (ends.clip(upper=high) - (ends - size).clip(lower=low)).clip(lower=0) / len(rows)
    means = rows.groupby("steps")[["right", *LABELS]].mean()
    shares = means.assign(steps=means.index).mul(inside, axis=0).sum()
    return {str(name): float(value) for name, value in shares.items()}


def quintile_gap(data: Artifacts, model: str) -> "pd.Series[float]":
    """Return accuracy with the most steps minus accuracy with the fewest, by seed."""
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
    ranks = {name: at for at, name in enumerate([*models, *LABELS])}
    labels = labels.sort_values(["model", "label"], key=lambda column: column.map(ranks))
    of_labels: dict[str, Cell] = {
        "model": model_name,
        "gold label": text("label"),
        "pairs": count("pairs"),
        "mean steps": number("steps"),
    }
    quintile_means = pd.concat([quintiles(data, model) for model in models])
    quintile_means = mean_sd(quintile_means, ["model", "quintile"], ["steps", "right", *LABELS])
    quintile_columns: dict[str, Cell] = {
        "model": model_name,
        "fifth of the pairs": text("quintile"),
        "mean steps": number("steps"),
        "accuracy, %": percent("right"),
        **{f"{label}, %": percent(f"{label}_mean", 0) for label in LABELS},
    }
    said = "Pairs in the order of their steps, cut into fifths; shares of gold labels in each."
    return Section(
        "Steps, labels and accuracy",
        [
            *(_histogram(data, model) for model in models),
            _by_quintile(quintile_means),
            Table("steps_by_label", labels, of_labels, left=2),
            Table("steps_quintiles", quintile_means, quintile_columns, said, left=2),
            *_depth(data),
        ],
        "Steps on test pairs within each seed, then mean ± sd over seeds. Whether the differences "
        "are significant stands in the claims.",
    )


def _histogram(data: Artifacts, model: str) -> Chart:
    """Draw the share of test pairs by number of steps."""
    rows = data.of("evaluate/lengths", model=model)
    pairs = rows.pivot_table(index="seed", columns="steps", values="pairs", aggfunc="sum")
    pairs = pairs.reindex(columns=range(int(pairs.columns.min()), int(pairs.columns.max()) + 1))
    shares = 100 * pairs.fillna(0).div(pairs.sum(axis=1), axis=0)
    y, sd = shares.mean().values, shares.std().values
    frame = pd.DataFrame({"x": shares.columns, "y": y, "sd": sd, "low": y - sd, "high": y + sd})
    frame["low"] = frame["low"].clip(lower=0)
    drawn = marks.histogram(frame, "steps", "share of test pairs (%)")
    heading = f"{title(model)}: steps per test pair"
    return marks.chart(f"steps_{model}", heading, drawn, height=220, half=True)


def _by_quintile(quintile_means: pd.DataFrame) -> Chart:
    """Draw accuracy from the fifth with the fewest steps to that with the most."""
    places = quintile_means["quintile"].map({name: at for at, name in enumerate(QUINTILES, 1)})
    names = quintile_means["model"].map(title)
    frame = marks.with_band(quintile_means, "right", 100, series=names, x=places)
    drawn = marks.lines(frame, "fifth of the pairs, fewest steps first", "test accuracy (%)")
    heading = "Test accuracy by number of steps"
    return marks.chart("steps_quintiles", heading, drawn, height=220, half=True)


def _depth(data: Artifacts) -> list[Table]:
    """Return one table of accuracy and steps by recorded depth and correlations of steps."""
    depth = mean_sd(data["evaluate/depth"], ["model", "depth"], ["accuracy", "mean_steps"])
    found = mean_sd(data["evaluate/correlations"], ["model", "steps_against"], ["pearson"])
    if depth.empty and found.empty:
        return []
    rows = pd.DataFrame({"model": data.models}).merge(wide(depth, ["model"], "depth"), "left")
    columns: dict[str, Cell] = {"model": model_name}
    for at in sorted(depth["depth"].unique()):
        columns[f"depth {at}: accuracy, %"] = percent(f"accuracy_{at}")
        columns[f"depth {at}: mean steps"] = number(f"mean_steps_{at}")
    for against, name in AGAINST.items():
        of = found[found["steps_against"] == against].drop(columns="steps_against")
        of.columns = of.columns.str.replace("pearson", f"r_{against}")
        rows = rows.merge(of, "left", on="model")
        ends = [f"r_{against}_mean", f"r_{against}_sd"]
        rows.loc[~rows["model"].isin(data.adaptive), ends] = float("nan")
        columns[f"r of steps with {name}"] = number(f"r_{against}", sign=True)
    said = "Depth is that which the corpus records; r is Pearson's, over test pairs."
    return [Table("steps_by_depth", rows, columns, said)]
