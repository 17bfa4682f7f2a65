"""The one command for people: `act-nli`, in .venv/bin after `make setup`; runs from any folder.

act-nli predict --premise "A doctor is reading a book." --hypothesis "A nurse is reading."
act-nli sweep status
act-nli sweep plan preset=paper
act-nli use preset=paper
act-nli ui --port 5001
"""

import argparse
import json
import os
import subprocess
import sys
from difflib import get_close_matches
from pathlib import Path

from filelock import FileLock, Timeout

from actmodels import __version__
from actmodels.errors import UserError, first_line
from pipeline.runtime.stage import run_command, state_folder

ROOT = Path(__file__).parents[1]
COMMANDS = {
    "predict": "answer sentence pairs with a retrained model",
    "ui": "start MLflow's pages; print the addresses of report and Ray dashboard",
    "report": "write the report again from the artifacts of the last run",
    "sweep": "`sweep status`: trials by state (finished, diverged, …), best so far; `sweep plan "
    "[WORD...]`: trials, hours, memory and storage, as after act-nli use WORD",
    "use": "write a preset, study, set of models (preset=paper) or values (key=value) into "
    "params.yaml",
    "check": "check params.yaml: the file, every rule, and the trials of its sweep",
    "summary": "results of the last run, paths, and next commands",
    "schema": "JSON Schema of params.yaml, for editors",
    "completion": 'bash completion: eval "$(act-nli completion)"',
}
OPTIONS = {  # completed after a command
    "predict": "--premise --hypothesis --column --label --model --format --output --explain --help",
    "ui": "--port --help",
    "sweep": "status plan --help",
    "use": "--force --help",
}
COMPLETION = """_act_nli() {{
  local words='--help'
  case ${{COMP_WORDS[1]}} in
{cases}  esac
  [ "$COMP_CWORD" -gt 1 ] || words='{commands} --help --version'
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _act_nli act-nli
"""
DELEGATED = ("predict", "ui")  # these parse their own arguments


def parse(argv: list[str] | None = None) -> tuple[argparse.Namespace, list[str]]:
    """Parse the command; leave those of DELEGATED unparsed."""
    parser = argparse.ArgumentParser(
        prog="act-nli",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"act-nli {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    own = {
        name: commands.add_parser(name, help=text, description=text, add_help=name not in DELEGATED)
        for name, text in COMMANDS.items()
    }
    own["sweep"].add_argument("action", nargs="?", metavar="status | plan")
    own["sweep"].add_argument("switches", nargs="*", metavar="WORD")
    own["use"].add_argument("words", nargs="+", metavar="WORD")
    own["use"].add_argument("--force", action="store_true", help="overwrite uncommitted edits")
    own["summary"].add_argument("since", nargs="?", type=int, help="start of the run (Unix time)")
    words = sys.argv[1:] if argv is None else argv
    if words and not words[0].startswith("-") and words[0] not in COMMANDS:
        near = get_close_matches(words[0], COMMANDS, 1)
        hint = f"did you mean {near[0]}?" if near else f"commands are {', '.join(COMMANDS)}"
        parser.error(f"{words[0]} is not a command; {hint}")
    parsed, rest = parser.parse_known_args(words)
    status = parsed.command == "sweep" and parsed.action == "status"
    if parsed.command == "sweep" and parsed.action != "plan" and (not status or parsed.switches):
        parser.error("expected: act-nli sweep status or sweep plan (dvc repro runs the sweep)")
    if rest and parsed.command not in DELEGATED:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    return parsed, rest


def log_earlier_runs(state: Path) -> None:
    """Log what MLflow misses of earlier runs, unless a stage is running."""
    if not any((state / "unlogged").glob("*.json")):
        return
    from tune.tracking import log_missing  # importing MLflow takes seconds

    try:
        with FileLock(state / "run.lock", timeout=0, fallback_to_soft=False):
            log_missing(state)
    except Timeout:
        pass
    except (UserError, OSError) as error:
        print(f"note: earlier runs are not logged yet: {first_line(error)}", file=sys.stderr)


def main() -> None:
    """Run a command in the project's folder; files are relative to the caller's."""
    parsed, rest = parse()
    caller = Path.cwd()
    os.chdir(ROOT)
    if parsed.command != "ui":  # it does the same
        log_earlier_runs(state_folder())
    if parsed.command == "predict":
        from pipeline.predict import main as predict

        predict(rest, caller)
    elif parsed.command == "ui":
        from pipeline.ui import main as ui

        ui(rest)
    elif parsed.command == "report":
        command = [sys.executable, "-m", "dvc", "repro", "--single-item", "--force", "report"]
        raise SystemExit(subprocess.run(command).returncode)
    elif parsed.command == "sweep" and parsed.action == "status":
        from pipeline.trials.status import sweep_status  # torch

        print(sweep_status())
    elif parsed.command == "sweep":
        from pipeline.trials.plan import sweep_plan  # torch and Ray

        print(sweep_plan(parsed.switches))
    elif parsed.command == "use":
        from pipeline.parameters.use import use

        print(use(parsed.words, force=parsed.force))
    elif parsed.command == "check":
        from pipeline.parameters.load import load_params
        from pipeline.parameters.trials import trial_count

        count = trial_count(load_params(trials=True).sweep)
        print(f"params.yaml: ok, {count} {'trial' if count == 1 else 'trials'}")
    elif parsed.command == "summary":
        from pipeline.runtime.summary import summary

        print(summary(parsed.since))
    elif parsed.command == "schema":
        from pipeline.parameters.json_schema import json_schema

        print(json.dumps(json_schema()))
    else:
        cases = "".join(f"    {name}) words='{words}' ;;\n" for name, words in OPTIONS.items())
        print(COMPLETION.format(commands=" ".join(COMMANDS), cases=cases), end="")


if __name__ == "__main__":
    run_command(main)
