"""Ask a retrained model whether a premise entails a hypothesis, contradicts it, or neither.

Examples:
    python -m pipeline.predict --premise "A man sleeps." --hypothesis "A man is awake."
    python -m pipeline.predict pairs.jsonl --format csv --output answers.csv
    printf 'A man sleeps.\\tA man is awake.\\n' | python -m pipeline.predict -

A file is one JSON object a line (.jsonl) or a table with a header (.csv), with the keys premise
and hypothesis, or SNLI's own, sentence1 and sentence2; whatever else it holds is kept beside the
answers. On standard input a line is a JSON object, or premise, tab, hypothesis. An answer names
the model and the words that it does not know. Models are those of `dvc repro export`; spinn_pi is
asked about binary parses such as ( ( a man ) sleeps ) in place of sentences.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from actmodels.errors import ArtifactError, ConfigError, DataError
from actmodels.files import regular
from pipeline.inference.choice import best_model, takes_steps
from pipeline.inference.read import KEYS, STANDARD_INPUT, InputPair, input_rows, read_file
from pipeline.runtime.stage import artifacts, run_command


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m pipeline.predict", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("file", nargs="?", metavar="FILE", help="*.jsonl or *.csv; - is standard input")
    add("--premise", metavar="TEXT", help="of a single pair")
    add("--hypothesis", metavar="TEXT", help="of a single pair")
    add("--model", metavar="NAME", help="a model of the export (default: the best, see best.json)")
    add("--format", choices=("text", "jsonl", "csv"), default="text", help="default: text")
    add("--output", type=Path, metavar="FILE", help="write there, whole or not at all")
    add("--explain", action="store_true", help="show each step: attention, halting, class")
    chosen = parser.parse_args(given)
    pair = (chosen.premise, chosen.hypothesis)
    if (pair[0] is None) != (pair[1] is None):
        parser.error("--premise and --hypothesis go together")
    if chosen.file and pair[0] is not None:
        parser.error("give a FILE or a pair, not both")
    if chosen.file is None and pair[0] is None:
        if sys.stdin and sys.stdin.isatty():
            parser.error("give --premise and --hypothesis, a FILE, or - for standard input")
        chosen.file = "-"
    if chosen.explain and chosen.format == "csv":
        parser.error("--explain does not fit into a table; use --format text or jsonl")
    return chosen


def model_folder(name: str | None) -> tuple[Path, dict[str, Any]]:
    """Return the folder of a model, by default the best, and best.json's models.

    Raises:
        ArtifactError: none has been exported. ConfigError: there is none of this name.
    """
    path = artifacts("export", "best.json")
    try:
        export = json.loads(regular(path).read_text(encoding="utf-8"))
        best, models = export["best"], export["models"]
        if best != best_model(models):
            raise ValueError("best is not the model that export chooses")
    except FileNotFoundError:
        raise ArtifactError(f"{path} is missing: no model yet; run: dvc repro export") from None
    except (OSError, ArithmeticError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise ArtifactError(f"{path} is damaged ({error}); run: dvc repro -f export") from error
    if name is not None and name not in models:
        known = ", ".join(models)
        raise ConfigError("--model", [f"{name!r} was not exported; must be one of {known}"])
    return artifacts("export", "models", name or best), models


def advise(name: str, models: Iterable[str]) -> None:
    """Print which exported model has inference steps, if `name` has none."""
    with_steps = [model for model in models if takes_steps(model)]
    if name not in with_steps:
        advice = f"add --model {with_steps[0]}" if with_steps else "no exported model takes any"
        print(f"{name} takes no inference steps to explain; {advice}", file=sys.stderr)


def pairs(given: argparse.Namespace) -> Iterable[list[InputPair]]:
    """Return the pairs in groups, each read whole before any of it is answered.

    All are one group, so that a mistake in the last line is reported before the first answer;
    only pairs that are typed on a terminal are answered line by line.
    """
    if given.file is None:
        sentences = (given.premise, given.hypothesis)
        return [[InputPair("the pair", dict(zip(KEYS, sentences, strict=True)))]]
    if given.file == "-" and sys.stdin is None:
        raise DataError(f"{STANDARD_INPUT} is closed; name a file of pairs")
    if given.file == "-" and sys.stdin.isatty():
        print("premise, tab, hypothesis; Ctrl-D ends", file=sys.stderr)
        return ([row] for row in input_rows(sys.stdin.buffer))
    name, rows = given.file, read_file(Path(given.file))
    if name == "-":
        name, rows = STANDARD_INPUT, input_rows(sys.stdin.buffer)
    if group := list(rows):
        return [group]
    raise DataError(f"{name}: holds no pairs")


def main() -> None:
    """Answer on standard output, or into a file."""
    given = arguments()
    folder, models = model_folder(given.model)
    if given.explain:
        advise(folder.name, models)
    groups = pairs(given)
    from pipeline.inference.cli import ask  # torch: --help and mistakes come before it

    stored, how = models[folder.name], given.format
    ask(folder, stored, groups, how, explain=given.explain, path=given.output)


if __name__ == "__main__":
    run_command(main)
