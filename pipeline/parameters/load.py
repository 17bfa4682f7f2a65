"""params.yaml as one validated object; whatever is wrong with it is said at once."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.constructor import ConstructorError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from actmodels.errors import ConfigError, shown
from pipeline.parameters.files import endless, text_of
from pipeline.parameters.rules import rule_problems
from pipeline.parameters.schema import Params
from pipeline.parameters.sentences import sentence

__all__ = ["Params", "load_params"]
NESTED = "is nested without end; an alias may name itself, or others that name others"


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
        ConfigError: one sentence for each value that is wrong, naming its key; where none is, one
            for each rule that several keys break; or one with a line, for what is not even YAML.
    """
    tree = _read(path)
    try:
        params = Params.model_validate(tree)
    except ValidationError as error:
        problems = [sentence(details, Params) for details in error.errors()]
        raise ConfigError(str(path), problems) from None
    if problems := rule_problems(params):
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
    except MarkedYAMLError as error:
        place = f" at line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError(str(path), [f"is not YAML{place}: {error.problem}"]) from error
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
