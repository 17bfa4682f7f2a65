"""The section of the report on readers of cloze questions."""

from collections.abc import Iterator, Mapping

from reports.blocks import Block, Chart, Heading, Living, Text
from reports.charts.figure import Figure
from reports.nse import nse_kinds, nse_table, published_table
from reports.nse_published import KINDS
from reports.nse_traced import (
    featured_note,
    featured_question,
    featured_sentence,
    featured_table,
    rewriting_sentences,
)
from reports.nse_words import nse_note, nse_sentences
from reports.page.questions import questions_island
from reports.stored.artefacts import Artefacts

SHOWN = ("accuracy", "curves", "weights", "alone")  # figures, in this order


def nse_section(
    artefacts: Artefacts, charts: Mapping[str, Figure], published: bool
) -> Iterator[Block]:
    """Its blocks; none without results."""
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
    yield from _traced(artefacts, published)


def _traced(artefacts: Artefacts, published: bool) -> Iterator[Block]:
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
