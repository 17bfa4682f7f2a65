"""What explains the paper's numbers, in words that follow the figures whichever way they fall."""

from actmodels.registry import deviations
from reports.findings import listed
from reports.spread import title, whole
from reports.stored.artefacts import Artefacts
from reports.studies.fidelity.variants import TOGETHER, Variant, fidelity_models, variants
from reports.tables.corpus import Corpus
from reports.tables.published import TABLE_1, published_accuracy


def fidelity_note(artefacts: Artefacts, published: bool) -> str:
    """How to read the tables, and what the interval is; the published gap beside it."""
    found = [v for model in fidelity_models(artefacts) for v in variants(artefacts, model)]
    seeds, pairs = sorted({v.test.n for v in found}), sorted({v.pairs for v in found})
    times = listed([str(n) for n in seeds])
    few = (
        "it holds for these trainings alone, so nothing is called clear"
        if seeds == [1]
        else "over few it is rather too narrow"
    )
    scored = f"{pairs[0]:,}" if len(pairs) == 1 else f"{pairs[0]:,} to {pairs[-1]:,}"
    note = (
        "Every variant starts from the configuration chosen for its model and differs from it in "
        "the settings named; a table's first row is what the others are compared with. The "
        "*difference* is test accuracy minus that of the first row, over the pairs that both "
        f"scored ({scored}). Its 95 % interval is a paired bootstrap over seeds and test pairs "
        f"(n = {times} seed{'' if seeds == [1] else 's'}: {few}); a difference is called clear if "
        "its interval leaves out zero. *Largest p* is that of McNemar's exact test, one test per "
        "seed. Nothing is corrected for the number of comparisons "
        f"({sum(not v.first for v in found)} here): of twenty without any effect, one would be "
        "expected to look clear."
    )
    if any(v.share is not None for v in found):
        note += (
            f" *Share of the gap* is a difference relative to that of *{TOGETHER}*, for what is "
            "part of it; deviations act on one another, so shares need not add up to 100 %."
        )
    return f"{note}{_published(artefacts)}" if published else note


def _published(artefacts: Artefacts) -> str:
    own = published_accuracy("200D Decomposable Attention, the paper's own")
    parikh = published_accuracy("200D Decomposable Attention")
    said = (
        f" The gap in question: on the test set of SNLI the paper's own Decomposable Attention has "
        f"{own:.1f} % and that of Parikh et al. {parikh:.1f} % ({TABLE_1}), {parikh - own:.1f} "
        "points that the paper does not explain."
    )
    corpus = Corpus.of(artefacts)
    if not corpus.comparable:
        said += (
            f" The differences here are those on {corpus.label}; they may be others on all of SNLI."
        )
    return said


def fidelity_sentences(artefacts: Artefacts, model: str) -> str:
    """Which changes cost accuracy clearly and which do not."""
    first, *others = variants(artefacts, model)
    said = [f"{title(model)}, *{first.name}*, has {first.test.percent()} % on test."]
    together = next((v for v in others if v.name == TOGETHER), None)
    names = deviations(model)
    alone = [v for v in others if v is not together]
    own = [v for v in alone if names.intersection(v.settings)]
    choices = [v for v in alone if not names.intersection(v.settings)]
    if together is not None:
        said.append(_together(together, [v for v in own if len(v.settings) == 1]))
    said += [_outcomes("Of the deviations of the 2016 code,", own)] if own else []
    said += [_outcomes("Of other choices,", choices)] if choices else []
    return " ".join(said)


def _together(together: Variant, single: list[Variant]) -> str:
    """All deviations at once, and how much of their loss the costliest single one makes."""
    gap = together.difference
    how = "clearly cost" if gap.below else "clearly gain" if gap.above else "do not clearly cost"
    said = f"All deviations together (*{together.name}*) {how} accuracy: {gap.points()} points."
    worst = min(single, key=lambda v: v.difference.mean, default=None)
    if worst is None or worst.share is None:
        return said
    if not worst.difference.below:
        return f"{said} No single one of them clearly does."
    return (
        f"{said} Alone, the costliest, *{worst.name}*, makes {whole(100 * worst.share)} % of that."
    )


def _outcomes(whose: str, found: list[Variant]) -> str:
    """What the variants did, those of one outcome together."""
    outcomes = [
        ("clearly cost{} accuracy", [v for v in found if v.difference.below]),
        ("clearly gain{} accuracy", [v for v in found if v.difference.above]),
        ("make{} no clear difference", [v for v in found if not (v.difference.clear or v.same)]),
        ("change{} nothing at all", [v for v in found if v.same]),
    ]
    parts = [
        f"{listed([_named(v) for v in group])} {did.format('s' if len(group) == 1 else '')}"
        for did, group in outcomes
        if group
    ]
    return f"{whose} {'; '.join(parts)}."


def _named(variant: Variant) -> str:
    if variant.same:
        return f"*{variant.name}*"
    return f"*{variant.name}* {variant.difference.points()}"
