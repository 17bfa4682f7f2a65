"""Write the report's folder."""

import json
from dataclasses import replace
from pathlib import Path

from actmodels.files import write_text
from reports.blocks import FIGURES, Block, Chart, Heading, as_markdown
from reports.charts.look import write_pictures
from reports.metrics import metrics
from reports.page.page import write_page
from reports.report import TITLE, report
from reports.stored.artefacts import load
from reports.studies.fidelity import fidelity_csv
from reports.studies.graves.characters import characters_csv
from reports.studies.graves.runs import graves_csv
from reports.studies.halting import halting_csv
from reports.studies.nse.runs import nse_csv
from reports.tables.ablation import ablation_csv
from reports.tables.claims import claims_csv, claims_level
from reports.tables.sweep import steps_csv, sweep_csv
from reports.tables.table_1 import table_1_csv
from reports.tables.timings import timings


def write_report(root: Path, folder: Path, published: bool, examples: int) -> dict[str, float]:
    """Make the report of the artefacts under `root` in `folder`; its metrics.

    Args:
        root: the folder that holds one folder per stage; read only.
        published: show what others published on SNLI beside our figures.
        examples: how many traced pairs the page holds at most.

    Raises:
        ArtefactError: an artefact is missing, damaged or stale; nothing is written then.
    """
    artefacts = load(root)
    artefacts = replace(artefacts, level=claims_level(artefacts))
    blocks, speed = report(artefacts, published, examples), timings(artefacts)
    charts = {block.name: block.figure for block in blocks if isinstance(block, Chart)}
    write_pictures(charts, folder / FIGURES)
    numbers = metrics(artefacts)
    write_text(folder / "table1.csv", table_1_csv(artefacts, published))
    write_text(folder / "claims.csv", claims_csv(artefacts, published))
    write_text(folder / "ablation.csv", ablation_csv(artefacts))
    write_text(folder / "sweep.csv", sweep_csv(artefacts))
    write_text(folder / "fidelity.csv", fidelity_csv(artefacts))
    write_text(folder / "halting.csv", halting_csv(artefacts))
    write_text(folder / "graves.csv", graves_csv(artefacts))
    write_text(folder / "nse.csv", nse_csv(artefacts, published))
    write_text(folder / "characters.csv", characters_csv(artefacts))
    write_text(folder / "steps_by_epoch.csv", steps_csv(artefacts))
    write_text(folder / "metrics.json", json.dumps(numbers, indent=1) + "\n")
    write_text(folder / "timings.md", as_markdown(speed))
    write_text(folder / "report.md", as_markdown(blocks))
    write_page(folder / "index.html", TITLE, [*blocks, *map(_deeper, speed)])
    return numbers


def _deeper(block: Block) -> Block:
    """A heading one level further down, as in a part of another document."""
    return Heading(block.text, block.level + 1) if isinstance(block, Heading) else block
