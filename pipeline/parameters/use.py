"""`act-nli use preset=paper`: write patches of conf/, and values, into params.yaml.

A patch is conf/GROUP/NAME.yaml: keys of params.yaml with other values. `${sweep.…}` is the value of
another key; `defaults` names patches, relative to the file, that are merged before it.
"""

import io
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.emitter import Emitter
from ruamel.yaml.error import YAMLError
from ruamel.yaml.representer import RoundTripRepresenter

from actmodels.errors import ConfigError
from actmodels.files import write_text
from pipeline.parameters.load import Params, checked, read_tree, read_yaml_text, validated
from pipeline.parameters.rules import watched
from pipeline.parameters.studies import study_names
from tune.trials.provenance import git

PARAMS, CONF = Path("params.yaml"), Path(__file__).parents[2] / "conf"
DEMO = CONF / "preset" / "demo.yaml"
LAST = Path(".dvc/tmp/params.yaml")  # as `use` wrote it last
GROUPS = ("preset", "study", "models")  # in the order of their patches
KeyPath = tuple[str, ...]


class FlowEmitter(Emitter):
    """Writes flow collections that every parser reads.

    ruamel.yaml breaks the key of a long mapping at a blank, and DVC's parser, libyaml, refuses a
    plain URL in brackets.
    """

    def choose_scalar_style(self) -> Any:
        """Return the style of a scalar: text with a colon is quoted."""
        style, event = super().choose_scalar_style(), self.event
        return style or "'" * (self.flow_level > 0 and event.implicit[1] and ":" in event.value)

    def write_plain(self, text: str, split: bool = True) -> None:
        """Write a plain scalar; a key, which is not split, begins a line if this one is full."""
        width, end = self.best_width, self.column + (not self.whitespace) + len(text)
        if not split:
            if end > width and self.column > (self.indent or 0):
                self.write_indent()
            self.best_width = sys.maxsize
        super().write_plain(text, split)
        self.best_width = width


RoundTripRepresenter.add_representer(  # which leaves null empty
    type(None), lambda own, _: own.represent_scalar("tag:yaml.org,2002:null", "null")
)


def use(words: Sequence[str], *, force: bool = False) -> str:
    """Write patches and values into params.yaml; return the changed keys and the next command.

    Args:
        words: `preset=NAME`, `study=NAME`, `models=NAME`, and `key=value`.
        force: overwrite uncommitted edits.

    Raises:
        ConfigError: a word is not valid, or an uncommitted edit would be lost.
    """
    old, (text, _) = read_tree(PARAMS), _used(words)
    keys = list(_changes(old, _plain(text)))
    explicit, known = [("watch",), *_parsed(words)[1]], _known_trees()
    edits = [
        ".".join(key)
        for key in keys
        if key not in explicit and all(_at(tree, key) != _at(old, key) for tree in known)
    ]
    if edits and not force:
        advice = "commit params.yaml, or overwrite them with --force"
        problem = f"uncommitted edits would be lost: {', '.join(edits)}; {advice}"
        raise ConfigError(str(PARAMS), [problem])
    for path in (PARAMS, LAST):
        write_text(path, text)
    changed = [f"  {'.'.join(key)}" for key in keys]
    return "\n".join([f"params.yaml: {len(keys)} keys changed", *changed, "Next: make repro"])


def params_with(words: Sequence[str]) -> Params:
    """Return the parameters that `use` would write.

    Raises:
        ConfigError: a word is not valid.
    """
    return _used(words)[1]


def _used(words: Sequence[str]) -> tuple[str, Params]:
    """Return params.yaml with patches and values, as text and validated."""
    tree, (patches, values) = _tree(PARAMS), _parsed(words)
    if "preset" in patches:
        _reset(tree, _patch(DEMO), _touched())
        _merge(tree, _patch(DEMO))
    for group in GROUPS:
        if group == "study" and group in patches:
            for name in study_names():  # also that of the demo
                tree.pop(name, None)
        _merge(tree, _patch(patches[group]) if group in patches else {})
    for key, value in values.items():
        _set(tree, key, value)
    _resolve(tree, tree)
    source = f"{PARAMS} with {' '.join(words)}"
    tree["watch"] = []
    stages = watched(validated(_plain(_text(tree)), source))
    tree["watch"] = _yaml().load(f"[{', '.join(stages)}]")
    text = _text(tree)
    return text, checked(_plain(text), source, trials=True)


def _parsed(words: Sequence[str]) -> tuple[dict[str, Path], dict[KeyPath, Any]]:
    """Return the patch of each group, and the value of each key, that the words name."""
    files = {f"{path.parent.name}={path.stem}": path for path in CONF.glob("*/*.yaml")}
    patches, values, problems = dict[str, Path](), dict[KeyPath, Any](), list[str]()
    for word in words:
        key, equals, value = word.partition("=")
        if word in files:
            patches[key] = files[word]
        elif key in GROUPS:
            near = get_close_matches(word, files, 1, 0)[0]
            problems.append(f"{word} is unknown; did you mean {near}?")
        elif not equals:
            groups = ", ".join(f"{group}=NAME" for group in GROUPS)
            problems.append(f"{word} has no value; expected {groups} or key=value")
        else:
            try:
                values[tuple(key.split("."))] = _yaml().load(value)
            except YAMLError:
                problems.append(f"{word}: the value is not YAML; quote it: {key}='\"…\"'")
    if problems:
        raise ConfigError("act-nli use", problems)
    return patches, values


