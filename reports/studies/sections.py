"""The sections of the report on studies: blocks of each; none where it was not run."""

from collections.abc import Iterator, Mapping

from reports.blocks import Block, Chart, Heading, Living, Text, drawn, drawn_of
from reports.charts.figure import Figure
from reports.page.questions import questions_island
from reports.spread import title
from reports.stored.artefacts import Artefacts
from reports.studies.characters.readers import characters_table, kinds_table, readers
from reports.studies.characters.words import characters_note, characters_sentences
from reports.studies.fidelity.variants import fidelity_models, fidelity_table
from reports.studies.fidelity.words import fidelity_note, fidelity_sentences
from reports.studies.graves.runs import graves_table, graves_tasks
from reports.studies.graves.tasks import TASKS
from reports.studies.graves.words import graves_note, graves_sentences
from reports.studies.halting import halting_note, halting_sentences, halting_table
from reports.studies.nse.published import KINDS
from reports.studies.nse.runs import nse_kinds, nse_table, published_table
from reports.studies.nse.traced import (
    featured_note,
    featured_question,
    featured_sentence,
    featured_table,
    rewriting_sentences,
)
from reports.studies.nse.words import nse_note, nse_sentences

SHOWN = ("accuracy", "curves", "weights", "alone")  # figures of readers, in this order


def fidelity_section(
    artefacts: Artefacts, charts: Mapping[str, Figure], published: bool
) -> Iterator[Block]:
    """What explains the paper's numbers."""
    models = fidelity_models(artefacts)
    if not models:
        return
    yield Heading("What explains the paper's numbers")
    yield Text(fidelity_note(artefacts, published))
    for model in models:
        yield Heading(f"{title(model)}: what each change costs", 3)
        yield from drawn_of(charts, "fidelity", model)
        yield Text(fidelity_sentences(artefacts, model))
        yield fidelity_table(artefacts, model)


def halting_section(artefacts: Artefacts, charts: Mapping[str, Figure]) -> Iterator[Block]:
    """The ways of halting side by side."""
    if artefacts.halting.empty:
        return
    yield Heading("Ways of halting")
    yield Text(halting_note(artefacts))
    yield Text(halting_sentences(artefacts))
    yield halting_table(artefacts)
    yield from drawn(charts, "halting")


def graves_section(
    artefacts: Artefacts, charts: Mapping[str, Figure], published: bool
) -> Iterator[Block]:
    """Graves' tasks, those on characters last."""
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
        yield from drawn(charts, *(f"graves_{kind}_{task}" for kind in kinds))
    if readers(artefacts):
        yield Heading("Characters of a text", 3)
        yield Text(characters_note(artefacts))
        yield Text(characters_sentences(artefacts, published))
        yield characters_table(artefacts)
        yield from drawn(charts, *(name for name in charts if name.startswith("characters_")))
        if (kinds_of := kinds_table(artefacts)).rows:
            yield kinds_of


def nse_section(
    artefacts: Artefacts, charts: Mapping[str, Figure], published: bool
) -> Iterator[Block]:
    """Readers of cloze questions."""
    if artefacts.nse.results.empty:
        return
    yield Heading("Reading comprehension: adaptive computation for cloze questions")
    yield Text(nse_note(artefacts))
    for kind in nse_kinds(artefacts):
        yield Heading(KINDS[kind].title, 3)
        yield Text(nse_sentences(artefacts, kind, published))
        yield nse_table(artefacts, kind)
        if published:
            yield published_table(artefacts, kind)
        names = (f"nse_{what}_{kind}" for what in SHOWN)
        yield from (Chart(name, charts[name]) for name in names if name in charts)
    yield from _traced_questions(artefacts, published)


def _traced_questions(artefacts: Artefacts, published: bool) -> Iterator[Block]:
    """What is written over, and one question in full; none where no question was traced."""
    traced = artefacts.nse.traced
    if (one := featured_question(traced)) is None:
        return
    yield Heading("What readers write over the query", 3)
    if said := rewriting_sentences(artefacts, published):
        yield Text(said)
    yield from (Text(featured_sentence(one)), featured_table(one), Text(featured_note(one)))
    island = questions_island(traced)
    yield Living(island.heading, island)
