"""The report: which blocks it is made of, in their order."""

from collections.abc import Callable, Iterable, Iterator

from reports.blocks import Block, Chart, Figure, Heading, Living, Text
from reports.charts import accuracy, curves, steps, trials
from reports.findings import featured_halting, halting_models
from reports.page.browsers import examples_island
from reports.page.trials import trials_island
from reports.published import Corpus
from reports.sections import (
    fidelity_section,
    graves_section,
    halting_section,
    multihop_section,
    nse_section,
    sizes_section,
)
from reports.spread import PLUS_MINUS, title
from reports.stored.artefacts import Artefacts
from reports.summary import summary
from reports.tables import ablation, claims, length_and_depth, step_habits, sweep, table_1

TITLE = "Adaptive computation for textual entailment: report"


def report(artefacts: Artefacts, published: bool, examples: int = 0) -> list[Block]:
    """The whole report.

    Args:
        artefacts: what the stages wrote.
        published: show what others published.
        examples: how many traced pairs can be browsed at most.
    """
    return [
        Heading(TITLE, 1),
        Text(summary(artefacts)),
        Heading("Claim by claim"),
        claims.claims_table(artefacts, published),
        Text(claims.claims_note()),
        *multihop_section(artefacts),
        Heading("Table 1: test accuracy"),
        table_1.table_1(artefacts, published),
        Text(table_1.table_1_note(artefacts, published)),
        *fidelity_section(artefacts, published),
        *sizes_section(artefacts, published),
        *_ablation(artefacts, published),
        *halting_section(artefacts),
        *graves_section(artefacts, published),
        *nse_section(artefacts, published),
        *_habits(artefacts),
        *_depth(artefacts),
        *_examples(artefacts, examples),
        Heading("Learning curves of the retrained models"),
        *_charts("learning_curves", curves.learning_curves, artefacts, artefacts.models),
        *_steps(artefacts),
        *_sweep(artefacts),
        Living("All trials of the sweep, to filter and to sort", trials_island(artefacts)),
        Heading("Where the figures come from"),
        Text(_origin(artefacts)),
    ]


def _charts(
    kind: str,
    draw: Callable[[Artefacts, str], Figure],
    artefacts: Artefacts,
    models: Iterable[str],
) -> Iterator[Chart]:
    """A figure KIND_MODEL of each of the models."""
    return (Chart(f"{kind}_{model}", draw(artefacts, model)) for model in models)


def _ablation(artefacts: Artefacts, published: bool) -> Iterator[Block]:
    if artefacts.ablated is None:
        return
    yield Heading(f"Fixed against adaptive steps: {title(artefacts.ablated)}")
    yield ablation.ablation_table(artefacts, published)
    yield Text(ablation.ablation_note(artefacts))
    yield Chart("ablation", accuracy.by_fixed_steps(artefacts, published))


def _habits(artefacts: Artefacts) -> Iterator[Block]:
    adaptive, named = halting_models(artefacts), featured_halting(artefacts)
    if not adaptive:
        return
    yield Heading("Steps, labels and right answers")
    yield from _charts("steps", steps.steps_taken, artefacts, adaptive)
    yield from (Text(step_habits.habit_sentences(artefacts, model)) for model in named)
    yield step_habits.label_table(artefacts)
    yield step_habits.fifth_table(artefacts)
    yield Text(step_habits.habits_note(artefacts))
    yield from accuracy.by_steps(artefacts, named)


def _depth(artefacts: Artefacts) -> Iterator[Block]:
    table = length_and_depth.depth_table(artefacts)
    if table.rows:
        yield Heading("Recorded depth and sentence length")
        yield table


def _examples(artefacts: Artefacts, most: int) -> Iterator[Block]:
    examples = artefacts.examples
    yield Heading("What more steps changed")
    if examples.counted:
        yield Text(step_habits.examples_sentence(examples))
        yield step_habits.examples_table(examples)
        yield Text(step_habits.examples_note())
    island = examples_island(examples, most)
    yield Living(island.heading, island)


def _steps(artefacts: Artefacts) -> Iterator[Block]:
    models = sweep.weighed_models(artefacts)
    if not models:
        return
    yield Heading("Steps during training")
    yield Text(sweep.training_note())
    for model in models:
        yield Text(sweep.training_sentence(artefacts, model))
        yield Chart(f"steps_by_epoch_{model}", curves.steps_while_training(artefacts, model))
        yield Chart(f"ponder_weight_{model}", trials.ponder_weight(artefacts, model))
        yield Chart(f"ponder_steps_{model}", trials.ponder_steps(artefacts, model))


def _sweep(artefacts: Artefacts) -> Iterator[Block]:
    yield Heading("Sweep")
    yield sweep.range_table(artefacts)
    yield Text(
        "Dev accuracy is that of each trial's best epoch. The best of many trials is chosen on "
        "the very pairs that score it, so it is optimistic; the test figures above are not."
        f"{sweep.diverged(artefacts)}"
    )
    for model in sweep.sweep_models(artefacts):
        yield Heading(f"{title(model)}: best configurations", 3)
        yield sweep.top_table(artefacts, model)
        yield Chart(f"sweep_curves_{model}", curves.sweep_curves(artefacts, model))
        if sweep.varied(artefacts, model):
            yield Heading(f"{title(model)}: each setting by itself", 3)
            yield Text(
                f"Mean {PLUS_MINUS} sd over all trials with that value, whatever their others."
            )
            yield sweep.margin_table(artefacts, model)
            yield Chart(f"slices_{model}", trials.slices(artefacts, model))


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
