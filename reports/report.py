"""The report: its sections, in their order."""

from collections.abc import Iterator

from reports.blocks import Report, Section
from reports.load import Artifacts
from reports.sections.ablation import ablation_section
from reports.sections.claims import claims, claims_section
from reports.sections.cloze import cloze_section
from reports.sections.curves import curves_section
from reports.sections.fidelity import fidelity_section
from reports.sections.graves import graves_section
from reports.sections.halting import halting_section
from reports.sections.multihop import multihop_section
from reports.sections.overview import overview
from reports.sections.pairs import pairs_section
from reports.sections.provenance import provenance_section, timings_section
from reports.sections.sizes import sizes_section
from reports.sections.steps import steps_section
from reports.sections.sweep import sweep_section
from reports.sections.table_1 import table_1_section

TITLE = "Adaptive computation for textual entailment"


def report(data: Artifacts, published: bool, examples: int) -> Report:
    """Return the whole report.

    Args:
        published: show what others published.
        examples: how many traced pairs can be browsed at most.
    """
    found = _sections(data, published, examples)
    return Report(TITLE, overview(data), [section for section in found if section is not None])


def _sections(data: Artifacts, published: bool, examples: int) -> Iterator[Section | None]:
    """Yield the sections; None for a study that was not run."""
    frame = claims(data)
    yield claims_section(frame, published)
    yield table_1_section(data, published)
    yield multihop_section(data)
    yield ablation_section(data, published)
    yield pairs_section(data, examples)
    yield steps_section(data)
    yield fidelity_section(data, frame)
    yield sizes_section(data, published)
    yield halting_section(data)
    yield graves_section(data)
    yield cloze_section(data, published)
    yield sweep_section(data)
    yield curves_section(data)
    yield provenance_section(data)
    yield timings_section(data)
