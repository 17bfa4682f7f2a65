"""Characters of a text (Graves 2016, section 3.5): bits per character, steps by kind of byte."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from reports.blocks import Cell, Table, csv_text
from reports.findings import clearly, over_seeds
from reports.spread import KINDS, Spread, along, by_seed, cells, plain
from reports.stored.artefacts import Artefacts
from reports.studies.graves.runs import Run, graves_runs
from reports.studies.graves.tasks import (
    BOUNDARIES,
    BYTE_KINDS,
    CHARACTERS,
    CHARACTERS_REPORTED,
    HALTINGS,
    LETTER,
    NONE,
)

NATS = math.log(2)  # of one bit


@dataclass(frozen=True)
class ByteKind:
    """What a run does on bytes of one kind, over its seeds.

    share: of all bytes read, in [0, 1]. by_seed: mean steps by seed; steps: their spread.
    ponder: N + R; both None without halting. bits: loss of the byte that comes next, entropy: of
    the prediction; in bits.
    """

    name: str
    share: float
    by_seed: Mapping[int, float]
    steps: Spread | None
    ponder: Spread | None
    bits: Spread
    entropy: Spread


@dataclass(frozen=True)
class Reader:
    """A run on characters; figures are on dev, at best epochs.

    run: what it has in common with runs on the other tasks, whose error is here the share of bytes
        not predicted right.
    by_seed: bits per character by seed. ponder: N + R of a byte; None without halting.
    kinds: those that were read, by name.
    """

    run: Run
    by_seed: Mapping[int, float]
    ponder: Spread | None
    kinds: Mapping[str, ByteKind]

    @property
    def bits(self) -> Spread:
        """Bits per character."""
        return Spread.of(list(self.by_seed.values()))


def readers(artefacts: Artefacts) -> list[Reader]:
    """The runs on characters, in stored order."""
    return [_reader(artefacts, run) for run in graves_runs(artefacts, CHARACTERS)]


def _reader(artefacts: Artefacts, run: Run) -> Reader:
    table, kinds = artefacts.graves, artefacts.graves_bytes
    rows = table[(table["task"] == CHARACTERS) & (table["run"] == run.name)]
    read = kinds[kinds["run"] == run.name]
    of_seed = max(int(read["bytes"].sum()), 1)
    return Reader(
        run,
        {int(seed): loss / NATS for seed, loss in zip(rows["seed"], rows["dev_loss"], strict=True)},
        Spread.known(rows["dev_ponder_cost"]),
        {
            kind: _kind(kind, of, of_seed)
            for kind in BYTE_KINDS
            if not (of := read[read["kind"] == kind]).empty
        },
    )


def _kind(kind: str, rows: pd.DataFrame, total: int) -> ByteKind:
    stepping = rows.dropna(subset=["steps"])
    return ByteKind(
        kind,
        int(rows["bytes"].sum()) / total,
        dict(zip(map(int, stepping["seed"]), map(float, stepping["steps"]), strict=True)),
        Spread.known(rows["steps"]),
        Spread.known(rows["ponder"]),
        Spread.of(rows["loss"] / NATS),
        Spread.of(rows["entropy"] / NATS),
    )


def best_reader(found: list[Reader], halting: str) -> Reader | None:
    """The run of fewest bits per character of those that halt so; the first of equals."""
    of = [reader for reader in found if reader.run.halting == halting]
    return min(of, key=lambda reader: reader.bits.mean, default=None)


def bits_curve(artefacts: Artefacts, reader: Reader) -> dict[int, Spread]:
    """Bits per character on dev by epoch, over the seeds that reached it."""
    table = artefacts.graves_history
    rows = table[(table["task"] == CHARACTERS) & (table["run"] == reader.run.name)]
    whole = rows.assign(bits=rows["dev_loss"] / NATS).groupby("epoch").filter(_is_whole)
    return along(whole, "epoch", "bits")


def _is_whole(rows: pd.DataFrame) -> bool:
    return bool(rows["dev_loss"].notna().all())


def characters_table(artefacts: Artefacts) -> Table:
    """One row per run."""
    found = readers(artefacts)
    diverged = any(reader.run.diverged for reader in found)
    header = ["run", "seeds", "bits per character", "bytes wrong, %", "mean steps per byte"]
    header += ["mean N + R", "parameters"]
    rows = []
    for reader in found:
        run = reader.run
        row = [run.label, str(run.error.n), reader.bits.plain(), run.error.percent()]
        row += [plain(run.steps), plain(reader.ponder), f"{run.parameters:,}"]
        rows.append([*row, f"{run.diverged} of {run.error.n}"] if diverged else row)
    return Table([*header, "runs diverged"] if diverged else header, rows)


def kinds_table(artefacts: Artefacts) -> Table:
    """One row per kind of byte, of each run that halts."""
    header = ["run", "kind of byte", "share, %", "mean steps", "mean N + R"]
    header += ["bits of the byte after it", "entropy of its prediction, bits"]
    rows = [
        [reader.run.label, *_kind_cells(kind)]
        for reader in readers(artefacts)
        if reader.run.halting != NONE
        for kind in reader.kinds.values()
    ]
    return Table(header, rows, left=2)


def _kind_cells(kind: ByteKind) -> list[str]:
    steps, ponder = plain(kind.steps), plain(kind.ponder)
    share = f"{100 * kind.share:.1f}"
    return [kind.name, share, steps, ponder, kind.bits.plain(), kind.entropy.plain()]


def characters_csv(artefacts: Artefacts) -> str:
    """Every run: bits, `minus_without` against the best run without ACT, and steps by kind."""
    found = readers(artefacts)
    without = best_reader(found, NONE)
    header = ["run", "halting", "ponder_weight", "seeds", "diverged", "parameters"]
    header += ["bits_mean", "bits_sd", "wrong_mean", "wrong_sd", "mean_steps_mean", "mean_steps_sd"]
    header += ["ponder_mean", "ponder_sd", "minus_without_mean", "minus_without_sd"]
    header += [f"steps at {kind}" for kind in BYTE_KINDS]
    rows: list[list[Cell]] = []
    for reader in found:
        run = reader.run
        gap = None
        if without is not None and reader is not without:
            gap = by_seed(reader.by_seed, without.by_seed)
        row: list[Cell] = [run.name, run.halting, run.ponder_weight, run.error.n, run.diverged]
        row += [run.parameters, *cells(reader.bits), *cells(run.error), *cells(run.steps)]
        row += [*cells(reader.ponder), *cells(gap)]
        at = [reader.kinds[kind].steps if kind in reader.kinds else None for kind in BYTE_KINDS]
        rows.append([*row, *(None if steps is None else steps.mean for steps in at)])
    return csv_text(header, rows)


def characters_note(artefacts: Artefacts) -> str:
    """How to read the tables and the figures."""
    over = over_seeds(len(reader.by_seed) for reader in readers(artefacts))
    return (
        "Recurrent networks that read a text byte by byte and predict the next one (Graves 2016, "
        "section 3.5), each window from a state of zeros. *Bits per character* are the mean loss, "
        "*bytes wrong* those that were not thought the likeliest, on windows of a part of the text "
        "that is not trained on, at the epoch with the fewest bytes wrong, which those very "
        "windows chose; so is the best of several ponder weights, and both are optimistic. *Mean "
        "steps* are N of a byte; N + R, which training pays for, hardly tells one step (2) from "
        f"two of which the second weighs little ({over}). Figures by kind of byte are of other "
        "windows of the same part, the same for all runs; the passage is read in one go. "
        "Differences, paired by seed, are called clear if the 95 % interval of their mean over "
        "seeds, by Student's t, leaves out zero; nothing is corrected for their number."
    )


def characters_sentences(artefacts: Artefacts, published: bool) -> str:
    """Bits against those without ACT, where the steps are taken, and what Graves reports."""
    found = readers(artefacts)
    said = [_against_none(found, halting) for halting in HALTINGS if halting != NONE]
    said += [_pauses(reader) for reader in found if reader.run.halting != NONE]
    said += [CHARACTERS_REPORTED] if published else []
    return " ".join(filter(None, said))


def _against_none(found: list[Reader], halting: str) -> str:
    """The best of one way of halting against the best without any; empty without both."""
    best, without = best_reader(found, halting), best_reader(found, NONE)
    gap = None if best is None or without is None else by_seed(best.by_seed, without.by_seed)
    if best is None or without is None or gap is None:
        return ""
    count = sum(reader.run.halting == halting for reader in found)
    of = f", the best of {count} on dev" if count > 1 else ""
    return (
        f"Bits per character with {KINDS[halting]} (*{best.run.label}*{of}) are "
        f"{best.bits.plain()}, *{without.run.label}* {without.bits.plain()}: {_fewer(gap)} "
        f"({gap.change()} bits, {_over(gap)})."
    )


def _fewer(gap: Spread) -> str:
    return clearly(gap, "fewer", "more", "neither fewer nor more")


def _over(gap: Spread) -> str:
    return "n = 1, no spread" if gap.sd is None else f"sd over {gap.n} paired seeds"


def _pauses(reader: Reader) -> str:
    """Whether a run takes more steps where a reader would pause than on letters."""
    letter = reader.kinds.get(LETTER)
    if letter is None or letter.steps is None:
        return ""
    gaps = [
        (kind.name, gap)
        for kind in reader.kinds.values()
        if kind.name in BOUNDARIES and (gap := by_seed(kind.by_seed, letter.by_seed)) is not None
    ]
    if not gaps:
        return ""
    each = [f"{_fewer(gap)} on a {name} ({gap.change()})" for name, gap in gaps]
    most = max(reader.kinds.values(), key=_steps)
    return (
        f"*{reader.run.label}* takes {letter.steps.plain()} steps on a letter, and compared with "
        f"that {'; '.join(each)} ({_over(gaps[0][1])}); most, {_steps(most):.2f}, on a "
        f"{most.name}: {_verdict([gap for _, gap in gaps])}."
    )


def _steps(kind: ByteKind) -> float:
    return 0.0 if kind.steps is None else kind.steps.mean


def _verdict(gaps: list[Spread]) -> str:
    more = sum(gap.clear and gap.mean > 0 for gap in gaps)
    fewer = sum(gap.clear and gap.mean < 0 for gap in gaps)
    if more == len(gaps):
        return "it clearly pauses at every kind of boundary"
    if more:
        return f"it clearly pauses at {more} of the {len(gaps)} kinds of boundaries"
    if fewer:
        return f"it pauses clearly at no kind of boundary, and hurries over {fewer}"
    return "it pauses clearly at no kind of boundary"
