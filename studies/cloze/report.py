"""Cloze questions (Munkhdalai & Yu 2017): accuracy and steps of readers, a traced question."""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import altair as alt
import pandas as pd

from reports import format as fmt
from reports import marks
from reports.blocks import Chart, Section, StudyReport, Table
from reports.load import Artifacts
from reports.statistics import mean_sd, verdicts
from studies.cloze.tables import COLUMNS

# Accuracy of single models and humans in percent, from tables 2 and 3 of Munkhdalai & Yu 2017
# (arXiv:1610.06454).
PUBLISHED = pd.read_csv(Path(__file__).with_name("published.csv"))
GATING, ADAPTIVE = "query_gating", "adaptive_computation"
STRATEGIES = {GATING: "query gating", ADAPTIVE: "adaptive computation"}
# Question types by their missing words, and their benchmarks.
QUESTIONS = {"NE": "Named entities", "CN": "Common nouns", "WDW": "Who-Did-What"}
CBT = "Children's Book Test"
BENCHMARKS = {**QUESTIONS, "NE": f"{CBT}, named entities", "CN": f"{CBT}, common nouns"}
# Questions, candidates and tokens of training, dev and test, from table 1 of the paper.
SIZES = {
    "NE": "108,719 / 2,000 / 2,500 questions, 10 candidates, 433 / 412 / 424 tokens",
    "CN": "120,769 / 2,000 / 2,500 questions, 10 candidates, 470 / 448 / 461 tokens",
    "WDW": "127,786 / 10,000 / 10,000 questions, 3.5 candidates, 365 / 325 / 326 tokens (strict)",
}
BASELINES = {"random": "random candidate", "most_frequent": "most frequent candidate"}
BLANK = "XXXXX"  # the missing word of a query
MAX_WORDS = 2  # overwritten words shown per step


def readers(data: Artifacts, questions: str) -> pd.DataFrame:
    """Return baselines and runs of one question type; the first run is the reference.

    sd_steps: over dev questions. gap: dev minus test accuracy.
    """
    results = data.select("cloze/results", questions=questions)
    results = results.assign(
        gap=(results["dev_accuracy"] - results["test_accuracy"]).round(12),
        mean_steps=results["test_mean_steps"],
        sd_steps=results["dev_sd_steps"],
    )
    by = ["run", "strategy", "steps"]
    columns = ["dev_accuracy", "test_accuracy", "mean_steps", "sd_steps", "gap"]
    frame = mean_sd(results, by, columns, first=["parameters"], total=["diverged"])
    compared = data.select("cloze/runs", questions=questions)
    compared = compared[["run", "difference", "low", "high", "p", "pairs"]].copy()
    compared["verdict"] = verdicts(compared, "p")
    compared.loc[compared.index[:1], ["difference", "p", "verdict"]] = None
    fixed = (frame["strategy"] == GATING) | (frame["steps"] == 1)
    frame.loc[fixed, "mean_steps_mean"] = frame["steps"]
    frame.loc[fixed, "mean_steps_sd"] = float("nan")
    splits = data.select("cloze/baselines", questions=questions).set_index("split")
    accuracies = splits.loc[["dev", "test"], [*BASELINES]].T.add_suffix("_accuracy_mean")
    baselines = accuracies.rename(index=BASELINES).rename_axis("run").reset_index()
    return pd.concat([baselines, frame.merge(compared, on="run")], ignore_index=True)


def published(data: Artifacts, questions: str) -> pd.DataFrame:
    """Return the published readers, each with ours of the same strategy and steps."""
    by, ours = ["strategy", "steps"], readers(data, questions).dropna(subset=["steps"])
    rows, ours = (
        frame.assign(
            strategy=frame["strategy"].replace(STRATEGIES).where(frame["steps"] != 1, "one step")
        )
        for frame in (PUBLISHED.query("questions == @questions"), ours)
    )
    columns = [f"{split}_accuracy_{part}" for split in ("dev", "test") for part in ("mean", "sd")]
    ours = ours.drop_duplicates(by)[[*by, *columns]].set_index(by).add_prefix("ours_")
    return rows.join(ours, on=by)


def section(data: Artifacts, _claims: pd.DataFrame) -> Section:
    """Return tables and charts by question type."""
    parts: list[Table | Chart] = []
    for questions in dict.fromkeys(data["cloze/runs"]["questions"]):
        parts += _questions(data, str(questions))
    return Section(
        "Cloze questions: adaptive computation for reading",
        [*parts, *traced_tables(data)],
        "A reader predicts the missing word XXXXX of a query in several steps (Munkhdalai & Yu "
        "2017). Differences are in test accuracy from the first run, with CIs over seeds and "
        "questions, uncorrected.",
    )


