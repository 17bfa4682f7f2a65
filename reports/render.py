"""Compose the report and write its folder."""

import json
from collections.abc import Mapping
from pathlib import Path

from actmodels.files import write_text
from reports.ablation import ablation_csv, ablation_note, ablation_table
from reports.artefacts import Artefacts, load
from reports.depth import depth_models, depth_sentence, depth_table
from reports.figures import draw_all
from reports.findings import summary
from reports.metrics import metrics
from reports.spread import PLUS_MINUS, title
from reports.sweep import (
    diverged,
    margin_table,
    range_table,
    sweep_csv,
    sweep_models,
    top_table,
    varied,
)
from reports.tables import table_1, table_1_csv, table_1_note
from reports.timings import timings

# Alternative texts of the figures; their captions stand in the sections that show them.
FIGURES = {
    "ablation": "Dev accuracy by number of inference steps, fixed and adaptive",
    "learning_curves": "Accuracy by epoch of each retrained seed",
    "ponder_weight": "Dev accuracy and mean steps by ponder weight",
    "depth": "Test accuracy and mean steps by recorded reasoning depth",
}


def write_report(root: Path, folder: Path, published: bool) -> dict[str, float]:
    """Make the report of the artefacts under `root` in `folder`; its metrics.

    Args:
        root: the folder that holds one folder per stage; read only.
        published: show what others published on SNLI beside our figures.

    Raises:
        ArtefactError: an artefact is missing, damaged or stale; nothing is written then.
    """
    artefacts = load(root)
    figures = draw_all(artefacts, folder / "figures")
    figures_shown = {name: path.relative_to(folder) for name, path in figures.items()}
    numbers = metrics(artefacts)
    write_text(folder / "table1.csv", table_1_csv(artefacts, published))
    write_text(folder / "ablation.csv", ablation_csv(artefacts))
    write_text(folder / "sweep.csv", sweep_csv(artefacts))
    write_text(folder / "metrics.json", json.dumps(numbers, indent=1) + "\n")
    write_text(folder / "timings.md", timings(artefacts))
    write_text(folder / "report.md", report(artefacts, figures_shown, published))
    return numbers


def report(artefacts: Artefacts, figures: Mapping[str, Path], published: bool) -> str:
    """The report as markdown; `figures` are paths relative to it, by name."""
    images = {name: f"![{FIGURES[name]}]({path.as_posix()})" for name, path in figures.items()}
    parts = [
        "# Adaptive computation for textual entailment: report",
        summary(artefacts),
        "## Table 1: test accuracy",
        table_1(artefacts, published),
        table_1_note(artefacts, published),
        *_ablation(artefacts, images, published),
        *_depth(artefacts, images),
        "## Learning curves of the retrained models",
        images["learning_curves"],
        *_sweep(artefacts, images),
        "## Where the figures come from",
        *_origin(artefacts),
    ]
    return "\n\n".join(parts) + "\n"


def _ablation(artefacts: Artefacts, images: Mapping[str, str], published: bool) -> list[str]:
    if artefacts.ablated is None:
        return []
    return [
        f"## Fixed against adaptive steps: {title(artefacts.ablated)}",
        ablation_table(artefacts, published),
        ablation_note(artefacts),
        images["ablation"],
    ]


def _depth(artefacts: Artefacts, images: Mapping[str, str]) -> list[str]:
    if not depth_models(artefacts):
        return []
    sentences = [depth_sentence(artefacts, model) for model in depth_models(artefacts)]
    said = [" ".join(filter(None, sentences))] if any(sentences) else []
    return ["## By recorded reasoning depth", *said, depth_table(artefacts), images["depth"]]


def _sweep(artefacts: Artefacts, images: Mapping[str, str]) -> list[str]:
    parts = [
        "## Sweep",
        range_table(artefacts),
        "Dev accuracy is that of each trial's best epoch. The best of many trials is chosen on "
        "the very pairs that score it, so it is optimistic; the test figures above are not."
        f"{diverged(artefacts)}",
    ]
    for model in sweep_models(artefacts):
        parts += [f"### {title(model)}: best configurations", top_table(artefacts, model)]
        if varied(artefacts, model):
            parts += [
                f"### {title(model)}: each setting by itself",
                f"Mean {PLUS_MINUS} sd over all trials with that value, whatever their others.",
                margin_table(artefacts, model),
            ]
    return [*parts, images["ponder_weight"]] if "ponder_weight" in images else parts


def _origin(artefacts: Artefacts) -> list[str]:
    lines = [
        f"- Grid `{artefacts.sweep['grid_hash']}`, {artefacts.sweep['trials']} trials, all done.",
        f"- Tensors `{artefacts.tensors['digest']}`.",
    ]
    for model in artefacts.models:
        best = artefacts.best[model]
        rule = "no other had its dev accuracy"
        if best["tied"] > 1:
            rule = f"of {best['tied']} with its dev accuracy, by the rule: {best['tie_rule']}"
        lines.append(
            f"- {title(model)}: trial `{best['key']}`, chosen on dev from {best['considered']} "
            f"configurations; {rule}."
        )
    return ["\n".join(lines)]
