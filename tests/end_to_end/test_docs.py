"""Each command of README, docs and conf/ names what exists; those that are cheap run as printed."""

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from pipeline.__main__ import parse
from pipeline.parameters.edits import unknown_switches
from pipeline.predict import parse_arguments
from tests.end_to_end.project import ROOT, Project
from tests.pipeline.test_presets import FILES, LOCAL, compose

PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("conf/**/*.yaml")]
PAGES = sorted(page for page in PAGES if page.name != "CHANGELOG.md")
PROGRAMS = r"(?:dvc|make|(?:\.venv/bin/)?act-nli|python3?)"
LINE = re.compile(rf"^(?:#  ? ?)?((?:[A-Z_]+=\S+ )*{PROGRAMS} \S.*)$")
INLINE = re.compile(rf"`({PROGRAMS} [^`]+)`")
SWITCH = re.compile(r"""-S (?:'([^']*)'|"([^"]*)"|([^\s`]+))""")
OPEN = re.compile(
    r"…|\.\.\.|\b[A-Z]{4,}\b|=(mine|widths)$|/path/to|^\W*$|key=value"
)  # the reader completes it
RUN = re.compile(r"act-nli (predict .|sweep status)|dvc (dag|metrics show|plots show|exp show)")


def commands() -> dict[str, Path]:
    """Return each command, with its page; a line that ends in a backslash continues."""
    found: dict[str, Path] = {}
    for page in PAGES:
        text = re.sub(r" *\\\n(?:#| )*", " ", page.read_text(encoding="utf-8"))
        for line in [*text.splitlines(), *INLINE.findall(text)]:
            if match := LINE.match(line):
                command = re.split(r"   *#|   +|`", match[1])[0]
                found.setdefault(command.replace(".venv/bin/", ""), page.relative_to(ROOT))
    return found


COMMANDS = commands()
COMPLETE = [command for command in COMMANDS if not OPEN.search(command)]


def switches(text: str) -> list[str]:
    """Return the values of -S that are complete."""
    values = ["".join(groups) for groups in SWITCH.findall(text)]
    return [value for value in values if not OPEN.search(value)]


@pytest.mark.parametrize("command", COMPLETE)
def test_a_command_names_what_exists(command: str) -> None:
    program, *words = (w for w in shlex.split(command) if not re.match("[A-Z_]+=", w))
    names = {word for word in words if not word.startswith("-")}
    if program == "make":
        assert names <= set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    elif program == "act-nli":
        _, rest = parse(words)
        if words[0] == "predict":
            parse_arguments(rest)
        elif words[:2] == ["sweep", "plan"]:
            assert unknown_switches(ROOT / "conf", words[2:]) == []
    elif program == "dvc" and (words[0] in ("repro", "pull") or words[:2] == ["exp", "run"]):
        stages = set(YAML(typ="safe", pure=True).load(ROOT / "dvc.yaml")["stages"])
        stages |= {f"study@{path.parent.name}" for path in ROOT.glob("studies/*/stage.py")}
        given = {*switches(command), words[words.index("-n") + 1] if "-n" in words else ""}
        assert names - given - {"repro", "pull", "exp", "run"} <= stages
    elif "-m" in words:
        assert find_spec(words[words.index("-m") + 1]) is not None
    files = [name for name in names if re.fullmatch(r"(docs|tests|cluster|conf)/[\w/.]+", name)]
    assert [name for name in files if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_switches_exist(page: Path) -> None:
    given = switches(page.read_text(encoding="utf-8"))
    assert unknown_switches(ROOT / "conf", given) == []


@pytest.mark.slow
def test_commands_compose(tmp_path: Path) -> None:
    composed = 0
    for command in (c for c in COMMANDS if c.startswith("dvc exp run") and "pair_reader" not in c):
        more = LOCAL[1:] if re.search(r"preset=local|source=files", command) else []
        more = [*more, *(FILES["cloze_whodidwhat"] if "whodidwhat" in command else [])]
        try:
            compose(tmp_path, *more, *switches(command))
        except Exception as error:
            raise AssertionError(f"{COMMANDS[command]}: {command}") from error
        composed += 1
    assert composed > 40


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
