"""Traced cloze questions: what readers overwrite, and one question step by step."""

from collections.abc import Iterator
from statistics import fmean
from typing import Any

import pandas as pd

from reports.blocks import Table
from reports.format import Cell, count, number, percent, text
from reports.load import Artifacts
from reports.published.results import QUESTIONS
from reports.statistics import mean_sd

BLANK = "XXXXX"  # stands in a query for the missing word
MOST = 2  # words of the query that are named at each step


def rewriting(data: Artifacts) -> pd.DataFrame:
    """Return how much of the gap and of other words a step overwrites, over traced questions."""
    rows = []
    for one in data.lines["nse/queries"]:
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
    traced = data.lines["nse/queries"]
    frame = rewriting(data)
    if not frame.empty:
        columns: dict[str, Cell] = {
            "questions": lambda row: QUESTIONS[row["questions"]].title,
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
        f"{QUESTIONS[one['questions']].title}, question {one['number']} of dev, {one['run']} (seed "
        f"{one['seed']}): “{' '.join(one['query'])}” Candidates: {', '.join(one['candidates'])}. "
        f"Answer: {one['predicted']}; right is {one['answer']}. Most attended: "
        f"{', '.join(one['attended'])}."
    )
    return Table("cloze_question", pd.DataFrame(rows), columns, said, left=2)
