"""What the figures on cloze questions say, whichever way they fall."""

from math import inf, sqrt

from reports.findings import clearly, listed, over_seeds
from reports.spread import Gap, sampling_error, signed, t_quantile
from reports.stored.artefacts import Artefacts
from reports.studies.nse.published import (
    ADAPTIVE,
    GATING,
    KINDS,
    PAPER,
    SOURCES,
    STRATEGIES,
    QuestionKind,
)
from reports.studies.nse.runs import FREQUENT, Run, baselines, nse_kinds, nse_runs

EDGE = 0.1  # of the way from one step to all: nearer to an end, a run halts like that end
ALIKE = 0.1  # sd of steps between questions: below it, they all take about as many


def nse_note(artefacts: Artefacts) -> str:
    """How to read tables and figures."""
    runs = [run for kind in nse_kinds(artefacts) for run in nse_runs(artefacts, kind)]
    over = over_seeds(run.test.n for run in runs)
    scored = listed([f"{n:,}" for n in sorted({run.pairs for run in runs})])
    kinds = listed([KINDS[kind].asked for kind in nse_kinds(artefacts)])
    return (
        "A Neural Semantic Encoder fills the gap XXXXX of a query with a word of a document, one "
        f"of several candidates ({PAPER}). At each step it attends to query and document and "
        "writes over words of the query. With *query gating* it takes all its steps, gates keep "
        "words of the query as they are, and the last step answers; with *adaptive computation* "
        "each step may halt, and the answers of all steps are mixed by the chance to have halted "
        f"there. Questions {_source(artefacts)} ask for {kinds}. Accuracies are those of each "
        f"run's best epoch on dev ({over}; *n* counts seeds); dev chose the epochs, test was read "
        "once. The *difference* on test is to the first run of a table; its 95 % interval is a "
        f"Student's t over the seeds of each and the test questions ({scored}, the same for "
        f"both{', those of one article together' if _built(artefacts) else ''}). A difference is "
        "called clear here if this interval leaves out zero; nothing is corrected for the number "
        "of comparisons."
    )


def _built(artefacts: Artefacts) -> str:
    """The text that questions were built from; empty if from none."""
    kind, _, text = str(artefacts.nse.baselines["source"].iloc[0]).partition(" ")
    return text if kind == "text" else ""


def _source(artefacts: Artefacts) -> str:
    """Where questions are from."""
    text = _built(artefacts)
    if text:
        return f"built from the text *{text}*"
    return SOURCES[str(artefacts.nse.baselines["source"].iloc[0])]


def nse_sentences(artefacts: Artefacts, kind: str, published: bool) -> str:
    """Paragraphs: against one step and counting words, on halting, on over-fitting, the paper."""
    first, *others = nse_runs(artefacts, kind)
    against = [_against_first(run, first) for run in others]
    against.append(_against_frequent(artefacts, kind, [first, *others]))
    halting = [_halting(run) for run in others if run.strategy == ADAPTIVE and run.steps > 1]
    more = [run for run in others if run.steps > first.steps]
    paragraphs = [
        " ".join(against),
        " ".join(halting),
        _fitting(first, more) if more else "",
        _paper(artefacts, KINDS[kind], kind) if published else "",
    ]
    return "\n\n".join(filter(None, paragraphs))


def _against_first(run: Run, first: Run) -> str:
    """Whether a run is better than the first one."""
    gap = run.difference
    low, high = (signed(100 * end) for end in (gap.low, gap.high))
    return (
        f"On test, *{run.name}* is {clearly(gap, 'below', 'above', 'level with')} *{first.name}*: "
        f"{signed(100 * gap.mean)} points, 95 % interval {low} to {high}"
        f"{'; one seed, no spread' if gap.p is None else ''}."
    )


def _against_frequent(artefacts: Artefacts, kind: str, runs: list[Run]) -> str:
    """How many runs are above what counting words gives."""
    found = baselines(artefacts, kind)["test"]
    level = found.most_frequent
    above = [run for run in runs if _margin(run, level, found.count) < run.test.mean - level]
    below = [run for run in runs if _margin(run, level, found.count) < level - run.test.mean]
    parts = [
        f"{listed([f'*{run.name}*' for run in group])} {'is' if len(group) == 1 else 'are'} {how}"
        for group, how in (
            (above, "clearly above"),
            ([run for run in runs if run not in (*above, *below)], "not clearly apart from"),
            (below, "clearly below"),
        )
        if group
    ]
    verdict = "; ".join(parts)
    if not above:
        verdict = f"no run is clearly above it: {verdict}"
    return (
        f"The {FREQUENT} of the document is right in {100 * level:.1f} % of {found.count:,} test "
        f"questions; {verdict} it, by a 95 % interval over seeds (Student's t) and questions."
    )


