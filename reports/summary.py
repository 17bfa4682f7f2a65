"""The first screen, for readers who know nothing of the project yet: a story in three parts."""

from reports.findings import (
    MANY,
    best_on_dev,
    clearly,
    featured,
    featured_halting,
    halting_models,
    listed,
    verdict,
)
from reports.published import Corpus
from reports.spread import PLUS_MINUS, signed, title
from reports.stored.artefacts import Artefacts
from reports.studies.graves.words import graves_story
from reports.tables.ablation import FIXED, best_fixed
from reports.tables.claims import Comparison, comparisons
from reports.tables.length_and_depth import asks_for_steps, depth_sentence
from reports.tables.step_habits import habit_sentences
from reports.tables.table_1 import mean_steps, test_accuracy


def summary(artefacts: Artefacts) -> str:
    """What was trained, what adaptive steps did, and what was found: a short paragraph each."""
    parts = {
        "What was trained": _trained(artefacts),
        "What adaptive steps did": _adaptive_steps(artefacts),
        "What was found": _found(artefacts),
    }
    return "\n\n".join(f"**{lead}.** {' '.join(said)}" for lead, said in parts.items() if said)


def _trained(artefacts: Artefacts) -> list[str]:
    count, trials = len(artefacts.models), len(artefacts.trials)
    who = f"{count} models"
    if count <= MANY:
        who = listed([title(model) for model in artefacts.models])
    was = "was" if count == 1 else "were"
    seeds = sorted({test_accuracy(artefacts, model).n for model in artefacts.models})
    times = listed([str(n) for n in seeds])
    spread = f"s; {PLUS_MINUS} is the standard deviation over seeds"
    if seeds == [1]:
        spread = ", so there is no spread"
    return [
        f"{who} {was} trained to tell whether a premise entails a hypothesis, contradicts it or "
        f"neither, on {Corpus.of(artefacts).sentence()}.",
        _choosers(artefacts),
        f"Of {trials} trial{'s' if trials > 1 else ''}, each model's best on dev was trained anew "
        f"with {times} seed{spread}.",
    ]


def _choosers(artefacts: Artefacts) -> str:
    """Who takes adaptive steps."""
    models = halting_models(artefacts)
    who = f"{len(models)} of them"
    if len(models) <= MANY:
        who = listed([title(model) for model in models] or ["No model"])
    each = "chooses its" if len(models) < 2 else "choose their"
    return f"{who} {each} number of reasoning steps for each pair."


def _adaptive_steps(artefacts: Artefacts) -> list[str]:
    """What they gain on a task of Graves and against fixed steps, and how many were taken."""
    said = [graves_story(artefacts)]
    models = featured_halting(artefacts)
    taken = [(title(m), s.plain()) for m in models if (s := mean_steps(artefacts, m)) is not None]
    if taken:
        each = [f"{name} took {steps}" for name, steps in taken]
        said.append(f"{listed(each)} steps for each test pair.")
    said.append(_against_fixed(artefacts))
    if asks_for_steps(artefacts):
        said += [depth_sentence(artefacts, model) for model in models[:1]]
    return list(filter(None, said))


def _against_fixed(artefacts: Artefacts) -> str:
    """Adaptive halting against the fixed number of steps that is best on dev, in both readings."""
    if artefacts.ablated is None:
        return ""
    parts = [
        f"{verdict(best.gain, artefacts.level)} {kind.stopping.format(k=best.steps)} "
        f"({best.gain.points()} points)"
        for reading, kind in FIXED.items()
        if (best := best_fixed(artefacts, reading)) is not None
    ]
    if not parts:
        return ""
    return (
        f"With the same weights, halting adaptively was {' and '.join(parts)}, each the fixed "
        "number that is best on dev."
    )


def _found(artefacts: Artefacts) -> list[str]:
    """Accuracies, the models side by side, and what the steps of the first that halts go with."""
    named = featured(artefacts)
    each = [f"{test_accuracy(artefacts, m).percent()} % for {title(m)}" for m in named]
    said = [f"Test accuracy is {listed(each)}."]
    if len(artefacts.models) > MANY:
        best = title(best_on_dev(artefacts))
        said.append(f"Of all models {best} is best on dev; the others are in Table 1.")
    if compared := [
        _compared(c, artefacts.level) for c in comparisons(artefacts) if c.model in named
    ]:
        said.append(f"{listed(compared)}.")
    return said + [habit_sentences(artefacts, model) for model in featured_halting(artefacts)[:1]]


def _compared(found: Comparison, level: float) -> str:
    """Whether a model is above or below the reference, and whether that is clear."""
    gap = found.gap
    mean, low, high = (signed(100 * value) for value in (gap.mean, gap.low, gap.high))
    how = clearly(gap, "below", "above", "level with", level)
    return (
        f"{title(found.model)} is {how} {title(found.reference)} "
        f"({mean} points, 95 % interval {low} to {high})"
    )
