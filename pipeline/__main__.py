"""The one command for people: `act-nli`, in .venv/bin after `make setup`; runs from any folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
from filelock import FileLock, Timeout

from actmodels import __version__
from actmodels.errors import ArtifactError, UserError, first_line
from pipeline.runtime.stage import require_artifact, run_command, state_folder

ROOT = Path(__file__).parents[1]
HELP = {"help_option_names": ["-h", "--help"]}
# `predict` and `ui` parse their own arguments
DELEGATED = {"add_help_option": False, "context_settings": {"ignore_unknown_options": True}}
ARGUMENTS = click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
WORDS = "[preset=NAME | study=NAME | models=NAME | key=value]..."


@click.group(context_settings=HELP)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Predict with trained models; change, check and plan runs; show their results.

    \b
    act-nli predict --premise "A doctor is reading a book." --hypothesis "A nurse is reading."
    act-nli use preset=paper
    act-nli sweep plan preset=paper
    act-nli sweep status
    """
    context.obj = Path.cwd()
    os.chdir(ROOT)
    if context.invoked_subcommand != "ui":  # it does the same
        log_earlier_runs(state_folder())


def log_earlier_runs(state: Path) -> None:
    """Log what MLflow misses of earlier runs, unless a stage is running."""
    if not any((state / "unlogged").glob("*.json")):
        return
    from tune.tracking.tracker import log_missing  # importing MLflow takes seconds

    try:
        with FileLock(state / "run.lock", timeout=0, fallback_to_soft=False):
            log_missing(state)
    except Timeout:
        pass
    except (UserError, OSError) as error:
        print(f"note: earlier runs are not logged yet: {first_line(error)}", file=sys.stderr)


@cli.command(**DELEGATED)
@ARGUMENTS
@click.pass_obj
def predict(caller: Path, arguments: tuple[str, ...]) -> None:
    """Answer sentence pairs with a retrained model."""
    from pipeline.predict import main

    main(arguments, caller)


@cli.command(**DELEGATED)
@ARGUMENTS
def ui(arguments: tuple[str, ...]) -> None:
    """Start MLflow's pages; print their address and the report's."""
    from pipeline.ui import main

    main([*arguments])


@cli.command()
def report() -> None:
    """Write the report again from the artifacts of the last run."""
    command = [sys.executable, "-m", "dvc", "repro", "--single-item", "--force", "report"]
    raise SystemExit(subprocess.run(command).returncode)


@cli.group()
def sweep() -> None:
    """Show the state of a sweep, or what it would cost; end it, or some trials, and go on."""


@sweep.command()
def status() -> None:
    """Count the trials by state, and print the best so far."""
    from pipeline.trials.status import sweep_status  # torch

    print(sweep_status())


@sweep.command()
@click.argument("keys", nargs=-1)
def stop(keys: tuple[str, ...]) -> None:
    """End trials, or the whole sweep, after the current epoch, and keep their best."""
    from pipeline.trials.stop import stop

    print(stop(keys))


@sweep.command()
@click.argument("keys", nargs=-1)
def resume(keys: tuple[str, ...]) -> None:
    """Take back `stop`: the next run continues these trials, or the whole sweep."""
    from pipeline.trials.stop import resume

    print(resume(keys))


@sweep.command()
@click.argument("words", nargs=-1, metavar=WORDS)
def plan(words: tuple[str, ...]) -> None:
    """Print trials, time, memory and storage of a sweep.

    It is that of params.yaml, or as after `act-nli use` with these words.
    """
    from pipeline.trials.plan import sweep_plan  # torch and Ray

    print(sweep_plan(words))


@cli.group()
def trials() -> None:
    """Free the storage of finished trials."""


@trials.command()
@click.option("--older-than", metavar="AGE", help="Such as 12h, 30d or 8w.")
@click.option("--not-in-use", is_flag=True, help="In no artifact of the workspace.")
@click.option("--yes", is_flag=True, help="Remove them; without it, count them.")
def remove(older_than: str | None, not_in_use: bool, yes: bool) -> None:
    """Remove trials that meet all conditions, and their runs in MLflow."""
    from pipeline.trials.removal import remove_trials  # torch

    print(remove_trials(older_than, not_in_use, yes))


@cli.command()
@click.argument("words", nargs=-1, metavar=WORDS, required=True)
@click.option("--force", is_flag=True, help="Overwrite uncommitted edits.")
def use(words: tuple[str, ...], force: bool) -> None:
    """Write a preset, study, models or values into params.yaml.

    \b
    act-nli use preset=paper models=all study=none
    act-nli use 'sweep.seeds=[1,2]' retrain.max_epochs=20
    """
    from pipeline.parameters.use import use

    print(use(words, force=force))


@cli.command()
def check() -> None:
    """Print all problems of params.yaml, or count its trials."""
    from pipeline.parameters.load import load_params
    from pipeline.parameters.trials import trial_count

    count = trial_count(load_params(trials=True).sweep)
    print(f"params.yaml: ok, {count} {'trial' if count == 1 else 'trials'}")


@cli.command()
@click.option("--csv", is_flag=True, help="As CSV, with all columns.")
def results(csv: bool) -> None:
    """Print the trials of the last sweep as a table."""
    import pandas as pd

    path = require_artifact("sweep", "trials.csv")
    try:
        table = pd.read_csv(path)
    except ValueError as error:
        raise ArtifactError(f"{path} is corrupt; run: dvc repro -f -s sweep") from error
    text = (
        path.read_text("utf-8") if csv else table.dropna(axis=1, how="all").to_string(index=False)
    )
    print(text.rstrip("\n"))


@cli.command()
@click.argument("first")
@click.argument("second")
@click.pass_obj
def compare(caller: Path, first: str, second: str) -> None:
    """Compare two sweeps: settings, trials in common, best configurations.

    FIRST and SECOND are git revisions, DVC experiments, or folders of artifacts.
    """
    from pipeline.trials.compare import compare

    print(compare(first, second, caller))


@cli.command()
def summary() -> None:
    """Print results, paths and next commands of the last run."""
    from pipeline.runtime.progress import begin
    from pipeline.runtime.summary import summary

    begin()  # the last stage has ended
    print(summary())


@cli.command()
def schema() -> None:
    """Print the JSON Schema of params.yaml, for editors."""
    from pipeline.parameters.studies import json_schema

    print(json.dumps(json_schema()))


def main() -> None:
    """Run a command in the project's folder; files are relative to the caller's.

    Exceptions and signals are left to `run_command`, which Click's own `main` would catch.
    """
    if "_ACT_NLI_COMPLETE" in os.environ:
        cli.main(prog_name="act-nli")
    try:
        with cli.make_context("act-nli", sys.argv[1:]) as context:
            cli.invoke(context)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.exceptions.Exit as end:  # of --help
        sys.exit(end.exit_code)


if __name__ == "__main__":
    run_command(main)