def _margin(run: Run, level: float, questions: int) -> float:
    """Half the interval of the gap to a baseline, as if both had drawn questions of their own.

    Student's t with Welch's degrees of freedom, of which questions have many; infinite with one
    seed.
    """
    if run.test.sd is None:
        return inf
    seeds = run.test.sd**2 / run.test.n
    drawn = sampling_error(run.test.mean, questions) ** 2 + sampling_error(level, questions) ** 2
    freedom = (run.test.n - 1) * ((seeds + drawn) / seeds) ** 2 if seeds else inf
    return t_quantile(freedom) * sqrt(seeds + drawn)


def _halting(run: Run) -> str:
    """Whether a run that may halt early does, and whether that depends on the question."""
    taken = run.mean_steps
    if taken is None:
        return f"With every seed, *{run.name}* diverged."
    said = f"In the mean, *{run.name}* answers after {taken.plain()} of {run.steps} steps"
    if taken.mean < 1 + EDGE * (run.steps - 1):
        return f"{said}: collapsed, the answer is as good as the first step's."
    if taken.mean > run.steps - EDGE * (run.steps - 1):
        return f"{said}: it hardly ever halts before the last step."
    if run.sd_steps is None:
        return f"{said}."
    alike = run.sd_steps.mean < ALIKE
    how = "about as many for every question" if alike else "more for some questions than for others"
    return f"{said}, {how} (sd between dev questions {run.sd_steps.mean:.2f})."


def _fitting(first: Run, more: list[Run]) -> str:
    """Whether dev promises more than test keeps, the more so with more steps."""
    each = [f"{run.gap.points()} for *{run.name}*" for run in (first, *more)]
    gaps = {run.name: Gap.of(run.gap, first.gap) for run in more}
    larger = [run for run in more if gaps[run.name].clear() and gaps[run.name].mean > 0]
    how = "clearly larger with more steps for none of them: no over-fitting to dev is seen"
    if larger:
        how = f"clearly larger than with one step for {listed([f'*{r.name}*' for r in larger])}"
        how += ", which fits dev more than test"
    said = f"Dev minus test accuracy, points: {listed(each)}; {how}."
    known = [run for run in (first, *more) if run.fit is not None]
    if not known:
        return said
    each = [f"{run.fit.points()} for *{run.name}*" for run in known if run.fit is not None]
    return f"{said} Training (with dropout) minus dev accuracy at the best epochs: {listed(each)}."


def _paper(artefacts: Artefacts, known: QuestionKind, kind: str) -> str:
    """What the paper reports, and whether its questions are those here."""
    parts = []
    for setting in known.settings:
        found = setting.accuracies
        _, one = found[GATING, 1]
        (strategy, steps), (_, best) = max(found.items(), key=lambda of: of[1][1])
        parts.append(
            f"on {setting.name} {one:.1f} % on test with one step and at best {best:.1f} % "
            f"({STRATEGIES[strategy]}, {steps} steps)"
        )
    ours = baselines(artefacts, kind)
    here = tuple(ours[split].count for split in ("train", "dev", "test"))
    said = f"{PAPER} report {listed(parts)} ({known.table}), without a spread"
    if known.aside:
        said += f"; {known.aside}"
    counts = [setting.counts for setting in known.settings]
    there = listed([_counts(c) for c in counts])
    if here in counts:
        return (
            f"{said}. There are as many questions here as in their {known.benchmark} "
            f"({_counts(here)} for training, dev and test); word vectors and sizes may differ."
        )
    return (
        f"{said}. Their questions are of the {known.benchmark}, made of {known.text} ({there} for "
        f"training, dev and test); those here are others ({_counts(here)}), of another text or "
        "fewer, so the published figures are no yardstick for ours."
    )


def _counts(counts: tuple[int, ...]) -> str:
    return " / ".join(f"{count:,}" for count in counts)
