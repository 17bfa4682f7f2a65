"""Load params.yaml as one validated object; all problems are reported together."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.constructor import ConstructorError, SafeConstructor
from ruamel.yaml.error import YAMLError

from actmodels.errors import ConfigError, shown
from actmodels.files import regular
from pipeline.parameters.rules import rule_problems
from pipeline.parameters.schema import Params
from pipeline.parameters.section import sentence
from pipeline.parameters.studies import params_type, select_sections

__all__ = ["Params", "is_endless", "load_params", "read_tree", "read_yaml_text"]

# not line breaks in YAML 1.2, but the libraries that read it take them as such
SPACES = str.maketrans("\x85\u2028\u2029", "   ")
MAX_VALUES = 100_000  # ours; params.yaml has about 400, dvc.lock 2,000


class Constructor(SafeConstructor):
    """Report the line of values on which ruamel fails without one, such as `!!bool maybe`."""

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """See SafeConstructor."""
        try:
            return super().construct_object(node, deep)
        except (LookupError, ValueError) as error:  # Python reads no number of 5,000 digits
            tag = node.tag.rpartition(":")[2]
            problem = f"{shown(node.value)} is not a valid {tag}; correct the value or its tag"
            raise ConstructorError(None, None, problem, node.start_mark) from error


def load_params(path: Path = Path("params.yaml"), *, trials: bool = False) -> Params:
    """Load and validate the parameters.

    Args:
        trials: build those of the sweep and of the studies, too.

    Raises:
        ConfigError: a message for the file, for each invalid value, or for each broken rule.
    """
    return checked(read_tree(path), str(path), trials=trials)


def checked(tree: dict[str, Any], source: str, *, trials: bool = False) -> Params:
    """Return the parameters of a tree; see `load_params`."""
    params = validated(tree, source)
    if problems := rule_problems(params, trials=trials):
        raise ConfigError(source, problems)
    return params


def validated(tree: dict[str, Any], source: str) -> Params:
    """Return the parameters of a tree, whose rules over several keys are not checked.

    Raises:
        ConfigError: a message for each invalid value of `source`.
    """
    words = [f"{group}={tree[group]}" for group in ("preset", "study", "models") if group in tree]
    if words:  # `dvc exp run -S +preset=paper`
        problem = f"{words[0]} is no key of params.yaml; run: act-nli use {' '.join(words)}"
        raise ConfigError(source, [problem])
    names, tree, problems = select_sections(tree)
    schema = params_type(*names)
    try:
        params = schema.model_validate(tree)
    except ValidationError as error:
        problems += [sentence(details, schema) for details in error.errors()]
    if problems:
        raise ConfigError(source, problems)
    return params


def read_yaml_text(path: Path) -> str:
    """Return the text of a file; raise OSError also for a pipe or a device, which could block."""
    return regular(path).read_text(encoding="utf-8").translate(SPACES)


def is_endless(tree: Any) -> bool:
    """Return whether a YAML tree has too many values, as with an alias that contains itself."""
    pending = [tree]
    for _ in range(MAX_VALUES):
        if not pending:
            return False
        node = pending.pop()
        if isinstance(node, dict | list):
            pending.extend(node.values() if isinstance(node, dict) else node)
    return True


def read_tree(path: Path) -> dict[str, Any]:
    """Read a YAML 1.2 mapping, as DVC does: `1e-3` is a number, `yes` is text.

    Raises:
        ConfigError: the file has none.
    """
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = Constructor
    try:
        tree = yaml.load(text := read_yaml_text(path))
        YAML(typ="safe").compose(text)  # DVC's parser refuses more; no values are built
        if isinstance(tree, dict) and not is_endless(tree):
            return tree
        problem = f"holds a {type(tree).__name__}; must be a mapping of sections"
        if tree is None:
            problem = "is empty; restore it with: git checkout params.yaml"
        elif isinstance(tree, dict):
            raise RecursionError
    except FileNotFoundError:
        problem = "no such file; run from the project root"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 at byte {error.start}"
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" at line {mark.line + 1}" if mark else ""
        problem = f"is not YAML{line}: {getattr(error, 'problem', error)}"
        problem += "; quote text with a colon in it" * problem.endswith("unexpected ':'")
    except RecursionError:
        problem = "is nested without end; an alias may name itself, or others that name others"
    raise ConfigError(str(path), [problem])
