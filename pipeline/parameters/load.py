"""params.yaml as one validated object; whatever is wrong with it is said at once."""

from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import DuplicateKeyError
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from actmodels.errors import ConfigError
from pipeline.parameters.problems import checked, unset
from pipeline.parameters.rules import rule_problems
from pipeline.parameters.schema import Params

__all__ = ["Params", "load_params"]


def load_params(path: Path = Path("params.yaml")) -> Params:
    """Read and check the parameters.

    Raises:
        ConfigError: one sentence for each problem, naming its key, or its line where the file is
            not even YAML.
    """
    tree = _read(path)
    placeholders = unset(tree)
    params, broken = checked(tree)
    problems = list(placeholders.values())
    problems += [sentence for key, sentence in broken.items() if key not in placeholders]
    problems += rule_problems(tree)
    if params is None or problems:
        raise ConfigError(str(path), problems)
    return params


def _read(path: Path) -> dict[str, Any]:
    """The YAML mapping in a file.

    YAML 1.2, the version that DVC reads and writes: `1e-3` is a number, `yes` is text.
    """
    try:
        tree = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
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
    if tree is None:
        raise ConfigError(str(path), ["is empty; restore it with: git checkout params.yaml"])
    if not isinstance(tree, dict):
        kind = type(tree).__name__
        raise ConfigError(str(path), [f"holds a {kind}; must be a mapping of sections"])
    return tree


def _marked(what: str, error: MarkedYAMLError) -> str:
    place = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
    return f"{what}{place}: {error.problem}"
