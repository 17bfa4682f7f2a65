"""Predict the class of pairs of sentences: entailment, neutral or contradiction, or your own.

Examples:
    act-nli predict --premise "A man is sleeping." --hypothesis "A man is running."
    act-nli predict pairs.jsonl --format csv --output predictions.csv
    printf 'A man is sleeping.\\tA man is running.\\n' | act-nli predict -

A file is one that corpus.files reads, with the columns of the training files, or premise and
hypothesis, or SNLI's sentence1 and sentence2, or those of --column. If it has labels, the accuracy
is printed. The output keeps all columns, and has the line of a pair without an id. A line of
standard input is a JSON object, or premise, tab, hypothesis. The output names the model and the
words outside its vocabulary, which make an answer unreliable. A malformed row, or a sentence
without a known word, has a `refusal` in place of an answer. `dvc repro export` writes the models;
spinn_pi reads binary parses such as ( ( a man ) sleeps ).
"""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from actmodels.errors import ArtifactError, ConfigError, DataError
from actmodels.files import regular
from actmodels.registry import MODELS
from pipeline.inference.input_pairs import (
    STANDARD_INPUT,
    InputPair,
    Layout,
    read_file,
    read_lines,
)
from pipeline.parameters.labels import UNLABELED, ClassReader
from pipeline.runtime.stage import artifacts, run_command


