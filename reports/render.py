"""The report: its sections in their order, and its folder with page, tables and metrics."""

import json
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from actmodels.files import write_text
from reports.blocks import Report, Section, Table, Widget
from reports.charts.theme import page_spec, vega, write_pictures
from reports.load import Artifacts, load
from reports.sections.ablation import ablation_section
from reports.sections.claims import claims, claims_section
from reports.sections.cloze import cloze_section
from reports.sections.fidelity import fidelity_section
from reports.sections.halting import halting_section
from reports.sections.multihop import correlations, multihop_section, over_depths
from reports.sections.overview import overview
from reports.sections.pairs import pairs_section
from reports.sections.provenance import provenance_section, timings_section
from reports.sections.sequences import graves_section
from reports.sections.sizes import sizes_section
from reports.sections.steps import steps_section
from reports.sections.sweep import curves_section, sweep_section
from reports.sections.table_1 import systems, table_1_section

PAGE = Path(__file__).parent / "page"
TITLE = "Adaptive computation for textual entailment"


def report(data: Artifacts, published: bool, examples: int) -> Report:
    """Return the whole report, with or without published results; `examples` limits its pairs."""
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


def write_report(root: Path, folder: Path, published: bool, examples: int) -> dict[str, float]:
    """Write the report of the artifacts under `root` into `folder` and return its metrics.

    published: show what others published. examples: how many traced pairs the page holds at most.
    ArtifactError where an artifact is missing or stale; nothing is written then.
    """
    with ThreadPoolExecutor(1) as pool:
        pool.submit(vega)  # two seconds, in which the rest is made
        data = load(root)
        made, numbers = report(data, published, examples), metrics(data)
    lasting = [section for section in made.sections if not section.of_run]
    timings = [section for section in made.sections if section.of_run]
    texts = {
        "metrics.json": json.dumps(numbers, indent=1) + "\n",
        "report.md": render(made, "markdown", lasting),
        "timings.md": render(made, "markdown", timings, overview=False),
        "index.html": render(made, "html", made.sections),
        **{
            f"tables/{table.name}.csv": table.frame.to_csv(index=False)
            for table in made.parts(Table)
        },
    }
    write_pictures(made.charts, folder / "figures")
    for stray in (folder / "tables").glob("*.csv"):
        stray.unlink()  # of an earlier report
    for name, text in texts.items():
        write_text(folder / name, text)
    return numbers


def render(made: Report, form: str, sections: Sequence[Section], overview: bool = True) -> str:
    """Render the one template with the macros of a form, `html` or `markdown`."""
    environment = Environment(
        loader=FileSystemLoader(PAGE),
        autoescape=form == "html",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"plain": plain, "embedded": embedded, "spec": page_spec}
    files = {name: (PAGE / name).read_text("utf-8") for name in ("page.css", "page.js", "pairs.js")}
    return environment.get_template("report.jinja").render(
        report=made,
        sections=sections,
        overview=overview,
        form=form,
        files=files,
        vega=vega,
        widgets=made.parts(Widget),
    )


def plain(text: str) -> str:
    """Escape what Markdown would take for markup in a cell or a caption."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|~#" else c for c in text)


def embedded(value: Any) -> Markup:
    """Return JSON for a script element, which no text in it can close."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for mark in ("<", "\u2028", "\u2029"):
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return Markup(text)


def metrics(data: Artifacts) -> dict[str, float]:
    """Return known accuracies in [0, 1] and mean steps; tables/ has all figures."""
    flat: dict[str, float] = {"sweep.trials": len(data["sweep/trials"])}
    for row in systems(data).to_dict("records"):
        for column in ("test_accuracy", "dev_accuracy", "test_mean_steps"):
            name = f"{row['model']}.{column.replace('test_mean', 'mean')}"
            flat |= {f"{name}_{part}": row[f"{column}_{part}"] for part in ("mean", "sd")}
    for row in data["evaluate/paired"].to_dict("records"):
        flat[f"{row['model']}.minus_{row['reference']}"] = float(row["difference"])
    hops = over_depths(data).merge(correlations(data), on=["model", "run"])
    for row in hops.to_dict("records"):
        place = f"multihop.{row['model']}.{metric_name(row['run'])}"
        for name in ("trained_accuracy", "untrained_accuracy"):
            flat[f"{place}.{name}"] = row[f"{name}_mean"]
        flat[f"{place}.correlation"] = row["r"]
    return {name: value for name, value in flat.items() if not pd.isna(value)}


def metric_name(text: str) -> str:
    """Return a text as part of a metric's name; MLflow allows few signs besides letters."""
    return re.sub(r"[^A-Za-z0-9.-]+", "_", text).strip("_")
