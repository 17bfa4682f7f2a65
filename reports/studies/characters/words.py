"""What the figures on characters say, whichever way they fall."""

from reports.findings import clearly, over_seeds
from reports.spread import KINDS, Spread, by_seed
from reports.stored.artefacts import Artefacts
from reports.studies.characters.readers import ByteKind, Reader, best_reader, readers
from reports.studies.graves.tasks import BOUNDARIES, CHARACTERS_REPORTED, HALTINGS, LETTER, NONE


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
