"""The report: its sections, in their order."""

from reports.blocks import Report
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
    """Return the whole report, with published results or without, and at most so many pairs."""
    frame = claims(data)
    found = [
        claims_section(frame, published),
        table_1_section(data, published),
        multihop_section(data),
        ablation_section(data, published),
        pairs_section(data, examples),
        steps_section(data),
        fidelity_section(data, frame),
        sizes_section(data, published),
        halting_section(data),
        graves_section(data),
        cloze_section(data, published),
        sweep_section(data),
        curves_section(data),
        provenance_section(data),
        timings_section(data),
    ]
    sections = [section for section in found if section is not None]  # None: it was not run
    return Report(TITLE, overview(data), sections)
