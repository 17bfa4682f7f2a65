"""The studies: the folders under studies/ that have a section.py. The core names none of them.

Their sections complete the type of params.yaml, and the JSON Schema that editors read.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import create_model

from actmodels.errors import ConfigError
from pipeline.parameters.schema import Params
from pipeline.parameters.section import UNIQUE, ParamsSection

FOLDER = Path(__file__).parents[2] / "studies"
SHARED = 110  # characters: a longer schema has a definition


class StudySection(ParamsSection):
    """The section of a study; its section.py has a subclass, `Study`."""

    def problems(self, params: Params) -> Iterator[str]:
        """Yield a message for each broken rule that spans several keys."""
        yield from ()

    def trials(self) -> Iterator[tuple[str, Iterable[object]]]:
        """Yield key and trials of each grid that params.yaml alone determines."""
        yield from ()


AnyStudy = TypeVar("AnyStudy", bound=StudySection)


def study_names() -> list[str]:
    """Return the names of all studies, sorted."""
    return sorted(path.parent.name for path in FOLDER.glob("*/section.py"))


def study_part(name: str, part: str) -> Any:
    """Import a module of a study, such as its `report`."""
    return import_module(f"studies.{name}.{part}")


@cache
def params_type(*names: str) -> type[Params]:
    """Return the type of params.yaml with the sections of these studies."""
    types: dict[str, Any] = {name: study_part(name, "section").Study for name in names}
    types["studies"] = Annotated[list[Literal[*study_names()]], UNIQUE]  # type: ignore[misc]
    fields: dict[str, Any] = {name: (of, ...) for name, of in types.items()}
    return create_model("Params", __base__=Params, **fields)


def select_sections(tree: dict[str, Any]) -> tuple[list[str], dict[str, Any], list[str]]:
    """Compare the sections of studies in params.yaml with its list of studies.

    Returns:
        the listed studies with a section; the tree without other studies' sections; a message for
        each section without a listed study, and for each listed study without a section.
    """
    names, listed = study_names(), tree.get("studies")
    if not isinstance(listed, list):  # reported alone
        listed = [name for name in names if name in tree]
    off = [name for name in names if name in tree and name not in listed]
    problems = [
        f"{name} is the section of a study that is not in studies; add {name} there, or remove the "
        "section"
        for name in off
    ]
    problems += [
        f"{name} is in studies, but has no section; add it, remove {name} from studies, or run: "
        f"act-nli use study={name}"
        for name in names
        if name in listed and name not in tree
    ]
    present = [name for name in names if name in listed and name in tree]
    return present, {key: tree[key] for key in tree if key not in off}, problems


def study_section(params: Params, of: type[AnyStudy]) -> AnyStudy:
    """Return the section of a study by its class.

    Raises:
        ConfigError: the study is off.
    """
    for _, section in params:
        if isinstance(section, of):
            return section
    name = of.__module__.split(".")[1]
    raise ConfigError(
        "params.yaml", [f"studies does not list {name}; run: act-nli use study={name}"]
    )


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of params.yaml, in which the section of each study is optional."""
    names, definitions = study_names(), dict[str, Any]()

    def shared(node: Any, *, whole: bool = False) -> Any:
        """Return a schema without titles, or a reference to its definition."""
        if isinstance(node, list):
            return [shared(item) for item in node]
        if not isinstance(node, dict):
            return node
        node = {k: shared(v) for k, v in node.items() if not (k == "title" and type(v) is str)}
        text = json.dumps(node)
        if whole or len(text) < SHARED or not isinstance(node.get("type"), str):
            return node
        name = hashlib.sha256(text.encode()).hexdigest()[:8]
        definitions[name] = node
        return {"$ref": f"#/$defs/{name}"}

    schema = params_type(*names).model_json_schema()
    definitions |= {name: shared(of, whole=True) for name, of in schema.pop("$defs").items()}
    required = [name for name in schema["required"] if name not in names]
    return shared(schema, whole=True) | {"required": required, "$defs": definitions}
