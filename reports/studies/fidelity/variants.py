"""What each deviation of the 2016 code costs, one change at a time: figures and tables.

The figures are those of the stage `fidelity`; a model's first variant is what the others are
compared with.
"""

from dataclasses import dataclass, replace

import pandas as pd

from reports.markdown import DASH, Cell, Table, csv_text
from reports.spread import Interval, Spread, cells, whole
from reports.stored.artefacts import Artefacts
from reports.tables.comparisons import p_value

TOGETHER = "as published"  # the variant with all deviations, where there is one


@dataclass(frozen=True)
class Variant:
    """One variant of a model over its seeds; accuracies in [0, 1].

    changes: its settings that differ, `name: value` with commas between; empty if none does.
    difference: its test accuracy minus the first variant's, with a 95 % interval.
    largest_p: of McNemar's tests, one per seed.
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
    largest_p: float
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
    if together is None or not together.difference.below:
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
        difference=Interval(row["difference"], row["low"], row["high"], spreads["test"].n),
        largest_p=float(row["largest_p"]),
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
    header += ["difference, points (95 % interval)", "largest p"]
    header += ["share of the gap, %"] if shares else []
    rows = []
    for v in found:
        changes = f"`{v.changes}`" if v.changes else "nothing"
        row = [v.name, changes, str(v.test.n), v.dev.percent(), v.test.percent()]
        if steps:
            row.append(DASH if v.mean_steps is None else f"{v.mean_steps:.2f}")
        row += [DASH, DASH] if v.first else [v.difference.points(), p_value(v.largest_p)]
        if shares:
            row.append(DASH if v.share is None else whole(100 * v.share))
        rows.append(row)
    return Table(header, rows, left=2)


def fidelity_csv(artefacts: Artefacts) -> str:
    """Every variant, with its share of the gap; accuracies in [0, 1]."""
    header = ["model", "variant", "changes", "seeds", "dev_accuracy_mean", "dev_accuracy_sd"]
    header += ["test_accuracy_mean", "test_accuracy_sd", "test_mean_steps", "difference", "low"]
    header += ["high", "largest_p", "pairs", "share_of_gap"]
    rows: list[list[Cell]] = []
    for model in fidelity_models(artefacts):
        for v in variants(artefacts, model):
            row: list[Cell] = [model, v.name, v.changes, v.test.n, *cells(v.dev)]
            row += [*cells(v.test), v.mean_steps]
            row += [v.difference.mean, v.difference.low, v.difference.high]
            rows.append([*row, v.largest_p, v.pairs, v.share])
    return csv_text(header, rows)
