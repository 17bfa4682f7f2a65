"""Table 1: what others published, cited, and what this project measured, each with its corpus."""

from reports.blocks import DASH, Cell, Table, csv_text
from reports.spread import MINUS, Spread, cells, plain, sampling_error, title
from reports.stored.artefacts import Artefacts
from reports.tables.published import ROWS, SOURCES, Corpus

# What is told apart where Bowman et al. tell parts of speech apart: pipeline/lexical/words.py.
LEXICALISED_NOTE = (
    "is logistic regression on the features of Bowman et al. 2015, with content words, function "
    "words and marks in place of parts of speech; it draws nothing at random"
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


def test_accuracy(artefacts: Artefacts, model: str) -> Spread:
    """Test accuracy over the retrained seeds."""
    return Spread.of(artefacts.runs(model)["test_accuracy"])


def mean_steps(artefacts: Artefacts, model: str) -> Spread | None:
    """Steps per test pair over the retrained seeds; None for a model without halting."""
    if not artefacts.halts(model):
        return None
    return Spread.of(artefacts.runs(model)["test_mean_steps"])


def parameters(artefacts: Artefacts, model: str) -> int:
    """Trained parameters without word vectors: the same for every seed."""
    return int(artefacts.runs(model)["parameters"].iloc[0])


def lexicalised(artefacts: Artefacts) -> tuple[str, int, Spread, Spread]:
    """The classifier on features of words: its name, weights, test accuracy, dev accuracy."""
    runs = artefacts.lexicalised
    accuracies = Spread.of(runs["test_accuracy"]), Spread.of(runs["dev_accuracy"])
    return title(runs["model"].iloc[0]), int(runs["parameters"].iloc[0]), *accuracies


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
    name, weights, test, dev = lexicalised(artefacts)
    ours = [f"**{name}**", f"**{label}**", "this project", f"{weights:,}"]
    rows.append([*ours, f"**{test.percent()}**", dev.percent(), str(test.n), DASH])
    for model in artefacts.models:
        accuracy, steps = test_accuracy(artefacts, model), mean_steps(artefacts, model)
        dev = Spread.of(artefacts.runs(model)["dev_accuracy"])
        rows.append(
            [
                f"**{title(model)}**",
                f"**{label}**",
                "this project",
                f"{parameters(artefacts, model):,}",
                f"**{accuracy.percent()}**",
                dev.percent(),
                str(accuracy.n),
                plain(steps),
            ]
        )
    return Table(HEADER, rows, left=3)


def table_1_note(artefacts: Artefacts, published: bool) -> str:
    """How to read Table 1, and how far one run can be off by the choice of test pairs alone."""
    pairs = int(artefacts.results["test_pairs"].iloc[0])
    errors = []
    for model in artefacts.models:
        error = 100 * sampling_error(test_accuracy(artefacts, model).mean, pairs)
        errors.append(f"{error:.2f} points for {title(model)}")
    note = (
        "Parameters are those trained, without word vectors. Ours are mean ± sample sd over "
        "seeds, trained anew from each; a row with one seed has no spread. Apart from that "
        f"spread, one run on {pairs:,} test pairs has a sampling standard error "
        f"√(p(1 {MINUS} p)/n) of {' and '.join(errors)}."
    )
    name, _, test, _ = lexicalised(artefacts)
    error = 100 * sampling_error(test.mean, int(artefacts.lexicalised["test_pairs"].iloc[0]))
    note += f" {name} {LEXICALISED_NOTE} (sampling error {error:.2f} points)."
    if published:
        note += (
            " Published rows are as printed, for the whole test set of SNLI, and give no spread."
        )
        if not Corpus.of(artefacts).comparable:
            note += " They stand here for orientation and are not comparable with ours."
        note += f" {SOURCES}"
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
    name, weights, test, dev = lexicalised(artefacts)
    first: list[Cell] = [name, label, "this project", weights]
    rows.append([*first, *cells(test), *cells(dev), test.n, *cells(None)])
    for model in artefacts.models:
        test, steps = test_accuracy(artefacts, model), mean_steps(artefacts, model)
        dev = Spread.of(artefacts.runs(model)["dev_accuracy"])
        ours: list[Cell] = [title(model), label, "this project", parameters(artefacts, model)]
        rows.append([*ours, *cells(test), *cells(dev), test.n, *cells(steps)])
    return csv_text(header, rows)
