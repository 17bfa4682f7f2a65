"""Cloze questions (Munkhdalai & Yu 2017): accuracy and steps of readers, one question traced."""

from collections.abc import Iterator
from statistics import fmean
from typing import Any

import pandas as pd

from reports.blocks import Chart, Section, Table
from reports.charts import marks
from reports.format import Cell, Row, count, number, p_value, percent, points, text
from reports.load import Artifacts
from reports.published.results import ADAPTIVE, BENCHMARKS, GATING, QUESTIONS, STRATEGIES, cloze
from reports.sections.sequences import curves
from reports.statistics import mean_sd, verdicts

BASELINES = {"random": "random candidate", "most_frequent": "most frequent candidate"}
BLANK = "XXXXX"  # stands in a query for the missing word
MOST = 2  # words of the query that are named at each step


def readers(data: Artifacts, questions: str) -> pd.DataFrame:
    """Return baselines and runs of one type of questions; the first run is the reference.

    sd_steps are between dev questions, gap is dev minus test accuracy.
    """
    results = data.of("cloze/results", questions=questions)
    results = results.assign(
        gap=(results["dev_accuracy"] - results["test_accuracy"]).round(12),
        mean_steps=results["test_mean_steps"],
        sd_steps=results["dev_sd_steps"],
    )
    by = ["run", "strategy", "steps"]
    columns = ["dev_accuracy", "test_accuracy", "mean_steps", "sd_steps", "gap"]
    frame = mean_sd(results, by, columns, first=["parameters"], total=["diverged"])
    compared = data.of("cloze/runs", questions=questions)
    compared = compared[["run", "difference", "low", "high", "p", "pairs"]].copy()
    compared["verdict"] = verdicts(compared, "p")
    compared.loc[compared.index[:1], ["difference", "p", "verdict"]] = None
    fixed = (frame["strategy"] == GATING) | (frame["steps"] == 1)
    frame.loc[fixed, "mean_steps_mean"] = frame["steps"]
    frame.loc[fixed, "mean_steps_sd"] = float("nan")
    baselines = data.of("cloze/baselines", questions=questions).set_index("split")
    known = [
        {"run": name}
        | {f"{split}_accuracy_mean": baselines.loc[split, column] for split in ("dev", "test")}
        for column, name in BASELINES.items()
    ]
    return pd.concat([pd.DataFrame(known), frame.merge(compared, on="run")], ignore_index=True)


def published(data: Artifacts, questions: str) -> pd.DataFrame:
    """Return the published readers, each next to ours of the same strategy and steps."""
    ours = readers(data, questions).dropna(subset=["steps"])
    rows = cloze()
    rows = rows[rows["questions"] == questions].copy()
    for column in ("dev", "test"):
        for part in ("mean", "sd"):
            name = f"{column}_accuracy_{part}"
            rows[f"ours_{name}"] = [_ours(ours, row, name) for _, row in rows.iterrows()]
    rows["strategy"] = rows["strategy"].map(STRATEGIES).where(rows["steps"] > 1, "one step")
    return rows


def _ours(ours: pd.DataFrame, row: Row, column: str) -> float:
    same = (ours["steps"] == row["steps"]) & (
        (ours["strategy"] == row["strategy"]) | (row["steps"] == 1)
    )
    return float(ours.loc[same, column].iloc[0]) if same.any() else float("nan")


def cloze_section(data: Artifacts, show_published: bool) -> Section | None:
    """Return tables and charts by type of question; None where no reader was trained."""
    if data["cloze/results"].empty:
        return None
    parts: list[Table | Chart] = []
    for questions in dict.fromkeys(data["cloze/runs"]["questions"]):
        parts += _questions(data, str(questions), show_published)
    return Section(
        "Cloze questions: adaptive computation for reading",
        [*parts, *traced_tables(data)],
        "A reader fills the gap XXXXX of a query in several steps (Munkhdalai & Yu 2017). Dev "
        "selects epochs; differences are on test against the first run, their intervals over seeds "
        "and questions, not corrected for their number.",
    )


def _questions(data: Artifacts, questions: str, show: bool) -> Iterator[Table | Chart]:
    frame = readers(data, questions)
    columns: dict[str, Cell] = {
        "run": text("run"),
        "seeds": count("test_accuracy_n"),
        "dev accuracy, %": percent("dev_accuracy"),
        "test accuracy, %": percent("test_accuracy"),
        "mean steps": _steps,
        "sd of steps between questions": number("sd_steps_mean"),
        "dev minus test, points": number("gap", scale=100, sign=True),
        "difference, points (95 % interval)": points(),
        "p": p_value(),
        "verdict": text("verdict"),
        "parameters": count("parameters"),
        "diverged": count("diverged"),
    }
    yield Table(f"cloze_{questions}", frame, columns, f"{QUESTIONS[questions]}.")
    if show:
        others: dict[str, Cell] = {
            "questions": text("benchmark"),
            "reader": text("strategy"),
            "steps": count("steps"),
            "dev, %": number("dev_accuracy", 1),
            "test, %": number("test_accuracy", 1),
            "ours, dev, %": percent("ours_dev_accuracy"),
            "ours, test, %": percent("ours_test_accuracy"),
        }
        said = f"Readers published for {BENCHMARKS[questions]}; our questions may be others."
        folded, rows = f"Published: {BENCHMARKS[questions]}", published(data, questions)
        yield Table(f"cloze_published_{questions}", rows, others, said, left=2, folded=folded)
    yield from _charts(data, questions, frame)


