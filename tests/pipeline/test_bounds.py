"""Every number of params.yaml has an upper end: work without one is a hang, and no memory holds it.

Which numbers there are is asked of the schema itself.
"""

from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest
from pydantic import TypeAdapter, ValidationError

from actmodels import config, settings
from actmodels.multihop import config as multihop
from actmodels.reader import config as reader
from actmodels.sequences import config as sequences
from actmodels.values import Count, settings_of, value_problem
from pipeline.parameters.load import Params
from pipeline.parameters.section import Section

TOO_MUCH = 10**16


def numbers(hint: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Each type of a number in a type, with the way to it."""
    base = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if base in (int, float):
        yield path, hint
    elif isinstance(base, type) and issubclass(base, Section):
        for name, kind in get_type_hints(base, include_extras=True).items():
            yield from numbers(kind, f"{path}.{name}")
    else:
        for kind in get_args(base):
            yield from numbers(kind, path)


def test_every_number_of_the_sections() -> None:
    found = list(numbers(Params, "params"))
    assert len(found) > 70
    for path, hint in found:
        for value in (TOO_MUCH, 10**400, 1e300):
            with pytest.raises(ValidationError):
                print(path, TypeAdapter(hint).validate_python(value, strict=True))


def test_every_number_of_a_trial() -> None:
    modules = (config, settings, multihop, sequences, reader)
    parts = [part for module in modules for part in vars(module).values() if is_dataclass(part)]
    found = [(part, *pair) for part in parts for pair in settings_of(part).items()]  # type: ignore[arg-type]
    asked = [(*owner, hint) for *owner, hint in found if list(numbers(hint, ""))]
    assert len(asked) > 60
    assert not [owner for *owner, hint in asked if not value_problem(hint, TOO_MUCH)]


def test_a_number_that_python_does_not_write_is_told() -> None:
    said = "is a number of thousands of digits; must be at most 1,000,000,000"
    assert value_problem(Count, 16**5000) == said
