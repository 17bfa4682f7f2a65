"""Compose the report and write its folder."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from actmodels.files import write_text
from reports.ablation import ablation_csv, ablation_note, ablation_table
from reports.blocks import FIGURES, Block, Chart, Heading, Living, Text, as_markdown
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
    blocks, speed = report(artefacts, charts, published, examples), timings(artefacts)
    write_text(folder / "timings.md", as_markdown(speed))
    write_text(folder / "report.md", as_markdown(blocks))
    write_page(folder / "index.html", TITLE, [*blocks, *map(_deeper, speed)])
    return numbers


def _deeper(block: Block) -> Block:
    """A heading one level further down, as in a part of another document."""
    return Heading(block.text, block.level + 1) if isinstance(block, Heading) else block


def report(
    artefacts: Artefacts, charts: Mapping[str, Figure], published: bool, examples: int = 0
) -> list[Block]:
    """The whole report.

    Args:
        artefacts: what the stages wrote.
        charts: its figures, by name.
        published: show what others published.
        examples: how many traced pairs can be browsed at most.
    """
    trials = "All trials of the sweep, to filter and to sort"
    return [
        Heading(TITLE, 1),
        Text(summary(artefacts)),
        Heading("Claim by claim"),
        claims_table(artefacts, published),
        Text(claims_note()),
        Heading("Table 1: test accuracy"),
        table_1(artefacts, published),
        Text(table_1_note(artefacts, published)),
        *_fidelity(artefacts, charts, published),
        *_ablation(artefacts, charts, published),
        *_halting(artefacts, charts),
        *_graves(artefacts, charts, published),
        *nse_section(artefacts, charts, published),
        *_habits(artefacts, charts),
        *_depth(artefacts, charts),
        *_lengths(artefacts, charts),
        *_examples(artefacts, examples),
        Heading("Learning curves of the retrained models"),
        *_shown(charts, "learning_curves", *artefacts.models),
        *_steps(artefacts, charts),
        *_sweep(artefacts, charts),
        Living(trials, trials_island(artefacts)),
        Heading("Where the figures come from"),
        Text(_origin(artefacts)),
    ]


def _shown(charts: Mapping[str, Figure], kind: str, *models: str) -> list[Block]:
    """The figures of one kind of each of the models."""
    return _named(charts, *(f"{kind}_{model}" for model in models))


def _named(charts: Mapping[str, Figure], *names: str) -> list[Block]:
    """Those of the figures that there are."""
    return [Chart(name, charts[name]) for name in names if name in charts]


def _fidelity(
    artefacts: Artefacts, charts: Mapping[str, Figure], published: bool
) -> Iterator[Block]:
    models = fidelity_models(artefacts)
    if not models:
        return
    yield Heading("What explains the paper's numbers")
    yield Text(fidelity_note(artefacts, published))
    for model in models:
        yield Heading(f"{title(model)}: what each change costs", 3)
        yield from _shown(charts, "fidelity", model)
        yield Text(fidelity_sentences(artefacts, model))
        yield fidelity_table(artefacts, model)


def _halting(artefacts: Artefacts, charts: Mapping[str, Figure]) -> Iterator[Block]:
    if artefacts.halting.empty:
        return
    yield Heading("Ways of halting")
    yield Text(halting_note(artefacts))
    yield Text(halting_sentences(artefacts))
    yield halting_table(artefacts)
    yield from _named(charts, "halting")


def _graves(artefacts: Artefacts, charts: Mapping[str, Figure], published: bool) -> Iterator[Block]:
    if artefacts.graves.empty:
        return
    yield Heading("Graves' tasks: adaptive computation in recurrent networks")
    if graves_tasks(artefacts):
        yield Text(graves_note(artefacts))
    for task in graves_tasks(artefacts):
        yield Heading(TASKS[task].title, 3)
        if said := graves_sentences(artefacts, task, published):
            yield Text(said)
        yield graves_table(artefacts, task)
        kinds = ("error", "difficulty", "ponder", "curves")
        yield from _named(charts, *(f"graves_{kind}_{task}" for kind in kinds))
    if readers(artefacts):
        yield Heading("Characters of a text", 3)
        yield Text(characters_note(artefacts))
        yield Text(characters_sentences(artefacts, published))
        yield characters_table(artefacts)
        yield from _named(charts, *(name for name in charts if name.startswith("characters_")))
        if (kinds_of := kinds_table(artefacts)).rows:
            yield kinds_of


def _habits(artefacts: Artefacts, charts: Mapping[str, Figure]) -> Iterator[Block]:
    adaptive, named = halting_models(artefacts), featured_halting(artefacts)
    if not adaptive:
        return
    yield Heading("Steps, labels and right answers")
    yield from _shown(charts, "steps", *adaptive)
    yield from (Text(habit_sentences(artefacts, model)) for model in named)
    yield from (label_table(artefacts), fifth_table(artefacts), Text(habits_note(artefacts)))
    yield from _named(charts, "step_accuracy")


def _lengths(artefacts: Artefacts, charts: Mapping[str, Figure]) -> Iterator[Block]:
    if not halting_models(artefacts):
        return
    named = featured_halting(artefacts)
    yield Heading("Steps, sentence length and recorded depth")
    if named:
        yield Text(" ".join(correlation_sentence(artefacts, model) for model in named))
    yield correlation_table(artefacts)
    yield Text(correlation_note(artefacts))
    yield from _shown(charts, "lengths", *named)


def _examples(artefacts: Artefacts, most: int) -> Iterator[Block]:
    examples = artefacts.examples
    yield Heading("What more steps changed")
    if examples.counted:
        yield Text(examples_sentence(examples))
        yield examples_table(examples)
        yield Text(examples_note())
    island = examples_island(examples, most)
    yield Living(island.heading, island)


def _steps(artefacts: Artefacts, charts: Mapping[str, Figure]) -> Iterator[Block]:
    models = weighed_models(artefacts)
    if not models:
        return
    yield Heading("Steps during training")
    yield Text(training_note())
    for model in models:
        yield Text(training_sentence(artefacts, model))
        yield from _named(charts, *(f"{kind}_{model}" for kind in PONDERING))


def _ablation(
    artefacts: Artefacts, charts: Mapping[str, Figure], published: bool
) -> Iterator[Block]:
    if artefacts.ablated is None:
        return
    yield Heading(f"Fixed against adaptive steps: {title(artefacts.ablated)}")
    yield ablation_table(artefacts, published)
    yield Text(ablation_note(artefacts))
    yield from _named(charts, "ablation")


def _depth(artefacts: Artefacts, charts: Mapping[str, Figure]) -> Iterator[Block]:
    if not depth_models(artefacts):
        return
    named = [model for model in depth_models(artefacts) if model in featured(artefacts)]
    sentences = " ".join(filter(None, (depth_sentence(artefacts, model) for model in named)))
    yield Heading("By recorded depth")
    yield from (Text(said) for said in (sentences, depth_note(artefacts)) if said)
    yield depth_table(artefacts)
    yield from _named(charts, "depth", "depth_steps")


def _sweep(artefacts: Artefacts, charts: Mapping[str, Figure]) -> Iterator[Block]:
    yield Heading("Sweep")
    yield range_table(artefacts)
    yield Text(
        "Dev accuracy is that of each trial's best epoch. The best of many trials is chosen on "
        "the very pairs that score it, so it is optimistic; the test figures above are not."
        f"{diverged(artefacts)}"
    )
    for model in sweep_models(artefacts):
        yield Heading(f"{title(model)}: best configurations", 3)
        yield top_table(artefacts, model)
        yield from _shown(charts, "sweep_curves", model)
        if varied(artefacts, model):
            yield Heading(f"{title(model)}: each setting by itself", 3)
            yield Text(
                f"Mean {PLUS_MINUS} sd over all trials with that value, whatever their others."
            )
            yield margin_table(artefacts, model)
            yield from _shown(charts, "slices", model)


def _origin(artefacts: Artefacts) -> str:
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
    return "\n".join(lines)
