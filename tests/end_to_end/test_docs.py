"""Each command of README, docs and conf/ names what exists; those that are cheap run as printed."""

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
from ruamel.yaml import YAML

from actmodels.errors import ConfigError
from pipeline.__main__ import cli
from pipeline.predict import parse_arguments
from tests.end_to_end.project import ROOT, Project
from tests.pipeline.test_presets import FILES, LOCAL, WORDS, compose

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("conf/**/*.yaml")]
PAGES = sorted(page for page in PAGES if page.name != "CHANGELOG.md")
PROGRAMS = r"(?:dvc|make|(?:\.venv/bin/)?act-nli|python3?)"
LINE = re.compile(rf"^(?:#  ? ?)?((?:[A-Z_]+=\S+ )*{PROGRAMS} \S.*)$")
INLINE = re.compile(rf"`({PROGRAMS} [^`]+)`")
PATCH = re.compile(r"\b((?:preset|study|models)=\w+)")
OPEN = re.compile(
    r"…|\.\.\.|\b[A-Z]{4,}\b|=(mine|widths)$|/path/to|^\W*$|key=value|act-nli use$|-S$"
)  # the reader completes it
RUN = re.compile(r"act-nli (predict .|sweep status)|dvc (dag|metrics show|plots show|exp show)")


def commands() -> dict[str, Path]:
    """Return each command, with its page; a line that ends in a backslash continues."""
    found: dict[str, Path] = {}
    for page in PAGES:
        text = re.sub(r" *\\\n(?:#| )*", " ", page.read_text(encoding="utf-8"))
        for line in [*text.splitlines(), *INLINE.findall(text)]:
            if match := LINE.match(line):
                line = re.split(r"   *#|   +|`", match[1])[0]
                for command in line.replace(".venv/bin/", "").split(" && "):
                    found.setdefault(command, page.relative_to(ROOT))
    return found


COMMANDS = commands()
COMPLETE = [command for command in COMMANDS if not OPEN.search(command)]


@pytest.mark.parametrize("command", COMPLETE)
def test_a_command_names_what_exists(command: str) -> None:
    program, *words = (w for w in shlex.split(command) if not re.match("[A-Z_]+=", w))
    names = {word for word in words if not word.startswith("-")}
    if program == "make":
        assert names <= set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    elif program == "act-nli":
        context, command = cli.make_context("act-nli", [*words]), cli
        while isinstance(command, click.Group) and words:
            _, command, words = command.resolve_command(context, words)
        command.make_context(command.name, [*words])
        if command.name == "predict":
            parse_arguments(words)
    elif program == "dvc" and (words[0] in ("repro", "pull") or words[:2] == ["exp", "run"]):
        stages = set(YAML(typ="safe", pure=True).load(ROOT / "dvc.yaml")["stages"])
        stages |= {f"study@{path.parent.name}" for path in ROOT.glob("studies/*/stage.py")}
        given = {words[words.index(option) + 1] for option in ("-n", "-S") if option in words}
        assert names - given - {"repro", "pull", "exp", "run"} <= stages
    elif "-m" in words:
        assert find_spec(words[words.index("-m") + 1]) is not None
    files = [name for name in names if re.fullmatch(r"(docs|tests|cluster|conf)/[\w/.]+", name)]
    assert [name for name in files if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_patches_exist(page: Path) -> None:
    named = set(PATCH.findall(page.read_text(encoding="utf-8")))
    assert named - {"study=widths", "preset=NAME", "models=NAME", "study=NAME"} <= {*WORDS}


@pytest.mark.slow
def test_commands_change_the_parameters(tmp_path: Path) -> None:
    changed = 0
    for command in COMMANDS:
        words = re.match(r"act-nli (?:use|sweep plan) (.*)", command)
        if words is None or re.search("pair_reader|widths|NAME", command):
            continue
        more = LOCAL[1:] if re.search(r"preset=local|source=files", command) else []
        more = [*more, *(FILES["cloze_whodidwhat"] if "whodidwhat" in command else [])]
        given = [word for word in shlex.split(words[1]) if "=" in word and not OPEN.search(word)]
        try:
            compose(tmp_path, *more, *given)
        except ConfigError as error:
            raise AssertionError(f"{COMMANDS[command]}: {command}") from error
        changed += 1
    assert changed > 40


@pytest.mark.slow(minutes=1)
def test_commands_that_read_results_run(whole: Project, tmp_path: Path) -> None:
    project = whole.copy(tmp_path / "project")
    (project.folder / "pairs.csv").write_text("premise,hypothesis\na man is here,a man sleeps\n")
    ran = [command for command in COMPLETE if RUN.match(command) and "pair_reader" not in command]
    for command in ran:
        words = shlex.split(command.replace("act-nli", "python -m pipeline"))
        status, output = project.run(*words)
        assert status == 0, (command, output)
    assert len(ran) > 6
