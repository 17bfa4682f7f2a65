"""The section of the report on readers of cloze questions."""

from collections.abc import Mapping

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
from reports.stored.artefacts import Artefacts

SHOWN = ("accuracy", "curves", "weights", "alone")  # figures, in this order
LINK = "Questions, step by step: what a reader writes over the query"


def nse_section(artefacts: Artefacts, images: Mapping[str, str], published: bool) -> list[str]:
    """Its parts as markdown, with the images by name; empty without results."""
    if artefacts.nse.results.empty:
        return []
    heading = "## Reading comprehension: adaptive computation for cloze questions"
    parts = [heading, nse_note(artefacts)]
    for kind in nse_kinds(artefacts):
        names = (f"nse_{what}_{kind}" for what in SHOWN)
        parts += [f"### {KINDS[kind].title}", nse_sentences(artefacts, kind, published)]
        parts += [nse_table(artefacts, kind)]
        parts += [published_table(artefacts, kind)] if published else []
        parts += [images[name] for name in names if name in images]
    return [*parts, *_traced(artefacts, published)]


def _traced(artefacts: Artefacts, published: bool) -> list[str]:
    """What is written over, and one question in full; empty where none was traced."""
    one = featured_question(artefacts.nse.traced)
    if one is None:
        return []
    said = rewriting_sentences(artefacts, published)
    parts = ["### What readers write over the query", *([said] if said else [])]
    parts += [featured_sentence(one), featured_table(one), featured_note(one)]
    return [*parts, f"[{LINK}](index.html#questions)"]
