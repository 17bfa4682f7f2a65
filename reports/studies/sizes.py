"""Accuracy by number of training pairs, and what a power law foretells: tables and words."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from reports.blocks import DASH, Table
from reports.findings import counted, listed, over_seeds
from reports.published import FORETOLD, SNLI_TRAIN, Corpus, Published, published_row
from reports.spread import Spread, title
from reports.stored.artefacts import Artefacts


@dataclass(frozen=True)
class Size:
    """A model on so many training pairs; accuracies in [0, 1].

    cut_off: how many of its runs ended before dev accuracy had stopped improving.
    """

    pairs: int
    epochs: float
    dev: Spread
    test: Spread
    cut_off: int
    fitted: bool


@dataclass(frozen=True)
class Law:
    """error = floor + scale · pairs^-exponent, and the accuracy that it foretells at `pairs`.

    why_not: why it says nothing; empty where it does.
    """

    without_largest: bool
    sizes: int
    formula: str
    pairs: int
    accuracy: float
    low: float
    high: float
    why_not: str

    def percent(self) -> str:
        """`85.1 (83.9 to 86.0)`."""
        low, high = f"{100 * self.low:.1f}", f"{100 * self.high:.1f}"
        return f"{100 * self.accuracy:.1f} ({low} to {high})"

    def has(self, accuracy: float) -> bool:
        """Whether an accuracy is within the interval."""
        return self.low <= accuracy <= self.high


def sized_models(artefacts: Artefacts) -> tuple[str, ...]:
    """The models of the study, in stored order."""
    return tuple(dict.fromkeys(artefacts.sizes["model"]))


def sizes(artefacts: Artefacts, model: str) -> list[Size]:
    """Those of a model, the smallest first."""
    rows = artefacts.sizes[artefacts.sizes["model"] == model]
    return [_size(row) for _, row in rows.iterrows()]


def _size(row: "pd.Series[float]") -> Size:
    n = int(row["seeds"])
    dev, test = (
        Spread.stored(row[f"{split}_accuracy_mean"], row[f"{split}_accuracy_sd"], n)
        for split in ("dev", "test")
    )
    cut_off = round(row["cut_off"] * n)
    return Size(int(row["pairs"]), float(row["epochs"]), dev, test, cut_off, bool(row["fitted"]))


def laws(artefacts: Artefacts, model: str) -> list[Law]:
    """That of all sizes, and that without the largest; none of too few sizes."""
    rows = artefacts.laws[artefacts.laws["model"] == model]
    return [_law(row) for _, row in rows.iterrows()]


def _law(row: "pd.Series[float]") -> Law:
    wide = f"its interval is {100 * (row['high'] - row['low']):.0f} points wide"
    why_not = "its exponent is at an end of what is tried" if row["bounded"] else ""
    return Law(
        without_largest=bool(row["without_largest"]),
        sizes=int(row["sizes"]),
        formula=f"{row['floor']:.3f} + {row['scale']:.3g} · n^−{row['exponent']:.2f}",  # noqa: RUF001
        pairs=int(row["pairs"]),
        accuracy=float(row["accuracy"]),
        low=float(row["low"]),
        high=float(row["high"]),
        why_not=why_not or (wide if row["wide"] else ""),
    )


def beside(artefacts: Artefacts, model: str, published: bool) -> list[Published]:
    """What others published of a model on all of SNLI; nothing beside another corpus."""
    if not published or Corpus.of(artefacts).source != "snli":
        return []
    return [published_row(system) for system in FORETOLD.get(model, ())]


def sizes_table(artefacts: Artefacts) -> Table:
    """One row per model and size."""
    header = ["model", "training pairs", "seeds", "epochs", "dev accuracy, %", "test accuracy, %"]
    rows = [
        [
            *(title(model), f"{at.pairs:,}", str(at.test.n), f"{at.epochs:.0f}"),
            *(at.dev.percent(), at.test.percent(), f"{at.cut_off} of {at.test.n}"),
            "yes" if at.fitted else "no",
        ]
        for model in sized_models(artefacts)
        for at in sizes(artefacts, model)
    ]
    return Table([*header, "runs cut off", "fitted"], rows)


def laws_table(artefacts: Artefacts, published: bool) -> Table:
    """Predictions, each beside what was measured or published."""
    header = ["model", "fitted to", "error at n pairs", "foretold at", "test accuracy, %"]
    rows = []
    for model in sized_models(artefacts):
        for law in laws(artefacts, model):
            of = "all but the largest" if law.without_largest else f"{law.sizes} sizes"
            found = f"{law.percent()}{'; not usable' if law.why_not else ''}"
            row = [title(model), of, law.formula, f"{law.pairs:,}", found]
            rows.append([*row, _known(artefacts, model, law, published)])
    return Table([*header, "measured or published, %"], rows, left=3)


def _known(artefacts: Artefacts, model: str, law: Law, published: bool) -> str:
    measured = [at.test.percent() for at in sizes(artefacts, model) if at.pairs == law.pairs]
    if not law.without_largest and law.pairs == SNLI_TRAIN:
        measured += [f"{row.accuracy:.1f}" for row in beside(artefacts, model, published)]
    return " / ".join(measured) or DASH


def sizes_note(artefacts: Artefacts) -> str:
    """How to read tables and figure, and what the interval leaves out."""
    found = [at for model in sized_models(artefacts) for at in sizes(artefacts, model)]
    return (
        "The chosen configurations, trained anew on parts of the training pairs: premises are "
        "drawn once, whatever the seed, each with all its hypotheses, and smaller parts lie within "
        f"larger ones ({over_seeds(at.test.n for at in found)}). All parts have as many updates at "
        "most. Dev chooses each run's epoch; errors are of test. The power law (Hestness et al. "
        "2017) is fitted by least squares, each size by its variance, the floor not below zero; a "
        "95 % interval is of bootstrap draws of seeds and of test pairs, those of one premise "
        "together. It is of a mean over seeds, and leaves out that the law itself may not hold so "
        "far away, and that other settings may be best with more pairs; the prediction made "
        "without the largest size is the one that can be checked here."
    )


def sizes_sentences(artefacts: Artefacts, published: bool) -> str:
    """What is foretold of each model, whether it held, and why it says nothing if so."""
    return " ".join(
        sentence
        for model in sized_models(artefacts)
        for sentence in _sentences(artefacts, model, published)
    )


def _sentences(artefacts: Artefacts, model: str, published: bool) -> Iterator[str]:
    name, found = title(model), sizes(artefacts, model)
    if cut := sum(at.cut_off for at in found):
        runs = counted(cut, "run")
        yield f"{name}: {runs} ended while dev accuracy still rose, so errors may be too large."
    if not laws(artefacts, model):
        yield f"{name}: too few sizes to fit a law to."
    for law in laws(artefacts, model):
        said = f"{name}, {'without its largest size' if law.without_largest else 'of all sizes'}"
        if law.why_not:
            yield f"{said}: the law says nothing at {law.pairs:,} pairs ({law.why_not})."
            continue
        said = f"{said}: {law.percent()} % at {law.pairs:,} pairs"
        if law.without_largest:
            measured = found[-1].test
            held = "within" if law.has(measured.mean) else "outside"
            yield f"{said}; measured {measured.percent()}, {held} the interval."
            continue
        known = beside(artefacts, model, published) if law.pairs == SNLI_TRAIN else []
        each = [f"{row.accuracy:.1f} ({row.source})" for row in known]
        yield f"{said}{f'; published {listed(each)}' if each else ''}."
