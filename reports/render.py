"""Compose the report and write its folder."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from actmodels.files import write_text
from reports.ablation import ablation_csv, ablation_note, ablation_table
from reports.bench import bench_section
from reports.characters import characters_csv, characters_table, kinds_table, readers
from reports.characters_words import characters_note, characters_sentences
from reports.charts.figure import Figure
from reports.charts.picture import write_pictures
from reports.charts.plans import PONDERING, figures
from reports.claims import claims_csv, claims_note, claims_table
from reports.corpus import Corpus
from reports.correlations import correlation_note, correlation_sentence, correlation_table
from reports.depth import depth_models, depth_note, depth_sentence, depth_table
from reports.examples import examples_note, examples_sentence, examples_table
from reports.featured import featured, featured_halting, halting_models
from reports.fidelity import fidelity_csv, fidelity_models, fidelity_table
from reports.fidelity_words import fidelity_note, fidelity_sentences
from reports.graves import graves_csv, graves_table, graves_tasks
from reports.graves_tasks import TASKS
from reports.graves_words import graves_note, graves_sentences
from reports.halting import halting_csv, halting_note, halting_sentences, halting_table
from reports.metrics import metrics
from reports.nse import nse_csv
from reports.nse_section import nse_section
from reports.page.examples import examples_island
from reports.page.page import write_page
from reports.page.questions import questions_island
from reports.page.trials import trials_island
from reports.spread import PLUS_MINUS, title
from reports.step_habits import fifth_table, habit_sentences, habits_note, label_table
from reports.steps import steps_csv, training_note, training_sentence, weighed_models
from reports.stored.artefacts import Artefacts
from reports.stored.load import load
from reports.summary import summary
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

TITLE = "Adaptive computation for textual entailment: report"
FIGURES = "figures"  # the folder of the pictures


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
    charts = figures(artefacts, published)
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
    text, speed = report(artefacts, charts, published), timings(artefacts)
    write_text(folder / "timings.md", speed)
    write_text(folder / "report.md", text)
    islands = [trials_island(artefacts), examples_island(artefacts.examples, examples)]
    islands += [questions_island(artefacts.nse.traced)] if artefacts.nse.traced else []
    write_page(folder / "index.html", TITLE, f"{text}\n{deeper(speed)}", charts, islands)
    return numbers


def deeper(markdown: str) -> str:
    """The same text with its headings one level further down, as a part of another."""
    return re.sub(r"^#", "##", markdown, flags=re.MULTILINE)


def report(artefacts: Artefacts, charts: Mapping[str, Figure], published: bool) -> str:
    """The report as markdown; the picture of the chart NAME is `figures/NAME.png` beside it."""
    images = {name: f"![{c.alternative}]({FIGURES}/{name}.png)" for name, c in charts.items()}
    parts = [
        f"# {TITLE}",
        summary(artefacts),
        "## Claim by claim",
        claims_table(artefacts, published),
        claims_note(),
        "## Table 1: test accuracy",
        table_1(artefacts, published),
        table_1_note(artefacts, published),
        *_fidelity(artefacts, images, published),
        *_ablation(artefacts, images, published),
        *_halting(artefacts, images),
        *_graves(artefacts, images, published),
        *nse_section(artefacts, images, published),
        *_habits(artefacts, images),
        *_depth(artefacts, images),
        *_lengths(artefacts, images),
        *_examples(artefacts),
        "## Learning curves of the retrained models",
        *_shown(images, ["learning_curves"], artefacts.models),
        *_steps(artefacts, images),
        *_sweep(artefacts, images),
        "[All trials of the sweep, to filter and to sort](index.html#trials)",
        *bench_section(artefacts.bench),
        "## Where the figures come from",
        *_origin(artefacts),
    ]
    return "\n\n".join(parts) + "\n"


def _shown(images: Mapping[str, str], kinds: Iterable[str], models: Iterable[str]) -> list[str]:
    """The figures of each of the models, of each of the kinds."""
    return [images[f"{kind}_{model}"] for model in models for kind in kinds]


def _fidelity(artefacts: Artefacts, images: Mapping[str, str], published: bool) -> list[str]:
    models = fidelity_models(artefacts)
    if not models:
        return []
    parts = ["## What explains the paper's numbers", fidelity_note(artefacts, published)]
    for model in models:
        parts += [f"### {title(model)}: what each change costs"]
        parts += _shown(images, ["fidelity"], [model])
        parts += [fidelity_sentences(artefacts, model), fidelity_table(artefacts, model)]
    return parts


def _halting(artefacts: Artefacts, images: Mapping[str, str]) -> list[str]:
    if artefacts.halting.empty:
        return []
    said = [halting_note(artefacts), halting_sentences(artefacts)]
    return ["## Ways of halting", *said, halting_table(artefacts), images["halting"]]


def _graves(artefacts: Artefacts, images: Mapping[str, str], published: bool) -> list[str]:
    if artefacts.graves.empty:
        return []
    heading = "## Graves' tasks: adaptive computation in recurrent networks"
    parts = [heading, graves_note(artefacts) if graves_tasks(artefacts) else ""]
    for task in graves_tasks(artefacts):
        shown = [f"graves_{kind}_{task}" for kind in ("error", "difficulty", "ponder", "curves")]
        parts += [f"### {TASKS[task].title}", graves_sentences(artefacts, task, published)]
        parts += [graves_table(artefacts, task), *(images[n] for n in shown if n in images)]
    if readers(artefacts):
        parts += ["### Characters of a text", characters_note(artefacts)]
        parts += [characters_sentences(artefacts, published), characters_table(artefacts)]
        parts += [images[name] for name in images if name.startswith("characters_")]
        parts += [kinds_table(artefacts)]
    return [part for part in parts if part]


def _habits(artefacts: Artefacts, images: Mapping[str, str]) -> list[str]:
    adaptive, named = halting_models(artefacts), featured_halting(artefacts)
    if not adaptive:
        return []
    parts = ["## Steps, labels and right answers", *_shown(images, ["steps"], adaptive)]
    parts += [habit_sentences(artefacts, model) for model in named]
    parts += [label_table(artefacts), fifth_table(artefacts), habits_note(artefacts)]
    return [*parts, *([images["step_accuracy"]] if named else [])]


def _lengths(artefacts: Artefacts, images: Mapping[str, str]) -> list[str]:
    if not halting_models(artefacts):
        return []
    named = featured_halting(artefacts)
    said = " ".join(correlation_sentence(artefacts, model) for model in named)
    parts = ["## Steps, sentence length and recorded depth", *([said] if said else [])]
    parts += [correlation_table(artefacts), correlation_note(artefacts)]
    return parts + _shown(images, ["lengths"], named)


def _examples(artefacts: Artefacts) -> list[str]:
    examples = artefacts.examples
    said = [examples_sentence(examples), examples_table(examples), examples_note()]
    link = "[Pairs, step by step](index.html#examples)"
    return ["## What more steps changed", *(said if examples.counted else []), link]


def _steps(artefacts: Artefacts, images: Mapping[str, str]) -> list[str]:
    models = weighed_models(artefacts)
    if not models:
        return []
    parts = ["## Steps during training", training_note()]
    for model in models:
        parts += [training_sentence(artefacts, model), *_shown(images, PONDERING, [model])]
    return parts


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
    named = [model for model in depth_models(artefacts) if model in featured(artefacts)]
    sentences = [depth_sentence(artefacts, model) for model in named]
    said = [" ".join(filter(None, sentences))] if any(sentences) else []
    shown = [images[name] for name in ("depth", "depth_steps") if name in images]
    said += [note] if (note := depth_note(artefacts)) else []
    return ["## By recorded depth", *said, depth_table(artefacts), *shown]


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
        parts += _shown(images, ["sweep_curves"], [model])
        if varied(artefacts, model):
            parts += [
                f"### {title(model)}: each setting by itself",
                f"Mean {PLUS_MINUS} sd over all trials with that value, whatever their others.",
                margin_table(artefacts, model),
                *_shown(images, ["slices"], [model]),
            ]
    return parts


def _origin(artefacts: Artefacts) -> list[str]:
    lines = [
        f"- Grid `{artefacts.sweep['grid_hash']}`, {artefacts.sweep['trials']} trials, all done.",
        f"- Tensors `{artefacts.tensors['digest']}`.",
    ]
    if vectors := Corpus.of(artefacts).vectors_sentence():
        lines.append(f"- {vectors.strip()}")
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
