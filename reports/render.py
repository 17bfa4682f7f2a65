"""Compose the report, and write its page, Markdown, tables, figures and metrics."""

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from actmodels.files import write_text
from reports import format as fmt
from reports.blocks import Report, Section, StudyReport, StudyReports, Table, Widget
from reports.load import Artifacts, load
from reports.marks import page_spec, vega, write_pictures
from reports.sections.ablation import ablation_section
from reports.sections.claims import claims, claims_section
from reports.sections.overview import highlighted, metrics, overview
from reports.sections.pairs import pairs_section
from reports.sections.provenance import provenance_section, timings_section
from reports.sections.steps import steps_section
from reports.sections.sweep import curves_section, sweep_section
from reports.sections.table_1 import table_1_section

PAGE = Path(__file__).parent / "page"
JSON_OPTIONS = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}
Note: TypeAlias = "tuple[pd.Series[str], str]"  # labels of a run that diverged, and a sentence
TITLE = "Adaptive computation for sentence pairs"


def report(
    data: Artifacts, studies: StudyReports, examples: int, further: Sequence[Section] = ()
) -> Report:
    """Return the report with at most `examples` pairs, and further sections after the sweep's."""
    frame = claims(data, studies)
    highlights = highlighted(data, studies)
    seeds = [
        (pd.Series({"model": model}), f"{fmt.title(model)}: {text} diverged, not in the means.")
        for model, text in data.diverged.items()
    ]
    sections = [
        noted(claims_section(frame), seeds),
        noted(table_1_section(data), seeds),
        *(
            noted(study.section(data, frame), [*diverged_runs(data, name, study)])
            for name, study in studies.items()
        ),
        noted(ablation_section(data), seeds),
        pairs_section(data, examples),
        noted(steps_section(data), seeds),
        sweep_section(data),
        *further,
        curves_section(data),
        provenance_section(data),
        timings_section(data, studies),
    ]
    return Report(TITLE, overview(data, highlights), [one for one in sections if one is not None])


def noted(section: Section | None, notes: Sequence[Note]) -> Section | None:
    """Add the notes on diverged runs to the captions of the tables that have their means."""
    if section is None:
        return None
    parts = [
        replace(part, caption=" ".join(filter(None, [part.caption, *notes_of(part, notes)])))
        if isinstance(part, Table) and part.name != "published"
        else part
        for part in section.parts
    ]
    return replace(section, parts=parts)


def notes_of(part: Table, notes: Sequence[Note]) -> Iterator[str]:
    """Yield the notes on runs of a table: by the columns of their labels, else by their names."""
    for labels, note in notes:
        shared = [name for name in labels.index if name in part.frame]
        named = any(note.partition(":")[0] in cell for row in part.rows for cell in row)
        if (part.frame[shared] == labels[shared]).all(axis=1).any() if shared else named:
            yield note


def diverged_runs(data: Artifacts, name: str, study: StudyReport) -> Iterator[Note]:
    """Yield a note on each run that diverged of a study with such a column in its results."""
    results = data.tables.get(f"{name}/results", pd.DataFrame())
    for _, row in results[results.get("diverged", pd.Series(dtype=bool)).eq(True)].iterrows():
        labels = row[[*study.run]]
        run = f"{', '.join(map(str, labels))}: seed {row['seed']} (epoch {row['epochs']})"
        yield labels, f"{run} diverged; the means have its best epoch before."


def write_report(
    root: Path,
    folder: Path,
    studies: StudyReports,
    examples: int,
    further: Sequence[Section] = (),
) -> dict[str, float]:
    """Write the report of the artifacts under `root` into `folder`, and return its metrics.

    Args:
        studies: those with a section.
        examples: maximum number of traced pairs on the page.
        further: sections after the sweep's.

    Raises:
        ArtifactError: an artifact is missing or out of date; nothing is written.
    """
    with ThreadPoolExecutor(1) as pool:
        pool.submit(vega)  # takes two seconds: run it in parallel
        data = load(root, {name: study.columns for name, study in studies.items()})
        built = report(data, studies, examples, further)
        numbers = metrics(data, highlighted(data, studies))
    stable = [section for section in built.sections if not section.volatile]
    timings = [section for section in built.sections if section.volatile]
    tables = {f"tables/{table.name}.csv": table.frame for table in built.parts(Table)}
    texts = {
        "metrics.json": json.dumps({"model": data.best_on_dev} | numbers, indent=1) + "\n",
        "report.md": render(built, "markdown", stable),
        "timings.md": render(built, "markdown", timings, overview=False),
        "index.html": render(built, "html", built.sections),
        **{name: frame.to_csv(index=False) for name, frame in tables.items()},
    }
    write_pictures(built.charts, folder / "figures")
    for name, text in texts.items():
        write_text(folder / name, text)
    current = {folder / name for name in texts}
    current |= {folder / "figures" / f"{chart.name}.png" for chart in built.charts}
    for path in {*folder.glob("figures/*.png"), *folder.glob("tables/*.csv")} - current:
        path.unlink()  # left over from an earlier report
    return numbers


def render(
    report: Report, output_format: str, sections: Sequence[Section], overview: bool = True
) -> str:
    """Render sections, and optionally the overview, as `html` or `markdown`."""
    environment = Environment(
        loader=FileSystemLoader(PAGE),
        autoescape=output_format == "html",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"plain": plain, "spec": page_spec, "source_hash": source_hash}
    environment.policies["json.dumps_kwargs"] = JSON_OPTIONS
    css, *own = ((PAGE / name).read_text("utf-8") for name in ("page.css", "page.js", "pairs.js"))
    scripts = [vega().replace("</script", "<\\/script"), *own] if output_format == "html" else []
    return environment.get_template("report.jinja").render(
        report=report,
        sections=sections,
        overview=report.overview if overview else None,
        form=output_format,
        css=css,
        scripts=scripts,
        widgets=report.parts(Widget),
    )


def source_hash(script: str) -> str:
    """Return the source of a Content-Security-Policy that allows a script of this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def plain(text: str) -> str:
    """Escape Markdown markup in a cell or a caption."""
    return "".join(f"\\{c}" if c in "\\`*_[]<>|~#" else c for c in text)