def _questions(data: Artifacts, questions: str) -> Iterator[Table | Chart]:
    frame = readers(data, questions)
    columns: dict[str, fmt.Cell] = {
        "run": fmt.text("run"),
        "seeds": fmt.count("test_accuracy_n"),
        "dev accuracy, %": fmt.percent("dev_accuracy"),
        "test accuracy, %": fmt.percent("test_accuracy"),
        "mean steps": _steps,
        "sd of steps over questions": fmt.number("sd_steps_mean"),
        "dev minus test, points": fmt.number("gap", scale=100, sign=True),
        "difference, points [95 % CI]": fmt.points,
        "p": fmt.p_value(),
        "significance (uncorrected)": fmt.text("verdict"),
        "parameters": fmt.count("parameters"),
        "diverged": fmt.count("diverged"),
    }
    yield Table(f"cloze_{questions}", frame, columns, f"{QUESTIONS[questions]}.")
    columns = {
        "questions": fmt.text("benchmark"),
        "reader": fmt.text("strategy"),
        "steps": fmt.count("steps"),
        "dev, %": fmt.number("dev_accuracy", 1),
        "test, %": fmt.number("test_accuracy", 1),
        "ours, dev, %": fmt.percent("ours_dev_accuracy"),
        "ours, test, %": fmt.percent("ours_test_accuracy"),
    }
    yield _statistics(data, questions)
    benchmark, rows = BENCHMARKS[questions], published(data, questions)
    caption = f"Published readers on {benchmark}; our questions may differ."
    name, folded = f"cloze_published_{questions}", f"Published: {benchmark}"
    yield Table(name, rows, columns, caption, text_columns=2, folded=folded)
    yield from _charts(data, questions, frame)


def _statistics(data: Artifacts, questions: str) -> Table:
    """Return the sizes of the splits, as in table 1 of the paper."""
    columns: dict[str, fmt.Cell] = {
        "split": fmt.text("split"),
        "questions": fmt.count("count"),
        "mean candidates": fmt.number("candidates", 1),
        "mean tokens of a document": fmt.number("tokens", 0),
    }
    frame, published = data.select("cloze/baselines", questions=questions), SIZES[questions]
    name, folded = f"cloze_data_{questions}", f"Data: {QUESTIONS[questions]}"
    return Table(name, frame, columns, f"Published: {published}.", folded=folded)


def _steps(row: fmt.Row) -> str:
    fixed = row["strategy"] == GATING or row["steps"] == 1
    return str(int(row["steps"])) if fixed else fmt.number("mean_steps")(row)


def _charts(data: Artifacts, questions: str, frame: pd.DataFrame) -> Iterator[Chart]:
    title = QUESTIONS[questions]
    several = frame[frame["steps"] > 1]
    if not several.empty:
        names = several["strategy"].map(STRATEGIES)
        band = marks.with_band(several, "test_accuracy", 100, series=names, x=several["steps"])
        levels = frame[~(frame["steps"] > 1)].drop(index=0)
        references = zip(levels["run"], 100 * levels["test_accuracy_mean"], strict=True)
        layers = [marks.level(*reference) for reference in references]
        layers += marks.lines(band, "steps T", "test accuracy (%)")
        caption = "Dashed: one step, and the most frequent candidate."
        name, heading = f"cloze_accuracy_{questions}", f"{title}: test accuracy by steps"
        yield marks.chart(name, heading, layers, caption=caption, half=True)
    history = data.select("cloze/history", questions=questions)
    steps = data.select("cloze/steps", questions=questions)
    adaptive = steps[steps["run"].isin(frame[frame["strategy"] == ADAPTIVE]["run"])]
    steps = steps[steps["run"].isin(several["run"])]
    panels = [
        ("curves", history, "epoch", "dev_accuracy", "dev accuracy (%)"),
        ("training", history, "epoch", "train_accuracy", "training accuracy, with dropout (%)"),
        ("weights", adaptive, "step", "weight", "weight of the answer (%)"),
        ("steps", steps, "step", "accuracy", "accuracy of a single step (%)"),
    ]
    yield from marks.curves(f"cloze_{{}}_{questions}", title, panels)


def overwriting(data: Artifacts) -> pd.DataFrame:
    """Return how much a step overwrites of the blank and of other words, in traced questions."""
    rows = []
    for question in data.lines["cloze/queries"]:
        fractions: dict[bool, list[float]] = {True: [], False: []}
        for step in question["steps"][:-1]:
            for fraction, word in zip(overwritten(step), question["query"], strict=True):
                fractions[word == BLANK].append(fraction)
        if fractions[True] and fractions[False]:
            gap, others = fmean(fractions[True]), fmean(fractions[False])
            rows.append([question["questions"], question["run"], gap, others, gap - others])
    by, columns = ["questions", "run"], ["gap", "others", "difference"]
    return mean_sd(pd.DataFrame(rows, columns=[*by, *columns]), by, columns)


