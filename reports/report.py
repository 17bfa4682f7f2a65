"""The report: which blocks it is made of, in their order."""

from collections.abc import Iterator, Mapping

from reports.blocks import Block, Heading, Living, Text, drawn, drawn_of
from reports.charts.figure import Figure
from reports.charts.plans import PONDERING
from reports.featured import featured, featured_halting, halting_models
from reports.page.examples import examples_island
from reports.page.trials import trials_island
from reports.spread import PLUS_MINUS, title
from reports.stored.artefacts import Artefacts
from reports.studies.sections import fidelity_section, graves_section, halting_section, nse_section
from reports.summary import summary
from reports.tables.ablation import ablation_note, ablation_table
from reports.tables.claims import claims_note, claims_table
from reports.tables.corpus import Corpus
from reports.tables.correlations import correlation_note, correlation_sentence, correlation_table
from reports.tables.depth import depth_models, depth_note, depth_sentence, depth_table
from reports.tables.examples import examples_note, examples_sentence, examples_table
from reports.tables.step_habits import fifth_table, habit_sentences, habits_note, label_table
from reports.tables.steps import training_note, training_sentence, weighed_models
from reports.tables.sweep import (
    diverged,
    margin_table,
    range_table,
    sweep_models,
    top_table,
    varied,
)
from reports.tables.table_1 import table_1, table_1_note

TITLE = "Adaptive computation for textual entailment: report"


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
        *fidelity_section(artefacts, charts, published),
        *_ablation(artefacts, charts, published),
        *halting_section(artefacts, charts),
        *graves_section(artefacts, charts, published),
        *nse_section(artefacts, charts, published),
        *_habits(artefacts, charts),
        *_depth(artefacts, charts),
        *_lengths(artefacts, charts),
        *_examples(artefacts, examples),
        Heading("Learning curves of the retrained models"),
        *drawn_of(charts, "learning_curves", *artefacts.models),
        *_steps(artefacts, charts),
        *_sweep(artefacts, charts),
        Living(trials, trials_island(artefacts)),
        Heading("Where the figures come from"),
        Text(_origin(artefacts)),
    ]


def _habits(artefacts: Artefacts, charts: Mapping[str, Figure]) -> Iterator[Block]:
    adaptive, named = halting_models(artefacts), featured_halting(artefacts)
    if not adaptive:
        return
    yield Heading("Steps, labels and right answers")
    yield from drawn_of(charts, "steps", *adaptive)
    yield from (Text(habit_sentences(artefacts, model)) for model in named)
    yield from (label_table(artefacts), fifth_table(artefacts), Text(habits_note(artefacts)))
    yield from drawn(charts, "step_accuracy")


def _lengths(artefacts: Artefacts, charts: Mapping[str, Figure]) -> Iterator[Block]:
    if not halting_models(artefacts):
        return
    named = featured_halting(artefacts)
    yield Heading("Steps, sentence length and recorded depth")
    if named:
        yield Text(" ".join(correlation_sentence(artefacts, model) for model in named))
    yield correlation_table(artefacts)
    yield Text(correlation_note(artefacts))
    yield from drawn_of(charts, "lengths", *named)


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
        yield from drawn(charts, *(f"{kind}_{model}" for kind in PONDERING))


def _ablation(
    artefacts: Artefacts, charts: Mapping[str, Figure], published: bool
) -> Iterator[Block]:
    if artefacts.ablated is None:
        return
    yield Heading(f"Fixed against adaptive steps: {title(artefacts.ablated)}")
    yield ablation_table(artefacts, published)
    yield Text(ablation_note(artefacts))
    yield from drawn(charts, "ablation")


def _depth(artefacts: Artefacts, charts: Mapping[str, Figure]) -> Iterator[Block]:
    if not depth_models(artefacts):
        return
    named = [model for model in depth_models(artefacts) if model in featured(artefacts)]
    sentences = " ".join(filter(None, (depth_sentence(artefacts, model) for model in named)))
    yield Heading("By recorded depth")
    yield from (Text(said) for said in (sentences, depth_note(artefacts)) if said)
    yield depth_table(artefacts)
    yield from drawn(charts, "depth", "depth_steps")


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
        yield from drawn_of(charts, "sweep_curves", model)
        if varied(artefacts, model):
            yield Heading(f"{title(model)}: each setting by itself", 3)
            yield Text(
                f"Mean {PLUS_MINUS} sd over all trials with that value, whatever their others."
            )
            yield margin_table(artefacts, model)
            yield from drawn_of(charts, "slices", model)


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