def _steps(row: Row) -> str:
    fixed = row["strategy"] == GATING or row["steps"] == 1
    return str(int(row["steps"])) if fixed else number("mean_steps")(row)


def _charts(data: Artifacts, questions: str, frame: pd.DataFrame) -> Iterator[Chart]:
    title = QUESTIONS[questions]
    several = frame[frame["steps"] > 1]
    if not several.empty:
        names = several["strategy"].map(STRATEGIES)
        band = marks.with_band(several, "test_accuracy", 100, series=names, x=several["steps"])
        levels = frame[~(frame["steps"] > 1)].drop(index=0)
        named = zip(levels["run"], 100 * levels["test_accuracy_mean"], strict=True)
        layers = [marks.level(*one) for one in named]
        layers += marks.lines(band, "steps T", "test accuracy (%)")
        caption = "Dashed: one step, and the most frequent candidate."
        name, heading = f"cloze_accuracy_{questions}", f"{title}: test accuracy by steps"
        yield marks.chart(name, heading, layers, caption=caption, half=True)
    history = data.of("cloze/history", questions=questions)
    steps = data.of("cloze/steps", questions=questions)
    halting = steps[steps["run"].isin(frame[frame["strategy"] == ADAPTIVE]["run"])]
    stepping = steps[steps["run"].isin(several["run"])]
    panels = [
        ("curves", history, "epoch", "dev_accuracy", "dev accuracy (%)"),
        ("training", history, "epoch", "train_accuracy", "training accuracy, with dropout (%)"),
        ("weights", halting, "step", "weight", "weight in the answer (%)"),
        ("steps", stepping, "step", "accuracy", "accuracy of the step alone (%)"),
    ]
    yield from curves(f"cloze_{{}}_{questions}", title, panels)


def rewriting(data: Artifacts) -> pd.DataFrame:
    """Return how much of the gap and of other words a step overwrites, over traced questions."""
    rows = []
    for one in data.lines["cloze/queries"]:
        of: dict[bool, list[float]] = {True: [], False: []}
        for step in one["steps"][:-1]:
            for share, word in zip(overwritten(step), one["query"], strict=True):
                of[word == BLANK].append(share)
        if of[True] and of[False]:
            gap, others = fmean(of[True]), fmean(of[False])
            rows.append([one["questions"], one["run"], gap, others, gap - others])
    by, columns = ["questions", "run"], ["gap", "others", "difference"]
    return mean_sd(pd.DataFrame(rows, columns=[*by, *columns]), by, columns)


def overwritten(step: dict[str, Any]) -> list[float]:
    """Return the share of each word that a step replaces: 1 - z, or (1 - z)(1 - g)."""
    gates = step["gate"] or [0.0] * len(step["key"])
    return [(1 - key) * (1 - gate) for key, gate in zip(step["key"], gates, strict=True)]


def traced_tables(data: Artifacts) -> Iterator[Table]:
    """Yield what readers overwrite, and one traced question step by step."""
    traced = data.lines["cloze/queries"]
    frame = rewriting(data)
    if not frame.empty:
        columns: dict[str, Cell] = {
            "questions": lambda row: QUESTIONS[row["questions"]],
            "run": text("run"),
            "traced": count("gap_n"),
            f"{BLANK} overwritten, %": percent("gap"),
            "other words, %": percent("others"),
            "difference, points": number("difference", scale=100, sign=True),
        }
        said = "Munkhdalai & Yu 2017 observe that the gap is rarely written over (appendix A.1)."
        yield Table("cloze_overwritten", frame, columns, said, left=2)
    # the first question that later steps corrected, else the first right one, else any
    right = [one for one in traced if one["predicted"] == one["answer"]]
    corrected = [one for one in right if one["steps"][0]["answer"] != one["answer"]]
    for one in [*corrected, *right, *traced][:1]:
        yield _question(one)


def _question(one: dict[str, Any]) -> Table:
    rows = []
    for number_, step in enumerate(one["steps"], start=1):
        row = {"step": number_, "key": fmean(step["key"]), "weight": step["weight"]}
        row |= {"gate": fmean(step["gate"]) if step["gate"] else None, "halting": step["halting"]}
        row |= {"answer": step["answer"], "probability": step["probability"]}
        if number_ < len(one["steps"]):
            shares = overwritten(step)
            order = sorted(range(len(shares)), key=lambda at: (-shares[at], at))[:MOST]
            row["most"] = ", ".join(f"{one['query'][at]} {100 * shares[at]:.1f}" for at in order)
            row["gap"] = fmean(s for s, w in zip(shares, one["query"], strict=True) if w == BLANK)
        rows.append(row)
    columns: dict[str, Cell] = {
        "step": count("step"),
        "overwritten most, %": text("most"),
        f"{BLANK} overwritten, %": percent("gap"),
        "mean key, %": percent("key"),
        "mean gate, %": percent("gate"),
        "halting, %": percent("halting"),
        "weight, %": percent("weight"),
        "answer of the step": text("answer"),
        "its probability, %": percent("probability"),
    }
    said = (
        f"{QUESTIONS[one['questions']]}, question {one['number']} of dev, {one['run']} (seed "
        f"{one['seed']}): “{' '.join(one['query'])}” Candidates: {', '.join(one['candidates'])}. "
        f"Answer: {one['predicted']}; right is {one['answer']}. Most attended: "
        f"{', '.join(one['attended'])}."
    )
    return Table("cloze_question", pd.DataFrame(rows), columns, said, left=2)