def overwritten(step: dict[str, Any]) -> list[float]:
    """Return the overwritten fraction of each word: 1 - z, or (1 - z)(1 - g)."""
    gates = step["gate"] or [0.0] * len(step["key"])
    return [(1 - key) * (1 - gate) for key, gate in zip(step["key"], gates, strict=True)]


def traced_tables(data: Artifacts) -> Iterator[Table | Chart]:
    """Yield the overwritten fractions, and one traced question step by step."""
    frame = overwriting(data)
    if not frame.empty:
        columns: dict[str, fmt.Cell] = {
            "questions": lambda row: QUESTIONS[row["questions"]],
            "run": fmt.text("run"),
            "traced": fmt.count("gap_n"),
            f"{BLANK} overwritten, %": fmt.percent("gap"),
            "other words, %": fmt.percent("others"),
            "difference, points": fmt.number("difference", scale=100, sign=True),
        }
        caption = "Munkhdalai & Yu 2017 report that the blank is rarely overwritten (appendix A.1)."
        yield Table("cloze_overwritten", frame, columns, caption, text_columns=2)
    # prefer a question that later steps corrected, then a correct one
    traced = data.lines["cloze/queries"]
    correct = [question for question in traced if question["predicted"] == question["answer"]]
    corrected = [one for one in correct if one["steps"][0]["answer"] != one["answer"]]
    for question in [*corrected, *correct, *traced][:1]:
        yield _question(question)
        yield from _words(question)


def _question(question: dict[str, Any]) -> Table:
    rows, query = [], question["query"]
    for number, step in enumerate(question["steps"], start=1):
        row = step | {"step": number}
        if number < len(question["steps"]):
            fractions = overwritten(step)
            order = sorted(range(len(query)), key=lambda i: (-fractions[i], i))[:MAX_WORDS]
            row["most"] = ", ".join(f"{query[i]} {100 * fractions[i]:.1f}" for i in order)
            row["gap"] = fmean(f for f, word in zip(fractions, query, strict=True) if word == BLANK)
        rows.append(row)
    names = ["step", "weight", "halting", "answer", "probability", "most", "gap"]
    columns: dict[str, fmt.Cell] = {
        "step": fmt.count("step"),
        "most overwritten, %": fmt.text("most"),
        f"{BLANK} overwritten, %": fmt.percent("gap"),
        "halting, %": fmt.percent("halting"),
        "weight, %": fmt.percent("weight"),
        "prediction": fmt.text("answer"),
        "probability, %": fmt.percent("probability"),
    }
    caption = (
        f"{QUESTIONS[question['questions']]}, dev question {question['number']}, {question['run']} "
        f"(seed {question['seed']}): “{' '.join(query)}” Candidates: "
        f"{', '.join(question['candidates'])}. Prediction: {question['predicted']}; answer: "
        f"{question['answer']}. Most attended: {', '.join(question['attended'])}."
    )
    frame = pd.DataFrame(rows, columns=names)
    return Table("cloze_question", frame, columns, caption, text_columns=2)


def _words(question: dict[str, Any]) -> Iterator[Chart]:
    """Draw key z and gate g of each word of the query by step (figures 2 and 3 of the paper)."""
    words = [f"{n} {word}" for n, word in enumerate(question["query"], start=1)]
    for name, title in (("key", "z: near 0 is overwritten"), ("gate", "g: near 1 is kept")):
        rows = [
            {"step": step, "word": word, "value": value}
            for step, each in enumerate(question["steps"], start=1)
            for word, value in zip(words, each[name] or [], strict=False)
        ]
        if rows:
            y = alt.Y("word:N", sort=words, title=None)
            color = alt.Color("value:Q", title=name, scale=alt.Scale(scheme="blues", domain=[0, 1]))
            tips = ["word:N", "step:O", "value:Q"]
            cells = marks.data(pd.DataFrame(rows)).mark_rect()
            layer = cells.encode(
                x=alt.X("step:O", axis=alt.Axis(labelAngle=0)), y=y, color=color, tooltip=tips
            )
            yield marks.chart(f"cloze_{name}", f"One question, {name} {title}", [layer], half=True)


STUDY = StudyReport(
    COLUMNS | {"queries.json": ""},
    section,
    run=("questions", "run"),
    group_title=QUESTIONS.__getitem__,
)