def parse_arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse and validate the command line."""
    parser = argparse.ArgumentParser(prog="act-nli predict", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    formats = "JSON lines, CSV, TSV, Parquet, or ARCHIVE::MEMBER; - is standard input"
    add("file", nargs="?", metavar="FILE", help=formats)
    add("--premise", metavar="TEXT", help="of a single pair")
    add("--hypothesis", metavar="TEXT", help="of a single pair")
    model = "an exported model (default: the best on dev; with --explain of those with steps)"
    part, label = "column of the premise, hypothesis, label or id", "class of a label, or -"
    add("--column", action="append", default=[], metavar="PART=NAME", help=part)
    add("--label", action="append", default=[], metavar="LABEL=CLASS", help=label)
    add("--model", metavar="NAME", help=model)
    add("--format", choices=("text", "jsonl", "csv"), default="text", help="default: text")
    add("--output", type=Path, metavar="FILE", help="output file, written atomically")
    add("--explain", action="store_true", help="show each step: attention, halting, class")
    arguments = parser.parse_args(argv)
    has_pair = arguments.premise is not None
    if has_pair != (arguments.hypothesis is not None):
        parser.error("--premise requires --hypothesis, and vice versa")
    if arguments.file and has_pair:
        parser.error("give a FILE or a pair, not both")
    if arguments.file is None and not has_pair:
        if sys.stdin and sys.stdin.isatty():
            parser.error("give --premise and --hypothesis, a FILE, or - for standard input")
        arguments.file = "-"
    if arguments.explain and arguments.format == "csv":
        parser.error("--explain requires --format text or jsonl; a table has no nested fields")
    return arguments


def model_folder(name: str | None, explain: bool = False) -> tuple[Path, dict[str, str], Layout]:
    """Return the folder of a model, by default the best; digests and the layout in best.json.

    Args:
        explain: the default is the best model that takes steps, if any.

    Raises:
        ArtifactError: no model has been exported, or best.json is corrupt.
        ConfigError: no model has this name.
    """
    path = artifacts("export", "best.json")
    try:
        export = json.loads(regular(path).read_text(encoding="utf-8"))
        digests = {model: stored["digest"][:64] for model, stored in export["models"].items()}
        means = {model: stored["dev_accuracy_mean"] for model, stored in export["models"].items()}
        best, layout = export["best"], Layout(**export["files"])
        if best not in digests:
            raise LookupError("best is not in models")
        ranked = [best, *sorted(means, key=means.__getitem__, reverse=True)]
    except FileNotFoundError:
        raise ArtifactError(f"{path} is missing: no model yet; run: dvc repro export") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ArtifactError(f"{path} is corrupt ({error}); run: dvc repro -f export") from error
    if name is not None and name not in digests:
        known = ", ".join(digests)
        raise ConfigError("--model", [f"{name!r} was not exported; must be one of {known}"])
    if explain:
        best = explained(name, best, ranked)
    return artifacts("export", "models", name or best), digests, layout


def with_options(layout: Layout, columns: Sequence[str], labels: Sequence[str]) -> Layout:
    """Return the layout with the columns and the classes of labels that the command line names.

    Raises:
        ConfigError: an option has another form, or its part or class is unknown.
    """
    names, classes = dict(layout.columns), dict(layout.labels)
    for option in columns:
        part, _, name = option.partition("=")
        if part not in names or not name:
            form = f"PART=NAME, with a PART of {', '.join(names)}"
            raise ConfigError("--column", [f"{option!r} is not {form}"])
        names[part] = [name]
    for option in labels:
        ends = [name for name in (*layout.classes, UNLABELED) if option.endswith(f"={name}")]
        name = max(ends, key=len, default="")  # a class may have an =
        label = option.removesuffix(f"={name}")
        if not ends or not label or label in layout.classes:
            form = f"LABEL=CLASS, with a CLASS of {', '.join(layout.classes)}, {UNLABELED}"
            raise ConfigError("--label", [f"{option!r} is not {form}"])
        classes[label] = name
    return layout._replace(columns=names, labels=classes)


def explained(name: str | None, best: str, ranked: Iterable[str]) -> str:
    """Return the best model with steps if `best` has nothing to explain; print which, or advice.

    Args:
        name: the model of the command line. ranked: all models, the best on dev first.
    """
    known = {model: MODELS[model] for model in ranked if model in MODELS}
    with_steps = [model for model, entry in known.items() if entry.halting]
    chosen = name or best
    if chosen in with_steps or (chosen in known and known[chosen].attends_by_word):
        return best
    text = f"{chosen} takes no inference steps to explain; "
    if not with_steps:
        text += "no exported model takes any"
    elif name:
        text += f"add --model {with_steps[0]}"
    else:
        text += f"explained with {with_steps[0]}, the best on dev that does"
    print(text, file=sys.stderr)
    return with_steps[0] if with_steps else best


def pair_groups(arguments: argparse.Namespace, layout: Layout) -> Iterable[list[InputPair]]:
    """Return the pairs in groups; a group is read as a whole before prediction.

    A file is one group, so a truncated one is reported before the first prediction. Pairs typed on
    a terminal are predicted line by line.
    """
    if arguments.file is None:
        pair = {"premise": arguments.premise, "hypothesis": arguments.hypothesis}
        return [[InputPair("the pair", pair, **pair)]]
    classes = ClassReader(layout.classes, layout.labels)
    name, rows = arguments.file, read_file(arguments.file, layout, classes)
    if name == "-":
        if sys.stdin is None:
            raise DataError(f"{STANDARD_INPUT} is closed; name a file of pairs")
        name, rows = STANDARD_INPUT, read_lines(sys.stdin.buffer, layout, classes)
        if sys.stdin.isatty():
            print("premise, tab, hypothesis; Ctrl-D ends", file=sys.stderr)
            return ([row] for row in rows)
    if group := list(rows):
        print(*classes.notes, sep="\n", end="\n" * bool(classes.notes), file=sys.stderr)
        return [group]
    raise DataError(f"{name}: contains no pairs")


def main(argv: Sequence[str] | None = None, caller: Path = Path()) -> None:
    """Write predictions to standard output or a file.

    Args:
        caller: the folder to which file names are relative.
    """
    arguments = parse_arguments(argv)
    if arguments.file not in (None, "-"):
        arguments.file = str(caller / arguments.file)
    if arguments.output is not None:
        arguments.output = caller / arguments.output
    folder, digests, layout = model_folder(arguments.model, arguments.explain)
    layout = with_options(layout, arguments.column, arguments.label)
    groups = pair_groups(arguments, layout)
    # imports torch: --help and input errors come first
    from pipeline.inference.cli import write_predictions

    digest, style = digests[folder.name], arguments.format
    write_predictions(
        folder, digest, groups, style, explain=arguments.explain, path=arguments.output
    )


if __name__ == "__main__":
    run_command(main)
