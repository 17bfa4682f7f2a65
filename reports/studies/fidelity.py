"""What each deviation of the 2016 code costs, one change at a time: tables, and words on them.

The figures are those of the stage `fidelity`; a model's first variant is what the others are
compared with. The words follow the figures whichever way they fall.
"""

from dataclasses import dataclass, replace

import pandas as pd

from actmodels.registry import deviations
from reports.blocks import DASH, Table
from reports.findings import listed, p_value
from reports.published import TABLE_1, Corpus, published_accuracy
from reports.spread import Interval, Spread, title, whole
from reports.stored.artefacts import Artefacts

ACCURACIES = [f"{split}_accuracy_{of}" for split in ("dev", "test") for of in ("mean", "sd")]
TOGETHER = "as published"  # the variant with all deviations, where there is one


@dataclass(frozen=True)
class Variant:
    """One variant of a model over its seeds; accuracies in [0, 1].

    changes: its settings that differ, `name: value` with commas between; empty if none does.
    difference: its test accuracy minus the first variant's, with its interval and p.
    pairs: test pairs that it and the first variant both scored.
    share: its difference as a share of that of the variant with all deviations, for what is
        part of that one and if that one's is a clear loss.
    """

    name: str
    changes: str
    dev: Spread
    test: Spread
    mean_steps: float | None
    difference: Interval
    pairs: int
    first: bool
    share: float | None = None

    @property
    def settings(self) -> tuple[str, ...]:
        """The names of the settings that it changes."""
        return tuple(change.split(":")[0] for change in self.changes.split(", ") if change)

    @property
    def same(self) -> bool:
        """Whether it gave the first variant's very answers: what it changes held already."""
        found = self.difference
        return not self.first and found.mean == found.low == found.high == 0


def fidelity_models(artefacts: Artefacts) -> tuple[str, ...]:
    """The models of the study, in stored order."""
    return tuple(dict.fromkeys(artefacts.fidelity["model"]))


def variants(artefacts: Artefacts, model: str) -> list[Variant]:
    """A model's variants in stored order; the first is the reference."""
    rows = artefacts.fidelity[artefacts.fidelity["model"] == model]
    found = [_variant(row, at == 0) for at, (_, row) in enumerate(rows.iterrows())]
    together = next((v for v in found if v.name == TOGETHER), None)
    if together is None or not together.difference.below():
        return found
    loss, parts = together.difference.mean, set(together.settings)
    return [
        replace(v, share=v.difference.mean / loss)
        if v.settings and parts.issuperset(v.settings)
        else v
        for v in found
    ]


def _variant(row: "pd.Series[float]", first: bool) -> Variant:
    spreads = {
        split: Spread.stored(
            row[f"{split}_accuracy_mean"], row[f"{split}_accuracy_sd"], int(row["seeds"])
        )
        for split in ("dev", "test")
    }
    steps = row["test_mean_steps"]
    return Variant(
        name=str(row["variant"]),
        changes=str(row["changes"]),
        dev=spreads["dev"],
        test=spreads["test"],
        mean_steps=None if pd.isna(steps) else float(steps),
        difference=Interval.stored(row),
        pairs=int(row["pairs"]),
        first=first,
    )


def fidelity_table(artefacts: Artefacts, model: str) -> Table:
    """One row per variant of a model."""
    found = variants(artefacts, model)
    steps = any(v.mean_steps is not None for v in found)
    shares = any(v.share is not None for v in found)
    header = ["variant", "what it changes", "seeds", "dev accuracy, %", "test accuracy, %"]
    header += ["mean steps"] if steps else []
    header += ["difference, points (95 % interval)", "p"]
    header += ["share of the gap, %"] if shares else []
    rows = []
    for v in found:
        changes = f"`{v.changes}`" if v.changes else "nothing"
        row = [v.name, changes, str(v.test.n), v.dev.percent(), v.test.percent()]
        if steps:
            row.append(DASH if v.mean_steps is None else f"{v.mean_steps:.2f}")
        row += [DASH, DASH] if v.first else [v.difference.points(), p_value(v.difference.p)]
        if shares:
            row.append(DASH if v.share is None else whole(100 * v.share))
        rows.append(row)
    return Table(header, rows, left=2)


def fidelity_csv(artefacts: Artefacts) -> str:
    """The stored rows, each with its share of the gap; accuracies in [0, 1]."""
    models = fidelity_models(artefacts)
    shares = {(model, v.name): v.share for model in models for v in variants(artefacts, model)}
    table = artefacts.fidelity.round(dict.fromkeys(ACCURACIES, 12))
    table["share_of_gap"] = [
        shares[of] for of in zip(table["model"], table["variant"], strict=True)
    ]
    return table.to_csv(index=False)


def fidelity_note(artefacts: Artefacts, published: bool) -> str:
    """How to read the tables, and what the interval is; the published gap beside it."""
    found = [v for model in fidelity_models(artefacts) for v in variants(artefacts, model)]
    seeds, pairs = sorted({v.test.n for v in found}), sorted({v.pairs for v in found})
    times = listed([str(n) for n in seeds])
    scored = f"{pairs[0]:,}" if len(pairs) == 1 else f"{pairs[0]:,} to {pairs[-1]:,}"
    note = (
        "Every variant starts from the configuration chosen for its model and differs from it in "
        "the settings named; a table's first row is what the others are compared with. The "
        "*difference* is test accuracy minus that of the first row, over the pairs that both "
        f"scored ({scored}). Its 95 % interval is by Student's t over seeds and test pairs, those "
        f"of one premise together (n = {times} seed{'' if seeds == [1] else 's'}"
        f"{': for these trainings alone, so nothing is called clear' if seeds == [1] else ''}). "
        "Clear is what is clear among all claims of this report (Holm 1979)."
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
        single = [v for v in own if len(v.settings) == 1]
        said.append(_together(together, single, artefacts.level))
    said += [_outcomes("Of the deviations of the 2016 code,", own, artefacts.level)] if own else []
    said += [_outcomes("Of other choices,", choices, artefacts.level)] if choices else []
    return " ".join(said)


def _together(together: Variant, single: list[Variant], level: float) -> str:
    """All deviations at once, and how much of their loss the costliest single one makes."""
    gap = together.difference
    how = "clearly gain" if gap.above(level) else "do not clearly cost"
    if gap.below(level):
        how = "clearly cost"
    said = f"All deviations together (*{together.name}*) {how} accuracy: {gap.points()} points."
    worst = min(single, key=lambda v: v.difference.mean, default=None)
    if worst is None or worst.share is None:
        return said
    if not worst.difference.below(level):
        return f"{said} No single one of them clearly does."
    return (
        f"{said} Alone, the costliest, *{worst.name}*, makes {whole(100 * worst.share)} % of that."
    )


def _outcomes(whose: str, found: list[Variant], level: float) -> str:
    """What the variants did, those of one outcome together."""
    unclear = [v for v in found if not (v.difference.clear(level) or v.same)]
    outcomes = [
        ("clearly cost{} accuracy", [v for v in found if v.difference.below(level)]),
        ("clearly gain{} accuracy", [v for v in found if v.difference.above(level)]),
        ("make{} no clear difference", unclear),
        ("change{} nothing at all", [v for v in found if v.same]),
    ]
    named = {v.name: f"*{v.name}*" + ("" if v.same else f" {v.difference.points()}") for v in found}
    parts = [
        f"{listed([named[v.name] for v in group])} {did.format('s' if len(group) == 1 else '')}"
        for did, group in outcomes
        if group
    ]
    return f"{whose} {'; '.join(parts)}."
