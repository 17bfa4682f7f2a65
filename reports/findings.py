"""The opening paragraph, written from the numbers whichever way they fall."""

from reports.ablation import FIXED, best_fixed
from reports.artefacts import Artefacts
from reports.comparisons import comparison_sentence, comparisons
from reports.corpus import Corpus
from reports.featured import MANY, best_on_dev, featured
from reports.spread import PLUS_MINUS, Gap, Spread, signed, title
from reports.sweep import sweep_models, trials_of
from reports.tables import mean_steps, test_accuracy


def summary(artefacts: Artefacts) -> str:
    """What was measured, on which corpus, in how many trials, and how it came out."""
    corpus, count = Corpus.of(artefacts), len(artefacts.models)
    models = listed([title(model) for model in artefacts.models])
    if count > MANY:
        models = f"{count} models"
    return (
        f"{models} {_was(count)} trained and tested on {corpus.sentence()}. "
        f"{corpus.vectors_sentence()}{_trials(artefacts)} {_accuracies(artefacts)}"
        f"{_between_models(artefacts)}{_steps(artefacts)}{_against_fixed(artefacts)}"
    )


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def listed(items: list[str]) -> str:
    """`a, b and c`; items with commas of their own are parted by semicolons."""
    if len(items) == 1:
        return items[0]
    if any(", " in item for item in items):
        return f"{'; '.join(items[:-1])}; and {items[-1]}"
    return f"{', '.join(items[:-1])} and {items[-1]}"


def _trials(artefacts: Artefacts) -> str:
    swept, total = sweep_models(artefacts), len(artefacts.trials)
    counts = f" of {len(swept)} models"
    if len(swept) <= MANY:
        each = [f"{len(trials_of(artefacts, model))} {title(model)}" for model in swept]
        counts = f" ({listed(each)})"
    seeds = sorted({test_accuracy(artefacts, model).n for model in artefacts.models})
    times = listed([str(count) for count in seeds])
    return (
        f"The sweep ran {total} trial{'s' if total > 1 else ''}{counts}; each model's "
        f"configuration with the best dev accuracy was trained anew with {times} "
        f"seed{'' if seeds == [1] else 's'} and then scored on test."
    )


def _accuracies(artefacts: Artefacts) -> str:
    found = {model: test_accuracy(artefacts, model) for model in featured(artefacts)}
    spreads = {spread.over() for spread in found.values()}
    if len(spreads) == 1:
        each = [f"{s.percent()} % for {title(m)}" for m, s in found.items()]
        said = f"Test accuracy: {listed(each)} ({_mean(next(iter(found.values())))})."
    else:
        each = [f"{s.percent()} % for {title(m)} ({_mean(s)})" for m, s in found.items()]
        said = f"Test accuracy: {listed(each)}."
    if len(artefacts.models) <= MANY:
        return said
    best = title(best_on_dev(artefacts))
    return f"{said} Of all models {best} is best on dev; the others are in Table 1."


def _mean(spread: Spread) -> str:
    return spread.over() if spread.sd is None else f"mean {PLUS_MINUS} {spread.over()}"


def _between_models(artefacts: Artefacts) -> str:
    """Each retrained model against the reference; of many models the featured ones."""
    named = featured(artefacts)
    found = [c for c in comparisons(artefacts) if c.model in named]
    return "".join(f" {comparison_sentence(c)}" for c in found)


def unpaired(ours: Spread, theirs: Spread) -> tuple[str, str]:
    """Above, below or level with; and by how many points, and whether that is clear."""
    gap = Gap.of(ours, theirs)
    spread = "no spread for at least one of the two"
    if gap.error is not None:
        spread = f"standard error {100 * gap.error:.2f}"
    direction = "above" if gap.mean > 0 else "below" if gap.mean < 0 else "level with"
    far = "" if gap.clear else "; not a clear difference"
    return direction, f"{signed(100 * gap.mean)} points, {spread}{far}"


def _steps(artefacts: Artefacts) -> str:
    sentences = []
    for model in featured(artefacts):
        steps = mean_steps(artefacts, model)
        if steps is not None:
            within = Spread.of(artefacts.runs(model)["test_sd_steps"]).mean
            sentences.append(
                f" {title(model)} took {steps.plain()} inference steps per test pair "
                f"(sd between pairs {within:.2f})."
            )
    return "".join(sentences)


def _against_fixed(artefacts: Artefacts) -> str:
    """Adaptive halting against the fixed number of steps that is best on dev, in both readings."""
    if artefacts.ablated is None:
        return ""
    found = {reading: best_fixed(artefacts, reading) for reading in FIXED}
    parts = [
        f"{verdict(point.gain)} {FIXED[reading].stopping.format(k=point.steps)} "
        f"({gained(point.gain)})"
        for reading, point in found.items()
        if point is not None and point.gain is not None
    ]
    if not parts:
        return ""
    return (
        " With the same weights, and against the fixed number of steps that is best on dev, "
        f"halting adaptively was {' and '.join(parts)}."
    )


def verdict(gain: Spread) -> str:
    """How adaptive halting did, given its gain over something else."""
    if gain.clear:
        return "better than" if gain.mean > 0 else "worse than"
    return "not clearly better than" if gain.mean > 0 else "not better than"


def gained(gain: Spread) -> str:
    """The difference with its spread over paired seeds."""
    over = "n = 1, no spread" if gain.sd is None else f"sd over {gain.n} paired seeds"
    return f"{gain.points()} points, {over}"
