"""params.yaml as one validated object; whatever is wrong with it is said at once."""

from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml import YAML
from ruamel.yaml.constructor import ConstructorError, DuplicateKeyError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from actmodels.errors import ConfigError, shown
from pipeline.parameters.files import endless, text_of
from pipeline.parameters.rules import rule_problems
from pipeline.parameters.schema import Params
from pipeline.parameters.section import Section
from pipeline.parameters.sentences import KeyPath, dotted, unknown

__all__ = ["Params", "load_params"]
# What a preset writes for a value that it leaves to the user. Hydra's own mark, ???, will not
# do: merged over a value it keeps that value.
UNSET = "REQUIRED"
NESTED = "is nested without end; an alias may name itself, or others that name others"
EXPECTED = {
    "list_type": "a list",
    "dict_type": "a mapping of names to values",
    "model_type": "a mapping of names to values",
    "model_attributes_type": "a mapping of names to values",
}


class Constructor(SafeConstructor):
    """Python values of YAML; those that ruamel fails on, such as `!!bool maybe`, have a line."""

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """See SafeConstructor."""
        try:
            return super().construct_object(node, deep)
        except (LookupError, ValueError) as error:  # Python reads no number of 5,000 digits
            kind = node.tag.rpartition(":")[2]
            problem = f"{shown(node.value)} is not a valid {kind}; correct the value or its tag"
            raise ConstructorError(None, None, problem, node.start_mark) from error


def load_params(path: Path = Path("params.yaml")) -> Params:
    """Read and check the parameters.

    Raises:
        ConfigError: one sentence for each problem, naming its key, or its line where the file is
            not even YAML.
    """
    tree = _read(path)
    placeholders = unset(tree)
    problems = list(placeholders.values())
    try:
        params = Params.model_validate(tree)
    except ValidationError as error:
        broken = {details["loc"]: _sentence(details) for details in error.errors()}
        problems += [sentence for key, sentence in broken.items() if key not in placeholders]
    problems += rule_problems(tree)
    if problems:
        raise ConfigError(str(path), problems)
    return params


def _read(path: Path) -> dict[str, Any]:
    """The YAML mapping in a file.

    YAML 1.2, the version that DVC reads and writes: `1e-3` is a number, `yes` is text.
    """
    try:
        yaml = YAML(typ="safe", pure=True)
        yaml.Constructor = Constructor
        tree = yaml.load(text_of(path))
    except FileNotFoundError:
        raise ConfigError(str(path), ["no such file; run from the project root"]) from None
    except OSError as error:
        raise ConfigError(str(path), [f"cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), [f"is not UTF-8 at byte {error.start}"]) from error
    except DuplicateKeyError as error:
        raise ConfigError(str(path), [_marked("has a key twice", error)]) from error
    except MarkedYAMLError as error:
        raise ConfigError(str(path), [_marked("is not YAML", error)]) from error
    except YAMLError as error:
        raise ConfigError(str(path), [f"is not YAML: {error}"]) from error
    except RecursionError:
        raise ConfigError(str(path), [NESTED]) from None
    if endless(tree):
        raise ConfigError(str(path), [NESTED])
    if tree is None:
        raise ConfigError(str(path), ["is empty; restore it with: git checkout params.yaml"])
    if not isinstance(tree, dict):
        kind = type(tree).__name__
        raise ConfigError(str(path), [f"holds a {kind}; must be a mapping of sections"])
    return tree


def _marked(what: str, error: MarkedYAMLError) -> str:
    place = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
    return f"{what}{place}: {error.problem}"


def unset(tree: Any, path: KeyPath = ()) -> dict[KeyPath, str]:
    """Sentences for the values that a preset leaves to the user, by path."""
    if tree == UNSET:
        key = dotted(path)
        return {path: f"{key} is not set; the preset needs it on the command line: -S '{key}=...'"}
    branches: Any = ()
    if isinstance(tree, dict):
        branches = tree.items()
    elif isinstance(tree, list):
        branches = enumerate(tree)
    found: dict[KeyPath, str] = {}
    for key, branch in branches:
        found |= unset(branch, (*path, key))
    return found


def _sentence(details: ErrorDetails) -> str:
    path, kind = details["loc"], details["type"]
    key, value = dotted(path), details["input"]
    if kind == "missing":
        return f"{key} is missing"
    if kind in ("extra_forbidden", "invalid_key"):
        return unknown(path, _known_keys(path[:-1]))
    if kind == "too_short":
        return f"{key} is empty; must have at least one value"
    if kind == "too_long":
        return f"{key} has {len(value):,} values; must be at most {details['ctx']['max_length']:,}"
    if kind == "literal_error":
        return f"{key} is {shown(value)}; must be {details['ctx']['expected']}"
    if kind in EXPECTED:
        return f"{key} is {shown(value)}; must be {EXPECTED[kind]}"
    return f"{key} is {shown(value)}; {details['msg']}"


def _known_keys(path: KeyPath) -> list[str]:
    """The keys that the schema has under `path`."""
    kind: Any = Params
    for part in path:
        if get_origin(kind) is dict:
            kind = get_args(kind)[1]
        else:
            kind = kind.model_fields[part].annotation
            # an optional section: `Section | None`
            sections = [k for k in get_args(kind) if isinstance(k, type) and issubclass(k, Section)]
            if sections and get_origin(kind) is not dict:
                kind = sections[0]
    return list(kind.model_fields)
