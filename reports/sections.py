"""The sections of the report on studies: blocks of each; none where it was not run."""

from collections.abc import Iterator

from reports.blocks import Block, Chart, Heading, Living, Text
from reports.charts import studies
from reports.charts.characters import characters_charts
from reports.charts.graves import graves_charts
from reports.charts.multihop import multihop_charts
from reports.charts.nse import nse_charts
from reports.charts.sizes import by_size
from reports.page.browsers import questions_island
from reports.spread import title
from reports.stored.artefacts import Artefacts
from reports.studies import fidelity, halting, sizes
from reports.studies.graves import characters
from reports.studies.graves.runs import graves_table, graves_tasks
from reports.studies.graves.tasks import TASKS
from reports.studies.graves.words import graves_note, graves_sentences
from reports.studies.multihop import CAPTION, multihop_table
from reports.studies.nse import traced
from reports.studies.nse.published import KINDS
from reports.studies.nse.runs import nse_kinds, nse_table, published_table
from reports.studies.nse.words import nse_note, nse_sentences


def multihop_section(artefacts: Artefacts) -> Iterator[Block]:
    """Return accuracy and steps by number of hops."""
    if artefacts.multihop.empty:
        return
    yield Heading("Multi-hop inference: accuracy and steps by number of hops")
    yield Text(CAPTION)
    yield from multihop_charts(artefacts)
    yield multihop_table(artefacts)


def fidelity_section(artefacts: Artefacts, published: bool) -> Iterator[Block]:
    """What explains the paper's numbers."""
    models = fidelity.fidelity_models(artefacts)
    if not models:
        return
    yield Heading("What explains the paper's numbers")
    yield Text(fidelity.fidelity_note(artefacts, published))
    for model in models:
        yield Heading(f"{title(model)}: what each change costs", 3)
        yield Chart(f"fidelity_{model}", studies.fidelity(artefacts, model))
        yield Text(fidelity.fidelity_sentences(artefacts, model))
        yield fidelity.fidelity_table(artefacts, model)


def sizes_section(artefacts: Artefacts, published: bool) -> Iterator[Block]:
    """Accuracy by number of training pairs, and what it foretells."""
    if artefacts.sizes.empty:
        return
    yield Heading("Accuracy by number of training pairs")
    yield Text(sizes.sizes_note(artefacts))
    yield Text(sizes.sizes_sentences(artefacts, published))
    yield sizes.sizes_table(artefacts)
    if not artefacts.laws.empty:
        yield sizes.laws_table(artefacts, published)
    yield Chart("sizes", by_size(artefacts, published))


def halting_section(artefacts: Artefacts) -> Iterator[Block]:
    """The ways of halting side by side."""
    if artefacts.halting.empty:
        return
    yield Heading("Ways of halting")
    yield Text(halting.halting_note(artefacts))
    yield Text(halting.halting_sentences(artefacts))
    yield halting.halting_table(artefacts)
    if not artefacts.halting_depth.empty:
        yield Text("Dev accuracy of the same runs by recorded depth:")
        yield halting.halting_depth_table(artefacts)
    yield Chart("halting", studies.halting(artefacts))


def graves_section(artefacts: Artefacts, published: bool) -> Iterator[Block]:
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
        yield from graves_charts(artefacts, task)
    if characters.readers(artefacts):
        yield Heading("Characters of a text", 3)
        yield Text(characters.characters_note(artefacts))
        yield Text(characters.characters_sentences(artefacts, published))
        yield characters.characters_table(artefacts)
        yield from characters_charts(artefacts)
        if (kinds := characters.kinds_table(artefacts)).rows:
            yield kinds


def nse_section(artefacts: Artefacts, published: bool) -> Iterator[Block]:
    """Readers of cloze questions; of traced ones, what is written over, and one in full."""
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
        yield from nse_charts(artefacts, kind)
    if (one := traced.featured_question(artefacts.nse.traced)) is None:
        return
    yield Heading("What readers write over the query", 3)
    if said := traced.rewriting_sentences(artefacts, published):
        yield Text(said)
    yield Text(traced.featured_sentence(one))
    yield traced.featured_table(one)
    yield Text(traced.featured_note(one))
    island = questions_island(artefacts.nse.traced)
    yield Living(island.heading, island)
