"""Table 1: what others published, cited, and what this project measured, each with its corpus."""

from typing import NamedTuple

from reports.blocks import DASH, Cell, Table, csv_text
from reports.published import ROWS, SOURCES, Corpus
from reports.spread import MINUS, Spread, cells, plain, sampling_error, title
from reports.stored.artefacts import Artefacts

# What is told apart where Bowman et al. tell parts of speech apart: pipeline/sources/word_kinds.py.
LEXICALISED_NOTE = (
    "is logistic regression on the features of Bowman et al. 2015, with content words, function "
    "words and marks in place of parts of speech; it draws nothing at random"
)
SKIP_THOUGHT_NOTE = (
    "Skip-Thought is cited alone: it is trained on a corpus of books that is no longer distributed."
)
HEADER = (
    "system",
    "corpus",
    "source",
    "parameters",
    "test accuracy, %",
    "dev accuracy, %",
    "seeds",
    "mean steps",
)


class System(NamedTuple):
    """A system of ours over its seeds.

    parameters: those trained, without word vectors: the same for every seed.
    steps: per test pair; None without halting.
    """

    model: str
    parameters: int
    test: Spread
    dev: Spread
    steps: Spread | None


def test_accuracy(artefacts: Artefacts, model: str) -> Spread:
    """Test accuracy over the retrained seeds."""
    return Spread.of(artefacts.runs(model)["test_accuracy"])


def mean_steps(artefacts: Artefacts, model: str) -> Spread | None:
    """Steps per test pair over the retrained seeds; None for a model without halting."""
    if not artefacts.halts(model):
        return None
    return Spread.of(artefacts.runs(model)["test_mean_steps"])


def systems(artefacts: Artefacts) -> list[System]:
    """The classifier on features of words, then the retrained models."""
    classifier = str(artefacts.lexicalised["model"].iloc[0])
    runs = {classifier: artefacts.lexicalised}
    runs |= {model: artefacts.runs(model) for model in artefacts.models}
    return [
        System(
            model=model,
            parameters=int(of["parameters"].iloc[0]),
            test=Spread.of(of["test_accuracy"]),
            dev=Spread.of(of["dev_accuracy"]),
            steps=None if model == classifier else mean_steps(artefacts, model),
        )
        for model, of in runs.items()
    ]


def table_1(artefacts: Artefacts, published: bool) -> Table:
    """Table 1 as markdown; our rows are bold and last."""
    label = Corpus.of(artefacts).label
    rows = [
        [
            *(row.system, "SNLI", row.source, row.parameters),
            *(f"{row.accuracy}", DASH, DASH, row.mean_steps),
        ]
        for row in (ROWS if published else ())
    ]
    rows += [
        [
            *(f"**{title(one.model)}**", f"**{label}**", "this project", f"{one.parameters:,}"),
            *(f"**{one.test.percent()}**", one.dev.percent(), str(one.test.n), plain(one.steps)),
        ]
        for one in systems(artefacts)
    ]
    return Table(HEADER, rows, left=3)


def table_1_note(artefacts: Artefacts, published: bool) -> str:
    """How to read Table 1, and how far one run can be off by the choice of test pairs alone."""
    pairs = int(artefacts.results["test_pairs"].iloc[0])
    classifier, *models = systems(artefacts)
    errors = [
        f"{100 * sampling_error(one.test.mean, pairs):.2f} points for {title(one.model)}"
        for one in models
    ]
    note = (
        "Parameters are those trained, without word vectors. Ours are mean ± sample sd over "
        "seeds, trained anew from each; a row with one seed has no spread. Apart from that "
        f"spread, one run on {pairs:,} test pairs has a sampling standard error "
        f"√(p(1 {MINUS} p)/n) of {' and '.join(errors)}."
    )
    scored = int(artefacts.lexicalised["test_pairs"].iloc[0])
    error = 100 * sampling_error(classifier.test.mean, scored)
    note += f" {title(classifier.model)} {LEXICALISED_NOTE} (sampling error {error:.2f} points)."
    if published:
        note += (
            " Published rows are as printed, for the whole test set of SNLI, and give no spread."
        )
        if not Corpus.of(artefacts).comparable:
            note += " They stand here for orientation and are not comparable with ours."
        note += f" {SKIP_THOUGHT_NOTE} {SOURCES}"
    return note


def table_1_csv(artefacts: Artefacts, published: bool) -> str:
    """The rows of Table 1 for machines; accuracies in [0, 1]."""
    header = ["system", "corpus", "source", "parameters", "test_accuracy_mean", "test_accuracy_sd"]
    header += ["dev_accuracy_mean", "dev_accuracy_sd", "seeds", "mean_steps_mean", "mean_steps_sd"]
    empty: list[Cell] = [None] * 6
    rows: list[list[Cell]] = [
        [row.system, "SNLI", row.source, row.parameters, round(row.accuracy / 100, 6), *empty]
        for row in (ROWS if published else ())
    ]
    label = Corpus.of(artefacts).label
    for one in systems(artefacts):
        row: list[Cell] = [title(one.model), label, "this project", one.parameters]
        rows.append([*row, *cells(one.test), *cells(one.dev), one.test.n, *cells(one.steps)])
    return csv_text(header, rows)
