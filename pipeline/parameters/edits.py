"""Keep edits of params.yaml: differences from the committed file and from all composed ones."""

import hashlib
import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from actmodels.errors import ConfigError
from actmodels.files import write_text
from pipeline.parameters.switches import value_text
from tune.provenance import git

HEADER = """# @package _global_
# params.yaml as `act-nli preset` saved it
defaults: [override /study: none]

"""
ADVICE = """params.yaml has edits that dvc exp run would discard, as it composes it from conf/; use:
  dvc repro                                              # uses the file as it is
  act-nli preset mine && dvc exp run -S preset=mine      # saves it as conf/preset/mine.yaml
  git checkout params.yaml && dvc exp run {} # and the switches of the run before"""


PLAIN = re.compile(r"[A-Za-z0-9_-]+")  # a key that Hydra reads


def record(root: Path, text: str) -> str:
    """Record and return a text of params.yaml that is no edit."""
    write_text(_recorded(root, text), text)
    return text


def problem(root: Path) -> str:
    """Return a message if params.yaml has edits that a composition would discard."""
    path, committed = root / "params.yaml", ""
    with suppress(subprocess.CalledProcessError):
        committed = git(root, "show", "HEAD:./params.yaml")
    text = path.read_text("utf-8") if path.is_file() else committed
    if text == committed or _recorded(root, text).exists():
        return ""
    composed = sorted(_recorded(root, "").parent.glob("*.yaml"), key=lambda p: p.stat().st_mtime)
    bases = filter(None, [committed, *(last.read_text("utf-8") for last in composed[-1:])])
    try:
        edits = ([*_switches(_read(base), _read(text))] for base in bases)
        changes = min(edits, key=len, default=[])
    except YAMLError:
        return "params.yaml is not YAML; correct it, or run: git checkout params.yaml"
    if "" in changes:
        return ADVICE.rpartition("\n")[0]
    arguments = "".join(f"-S {shlex.quote(change)} " for change in changes)
    return ADVICE.format(arguments) if changes else ""


def write_preset(root: Path, name: str) -> Path:
    """Save params.yaml as a preset, which is merged over conf/base.yaml.

    Raises:
        ConfigError: the preset exists; or the file lacks keys, which a preset cannot remove.
    """
    conf, text = root / "conf", (root / "params.yaml").read_text("utf-8")
    path, base = conf / "preset" / f"{name}.yaml", _read((conf / "base.yaml").read_text("utf-8"))
    if path.exists() or not re.fullmatch(r"\w+", name):
        raise ConfigError(
            str(path), ["exists, or is no name of letters, digits and _; use another"]
        )
    models = base["sweep"]["models"].keys() - _read(text)["sweep"]["models"].keys()
    removed = "".join(f"    {model}: null\n" for model in sorted(models))
    own = re.sub(r"(?ms)(^sweep:.*?^  models:\n)", rf"\1{removed}", text)
    if lost := [change for change in _switches(base, _read(own)) if change.startswith("~")]:
        raise ConfigError(
            "params.yaml", [f"a preset cannot have {shlex.join(lost)}; use dvc repro"]
        )
    path.write_text(HEADER + own, "utf-8")
    record(root, text)
    return path


def _recorded(root: Path, text: str) -> Path:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return root / ".dvc" / "tmp" / "composed" / f"{digest[:16]}.yaml"


def _read(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def _switches(old: Any, new: Any, key: str = "") -> Iterator[str]:
    """Yield the changes as values of `dvc exp run -S`, empty if Hydra cannot read the key."""
    if isinstance(new, dict) and isinstance(old, dict):
        for name in old | new:
            if not PLAIN.fullmatch(name):
                yield from [""] * (old.get(name) != new.get(name))
            elif name not in new:
                yield f"~{key}{name}"
            elif name in old:
                yield from _switches(old[name], new[name], f"{key}{name}.")
            elif isinstance(new[name], dict) and new[name]:
                yield from _switches({}, new[name], f"{key}{name}.")
            else:
                yield f"+{key}{name}={value_text(new[name])}"
    elif isinstance(old, list) and isinstance(new, dict):  # Hydra does not merge a range into it
        yield f"~{key[:-1]}"
        yield f"+{key[:-1]}={value_text(new)}"
    elif old != new:
        yield f"{key[:-1]}={value_text(new)}"


def unknown_switches(conf: Path, switches: Iterable[str]) -> list[str]:
    """Return a message for each `key=value` that no file of conf/ has, or whose value is a mapping.

    Hydra cannot merge a mapping, such as a range of a grid, into a list.
    """
    files = sorted(path.relative_to(conf) for path in conf.rglob("*.yaml"))
    trees = [_read((conf / path).read_text("utf-8")) or {} for path in files]
    known = dict.fromkeys(key for tree in trees for key in _keys(tree))
    options = [f"{path.parent}={path.stem}" for path in files if len(path.parts) == 2]
    groups = {option.partition("=")[0] for option in options}
    problems = []
    for switch in switches:
        key, _, value = switch.lstrip("~").partition("=")
        name, among = (switch, options) if key in groups else (key, [*known, *groups])
        if not switch.startswith("+") and name not in among and "," not in name:
            near = get_close_matches(name, among, 1, 0)[0]
            problems.append(f"{name} is unknown; did you mean {near}?")
        elif ".grid." in key and value.startswith("{"):
            problems.append(f"{key} needs a list; write its range in one: '{key}=[{value}]'")
    return problems


def _keys(tree: Any, parent: str = "") -> Iterator[str]:
    for name, value in tree.items() if isinstance(tree, dict) else ():
        yield f"{parent}{name}"
        yield from _keys(value, f"{parent}{name}.")
