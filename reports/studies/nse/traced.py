"""Traced questions: one of them step by step, and how much of the gap is written over."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from reports.blocks import DASH, Table
from reports.spread import MINUS, Spread
from reports.stored.artefacts import Artefacts
from reports.stored.traces import BLANK, QueryStep, Traced
from reports.studies.nse.published import KINDS, PAPER

ALIKE = 0.01  # a smaller difference of shares is none to speak of, however clear
MOST = 2  # words of the query that are named at each step
# Signs that would be markup in a line of markdown.
MARKUP = re.compile(r"([\\`*_\[\]<>|~&#!])")


@dataclass(frozen=True)
class Rewriting:
    """How much of the gap's slot a run writes over in a step, against its other words.

    Each is a spread over traced questions of the mean over steps but the last, which writes
    nothing; shares in [0, 1]. gap: blank minus others, question by question.
    """

    kind: str
    run: str
    gated: bool
    blank: Spread
    others: Spread
    gap: Spread


def rewriting(artefacts: Artefacts) -> list[Rewriting]:
    """One for each run with traced questions that write anything, in stored order."""
    found: dict[tuple[str, str, bool], list[tuple[float, float]]] = {}
    for one in artefacts.nse.traced:
        written = [step.rewritten for step in one.steps[:-1]]
        at = [word == BLANK for word in one.query]
        blank = [row[place] for row in written for place, is_it in enumerate(at) if is_it]
        others = [row[place] for row in written for place, is_it in enumerate(at) if not is_it]
        if blank and others:
            run = one.questions, one.run, one.steps[0].gate is not None
            found.setdefault(run, []).append((fmean(blank), fmean(others)))
    return [
        Rewriting(
            *run,
            blank=Spread.of([blank for blank, _ in pairs]),
            others=Spread.of([others for _, others in pairs]),
            gap=Spread.of([blank - others for blank, others in pairs]),
        )
        for run, pairs in found.items()
    ]


def rewriting_sentences(artefacts: Artefacts, published: bool) -> str:
    """Whether the gap is written over less than other words: a list, run by run."""
    found = rewriting(artefacts)
    if not found:
        return ""
    said = "\n".join(f"- {_compared(one)}" for one in found)
    if not published:
        return said
    return (
        f"{said}\n\n{PAPER} observe that the gap is rarely written over (appendix A.1; no figure "
        "given)."
    )


def _compared(one: Rewriting) -> str:
    clearly = "clearly" if one.gap.clear() else "not clearly"
    how = f"{clearly} {'less' if one.gap.mean < 0 else 'more'} than"
    if abs(one.gap.mean) < ALIKE:
        how = "about as much as"
    many = "question" if one.gap.n == 1 else "questions"
    share = f"(1 {MINUS} key)(1 {MINUS} gate)" if one.gated else f"1 {MINUS} key"
    return (
        f"{KINDS[one.kind].title}, *{one.run}*: of the slot {BLANK} a step writes over "
        f"{one.blank.percent()} % in the mean, of other words {one.others.percent()} % "
        f"({share}; {one.gap.n:,} traced {many}): {how} the others ({one.gap.points()} points)."
    )


def featured_question(traced: Sequence[Traced]) -> Traced | None:
    """The first that later steps corrected; else the first that is right; else the first."""
    corrected = [one for one in traced if one.right and one.steps[0].answer != one.answer]
    right = [one for one in traced if one.right]
    return next(iter([*corrected, *right, *traced]), None)


def featured_sentence(one: Traced) -> str:
    """What is asked, and what was answered."""
    verdict = "rightly" if one.right else f"but right is {plain([one.answer])}"
    kind = KINDS[one.questions].title
    return (
        f"{kind}, question {one.number} of dev, as *{one.run}* (seed {one.seed}) "
        f"answers it: “{plain(one.query)}” Candidates: {plain(one.candidates, ', ')}. The answer "
        f"is {plain([one.predicted])}, {verdict}. Most attended in the document: "
        f"{plain(one.attended, ', ')}."
    )


def featured_table(one: Traced) -> Table:
    """A row per step: what it writes over, and what it would answer."""
    gated = any(step.gate is not None for step in one.steps)
    header = ["step", "written over most, %", f"{BLANK} written over, %", "mean key, %"]
    header += ["mean gate, %" if gated else "halting, %"]
    header += ["weight, %", "answer by itself", "its probability, %"]
    rows = []
    for number, step in enumerate(one.steps, start=1):
        last = number == len(one.steps)
        row = [str(number), *([DASH, DASH] if last else _written(one, step))]
        row.append(_percent(fmean(step.key)))
        other = step.halting if step.gate is None else fmean(step.gate)
        row.append(DASH if other is None else _percent(other))
        row += [_percent(step.weight), plain([step.answer]), _percent(step.probability)]
        rows.append(row)
    return Table(header, rows, left=2)


def _written(one: Traced, step: QueryStep) -> list[str]:
    """The words that are written over most, and the mean over the gaps."""
    shares = step.rewritten
    order = sorted(range(len(shares)), key=lambda at: (-shares[at], at))[:MOST]
    most = ", ".join(f"{plain([one.query[at]])} {_percent(shares[at])}" for at in order)
    blank = fmean(shares[at] for at, word in enumerate(one.query) if word == BLANK)
    return [most, _percent(blank)]


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def plain(words: Sequence[str], between: str = " ") -> str:
    """Words as text inside markdown, whatever signs they are."""
    return MARKUP.sub(r"\\\1", between.join(words))


def featured_note(one: Traced) -> str:
    """What the columns mean."""
    told = (
        "*Key* is z of the paper: near 0 where the step would write a word of the document over "
        "a word of the query."
    )
    if any(step.gate is not None for step in one.steps):
        told += " *Gate* is g: near 1 where the old word is kept all the same."
    else:
        told += " *Halting* is e: the chance that a step halts if it is reached."
    return (
        f"{told} *Written over* is the share of a word that the step replaces. *Weight* is what "
        "the step counts in the answer. The last step answers and writes nothing."
    )