def _yaml() -> YAML:
    yaml = YAML()
    yaml.Emitter = FlowEmitter
    yaml.preserve_quotes, yaml.width = True, 98
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def _tree(path: Path) -> CommentedMap:
    read_tree(path)  # one sentence if it cannot be read
    return _yaml().load(read_yaml_text(path))


def _plain(text: str) -> dict[str, Any]:
    return dict(YAML(typ="safe", pure=True).load(text))


def _text(tree: CommentedMap) -> str:
    """Return the text of params.yaml: a blank line before each section, and nowhere else."""
    out = io.StringIO()
    _yaml().dump(tree, out)
    text = re.sub(r" +\n", "\n", out.getvalue())
    text = re.sub(r"\n\n+(?= )", "\n", text)
    return re.sub(r"(?m)(?<=[^\n#]\n)(?=^\w+:)", "\n", text).rstrip() + "\n"


@cache
def _patch(path: Path) -> CommentedMap:
    """Return a patch over its defaults."""
    own, patch = _tree(path), CommentedMap()
    for name in own.pop("defaults", ()):
        _merge(patch, _patch(path.parent / f"{name}.yaml"))
    _merge(patch, own)
    return patch


def _merge(tree: CommentedMap, patch: Any) -> None:
    """Write a patch into a tree; a value has the comment of the patch, if any."""
    for key, value in patch.items():
        if isinstance(value, dict) and isinstance(tree.get(key), dict):
            _merge(tree[key], value)
            continue
        tree[key] = _copied(value)
        if (token := patch.ca.items.get(key, [None] * 3)[2]) and token.value.strip():
            _comment(tree, key, token)


def _comment(tree: CommentedMap, key: str, token: Any) -> None:
    """Give a key a comment; comment lines of their own that follow the key stay."""
    line, *more = token.value.rstrip().split("\n")
    lines = [line, *(m for m in more if len(m) - len(m.lstrip()) >= token.start_mark.column)]
    old = tree.ca.items.get(key, [None] * 3)[2]
    for m in old.value.rstrip().split("\n")[1:] if old else ():
        lines += [m] * (len(m) - len(m.lstrip()) < old.start_mark.column)
    tree.ca.items.pop(key, None)
    tree.yaml_add_eol_comment("\n".join(lines), key, token.start_mark.column)


def _copied(value: Any) -> Any:
    """Return a copy without anchors, in block or flow style as the original."""
    if isinstance(value, list):
        new: Any = CommentedSeq(map(_copied, value))
    elif isinstance(value, dict):
        _merge(new := CommentedMap(), value)
    else:
        return value
    if value.fa.flow_style():
        new.fa.set_flow_style()
    return new


@cache
def _touched() -> dict[str, Any]:
    """Return the keys that patches have, None for one that a patch replaces as a whole."""
    keys: dict[str, Any] = {}
    for path in CONF.rglob("*.yaml"):
        _add_keys(keys, _patch(path))
    return keys


def _add_keys(keys: dict[str, Any], patch: dict[str, Any]) -> None:
    for key, value in patch.items():
        if isinstance(value, dict) and keys.get(key, {}) is not None:
            _add_keys(keys.setdefault(key, {}), value)
        else:
            keys[key] = None


def _reset(tree: Any, demo: Any, touched: dict[str, Any]) -> None:
    """Remove the touched keys that the demo lacks; its mappings replace what a patch replaces."""
    for key, inner in touched.items():
        if key not in demo:
            tree.pop(key, None)
        elif isinstance(demo[key], dict) and isinstance(tree.get(key), dict):
            _reset(tree[key], demo[key], dict.fromkeys(tree[key]) if inner is None else inner)


def _set(tree: CommentedMap, key: KeyPath, value: Any) -> None:
    *parents, last = key
    for name in parents:
        if not isinstance(tree.get(name), dict):
            tree[name] = CommentedMap()
        tree = tree[name]
    tree[last] = value


def _resolve(node: Any, tree: Any) -> None:
    """Replace `${sweep.…}` by the value of that key."""
    for key, value in node.items():
        if isinstance(value, dict):
            _resolve(value, tree)
        elif isinstance(value, str) and (match := re.fullmatch(r"\$\{(sweep\.[\w.]+)\}", value)):
            node[key] = _copied(_at(tree, tuple(match[1].split("."))))


def _at(tree: Any, key: KeyPath) -> Any:
    """Return the value of a key, or ... without one."""
    for name in key:
        tree = tree.get(name, ...) if isinstance(tree, dict) else ...
    return tree


def _changes(old: Any, new: Any, parent: KeyPath = ()) -> Iterator[KeyPath]:
    """Yield the keys whose values differ; the mapping, where one of the two is none."""
    for name in old | new:
        key, values = (*parent, name), (old.get(name, ...), new.get(name, ...))
        if all(isinstance(value, dict) for value in values):
            yield from _changes(*values, key)
        elif values[0] != values[1]:
            yield key


def _known_trees() -> list[Any]:
    """Return params.yaml as committed (without git, the demo) and as `use` wrote it last."""
    trees: list[Any] = [_patch(DEMO)]
    with suppress(CalledProcessError, FileNotFoundError, YAMLError):
        trees = [_plain(git(Path(), "show", f"HEAD:./{PARAMS}"))]
    with suppress(FileNotFoundError, YAMLError):
        trees.append(_plain(LAST.read_text("utf-8")))
    return trees
