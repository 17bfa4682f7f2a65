"""What the figures on Graves' tasks say, whichever way they fall."""

from collections.abc import Callable, Sequence

from reports.findings import clearly, gained, listed, over_seeds
from reports.spread import Spread, follows, signed
from reports.stored.artefacts import Artefacts
from reports.studies.graves.runs import (
    AnyRun,
    Growth,
    Run,
    act_gap,
    best_run,
    by_difficulty,
    gap_of,
    graves_runs,
    graves_tasks,
)
from reports.studies.graves.tasks import ACT, NONE, TASKS, GravesTask


def graves_note(artefacts: Artefacts) -> str:
    """How to read tables and figures."""
    tasks = [TASKS[task] for task in graves_tasks(artefacts)]
    each = [f"{t.difficulty} ({t.title.lower()}, error of {t.counted_in})" for t in tasks]
    runs = [run for task in graves_tasks(artefacts) for run in graves_runs(artefacts, task)]
    over = over_seeds(len(run.errors) for run in runs)
    return (
        "Recurrent networks on sequences that are generated as they train (Graves 2016, "
        "section 3), with and without adaptive computation time (ACT), which "
        "lets a network take several steps on each input. *Sequence error* is the share of dev "
        "sequences with any mistake at a run's best epoch, *mean steps* are those of the inputs "
        f"of dev sequences ({over}). Dev sequences chose the epochs, and the best of several "
        f"settings is chosen on them too, so it is optimistic. Difficulty counts "
        f"{listed(each)}. Differences, paired by seed, are called clear if the 95 % interval of "
        "their mean over seeds, by Student's t, leaves out zero; nothing is corrected for their "
        "number."
    )


def graves_sentences(artefacts: Artefacts, task: str, published: bool) -> str:
    """Errors against those without ACT, steps by difficulty, and what Graves reports."""
    runs = graves_runs(artefacts, task)
    said = [_against_none(runs, halting) for halting in haltings(runs)]
    act = best_run(runs, ACT)
    if act is not None:
        said.append(_steps(act, TASKS[task]))
    if published:
        said.append(_paper(artefacts, task))
    return " ".join(filter(None, said))


def haltings(runs: Sequence[AnyRun]) -> list[str]:
    """The ways of halting among the runs, in their order."""
    return [kind for kind in dict.fromkeys(run.halting for run in runs) if kind != NONE]


def _against_none(runs: list[Run], halting: str) -> str:
    return against_none(
        runs,
        halting,
        "Sequence error with {best} is {figure}, {none} {other}: {difference}.",
        lambda run: f"{run.error.percent()} %",
        lambda gap: f"{_less(gap)} ({gained(gap)})",
    )


def against_none(
    runs: Sequence[AnyRun],
    halting: str,
    sentence: str,
    figure: Callable[[AnyRun], str],
    difference: Callable[[Spread], str],
) -> str:
    """The best of one way of halting against the best without any; empty without both."""
    best, without = best_run(runs, halting), best_run(runs, NONE)
    gap = None if best is None or without is None else gap_of(best, without)
    if best is None or without is None or gap is None:
        return ""
    count = sum(run.halting == halting for run in runs)
    of = f" (the best of {count} on dev)" if count > 1 else ""
    return sentence.format(
        best=f"*{best.label}*{of}",
        figure=figure(best),
        none=f"*{without.label}*",
        other=figure(without),
        difference=difference(gap),
    )


def _less(gap: Spread) -> str:
    return clearly(gap, "less", "more", "neither less nor more")


def _steps(run: Run, task: GravesTask) -> str:
    """Whether the steps of a run go with difficulty."""
    if run.growth is None:
        return ""
    slope = run.growth.slope
    return (
        f"The mean steps of *{run.label}* {follows(run.growth.told_by)} the {task.difficulty}: "
        f"{slope.change()} steps for each {task.unit} ({_told(run.growth)})."
    )


def _told(growth: Growth) -> str:
    pearson = growth.pearson
    if pearson is None:
        return f"{growth.slope.over()}; the same for all"
    few = "" if pearson.n == growth.slope.n else f" of the {pearson.n} where they change"
    return f"{growth.slope.over()}; Pearson's r over the difficulties {signed(pearson.mean)}{few}"


def graves_story(artefacts: Artefacts) -> str:
    """Error without and with ACT, and steps by difficulty, on parity; else on another task.

    Empty where no task was run both ways.
    """
    tasks = [task for task in TASKS if task in graves_tasks(artefacts)]
    return next(filter(None, (_story(artefacts, task) for task in tasks)), "")


def _story(artefacts: Artefacts, task: str) -> str:
    runs, known = graves_runs(artefacts, task), TASKS[task]
    act, without, gap = best_run(runs, ACT), best_run(runs, NONE), act_gap(runs)
    if act is None or without is None or gap is None:
        return ""
    said = (
        f"On Graves' {known.title.lower()} task a recurrent network errs on "
        f"{without.error.percent()} % of the sequences without adaptive steps and on "
        f"{act.error.percent()} % with them: {_less(gap)}."
    )
    steps = by_difficulty(artefacts, task, act, "mean_steps")
    if act.growth is None or len(steps) < 2:
        return said
    few, many = (f"{steps[at].plain()} at {at}" for at in (min(steps), max(steps)))
    how = follows(act.growth.told_by)
    return f"{said} Its steps {how} difficulty: {few} and {many} {known.difficulty}."


def _paper(artefacts: Artefacts, task: str) -> str:
    """What the paper reports, and whether the task here is as hard."""
    known, levels = TASKS[task], artefacts.graves_difficulty
    hardest = max(levels[levels["task"] == task]["difficulty"], default=None)
    said = (
        f"Graves reports {known.reported} (2016, section {known.section}; {known.setup}, a million "
        "iterations, 20 seeds for each ponder weight)."
    )
    if hardest is None:
        return said
    reach = f"up to {hardest} {known.difficulty} here against {known.hardest} there"
    if hardest == known.hardest:
        return (
            f"{said} The difficulty is Graves' own, {reach}; length of sequences, size of the "
            "network and length of training may still differ."
        )
    easier = "an easier task" if hardest < known.hardest else "a harder task"
    return f"{said} The sizes differ: {reach}, {easier}, so his figures are no yardstick for ours."
