"""Characters of a text (Graves 2016, section 3.5): bits per character, steps by kind of byte."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from reports.blocks import Cell, Table, csv_text
from reports.findings import clearly, over_seeds, paired_seeds
from reports.spread import Spread, along, by_seed, cells, plain
from reports.stored.artefacts import Artefacts
from reports.studies.graves.runs import Run, best_run, gap_of, graves_runs, of_run
from reports.studies.graves.tasks import (
    BOUNDARIES,
    BYTE_KINDS,
    CHARACTERS,
    CHARACTERS_REPORTED,
    LETTER,
    NONE,
)
from reports.studies.graves.words import against_none, haltings

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
class Reader(Run):
    """A run on characters, whose errors are the share of bytes not predicted right.

    bits_by_seed: bits per character. ponder: N + R of a byte; None without halting.
    kinds: those that were read, by name.
    """

    bits_by_seed: Mapping[int, float]
    ponder: Spread | None
    kinds: Mapping[str, ByteKind]

    @property
    def compared(self) -> Mapping[int, float]:
        """Bits per character, by seed."""
        return self.bits_by_seed

    @property
    def bits(self) -> Spread:
        """Bits per character."""
        return Spread.of(list(self.bits_by_seed.values()))


def readers(artefacts: Artefacts) -> list[Reader]:
    """The runs on characters, in stored order."""
    return [_reader(artefacts, run) for run in graves_runs(artefacts, CHARACTERS)]


def _reader(artefacts: Artefacts, run: Run) -> Reader:
    rows = of_run(artefacts.graves, CHARACTERS, run.name)
    read = artefacts.graves_bytes[artefacts.graves_bytes["run"] == run.name]
    of_seed = max(int(read["bytes"].sum()), 1)
    return Reader(
        **vars(run),
        bits_by_seed=dict(zip(rows["seed"], rows["dev_loss"] / NATS, strict=True)),
        ponder=Spread.known(rows["dev_ponder_cost"]),
        kinds={
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


def bits_curve(artefacts: Artefacts, reader: Reader) -> dict[int, Spread]:
    """Bits per character on dev by epoch, over the seeds that reached it."""
    rows = of_run(artefacts.graves_history, CHARACTERS, reader.name)
    whole = rows.groupby("epoch")["dev_loss"].transform(lambda losses: losses.notna().all())
    return along(rows[whole.astype(bool)].assign(bits=rows["dev_loss"] / NATS), "epoch", "bits")


def characters_table(artefacts: Artefacts) -> Table:
    """One row per run."""
    found = readers(artefacts)
    diverged = any(reader.diverged for reader in found)
    header = ["run", "seeds", "bits per character", "bytes wrong, %", "mean steps per byte"]
    header += ["mean N + R", "parameters"]
    rows = []
    for run in found:
        row = [run.label, str(run.error.n), run.bits.plain(), run.error.percent()]
        row += [plain(run.steps), plain(run.ponder), f"{run.parameters:,}"]
        rows.append([*row, f"{run.diverged} of {run.error.n}"] if diverged else row)
    return Table([*header, "runs diverged"] if diverged else header, rows)


def kinds_table(artefacts: Artefacts) -> Table:
    """One row per kind of byte, of each run that halts."""
    header = ["run", "kind of byte", "share, %", "mean steps", "mean N + R"]
    header += ["bits of the byte after it", "entropy of its prediction, bits"]
    rows = [
        [
            *(reader.label, kind.name, f"{100 * kind.share:.1f}", plain(kind.steps)),
            *(plain(kind.ponder), kind.bits.plain(), kind.entropy.plain()),
        ]
        for reader in readers(artefacts)
        if reader.halting != NONE
        for kind in reader.kinds.values()
    ]
    return Table(header, rows, left=2)


def characters_csv(artefacts: Artefacts) -> str:
    """Every run: bits, `minus_without` against the best run without ACT, and steps by kind."""
    found = readers(artefacts)
    without = best_run(found, NONE)
    header = ["run", "halting", "ponder_weight", "seeds", "diverged", "parameters"]
    header += ["bits_mean", "bits_sd", "wrong_mean", "wrong_sd", "mean_steps_mean", "mean_steps_sd"]
    header += ["ponder_mean", "ponder_sd", "minus_without_mean", "minus_without_sd"]
    header += [f"steps at {kind}" for kind in BYTE_KINDS]
    rows: list[list[Cell]] = []
    for run in found:
        gap = None if without is None or run is without else gap_of(run, without)
        row: list[Cell] = [run.name, run.halting, run.ponder_weight, run.error.n, run.diverged]
        row += [run.parameters, *cells(run.bits), *cells(run.error), *cells(run.steps)]
        row += [*cells(run.ponder), *cells(gap)]
        at = [run.kinds[kind].steps if kind in run.kinds else None for kind in BYTE_KINDS]
        rows.append([*row, *(None if steps is None else steps.mean for steps in at)])
    return csv_text(header, rows)


def characters_note(artefacts: Artefacts) -> str:
    """How to read the tables and the figures."""
    over = over_seeds(len(reader.errors) for reader in readers(artefacts))
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
    said = [_against_none(found, halting) for halting in haltings(found)]
    said += [_pauses(reader) for reader in found if reader.halting != NONE]
    said += [CHARACTERS_REPORTED] if published else []
    return " ".join(filter(None, said))


def _against_none(found: list[Reader], halting: str) -> str:
    return against_none(
        found,
        halting,
        "Bits per character with {best} are {figure}, {none} {other}: {difference}.",
        lambda reader: reader.bits.plain(),
        lambda gap: f"{_fewer(gap)} ({gap.change()} bits, {paired_seeds(gap)})",
    )


def _fewer(gap: Spread) -> str:
    return clearly(gap, "fewer", "more", "neither fewer nor more")


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
        f"*{reader.label}* takes {letter.steps.plain()} steps on a letter, and compared with "
        f"that {'; '.join(each)} ({paired_seeds(gaps[0][1])}); most, {_steps(most):.2f}, on a "
        f"{most.name}: {_verdict([gap for _, gap in gaps])}."
    )


def _steps(kind: ByteKind) -> float:
    return 0.0 if kind.steps is None else kind.steps.mean


def _verdict(gaps: list[Spread]) -> str:
    more = sum(gap.clear() and gap.mean > 0 for gap in gaps)
    fewer = sum(gap.clear() and gap.mean < 0 for gap in gaps)
    if more == len(gaps):
        return "it clearly pauses at every kind of boundary"
    if more:
        return f"it clearly pauses at {more} of the {len(gaps)} kinds of boundaries"
    if fewer:
        return f"it pauses clearly at no kind of boundary, and hurries over {fewer}"
    return "it pauses clearly at no kind of boundary"
