"""Every number of params.yaml has an upper bound, so that no value causes endless work.

The schema itself lists the numbers.
"""

from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import TypeAdapter, ValidationError

from actmodels.registry import MODELS
from actmodels.trial_config import setting_types
from pipeline.parameters.section import PAIRS, Keys, Section
from pipeline.parameters.studies import params_type, study_names


def numbers(hint: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield path and type of each number in a type."""
    base = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if base in (int, float):
        yield path, hint
    elif isinstance(base, type) and issubclass(base, Section):
        for name, info in base.model_fields.items():
            kind = info.rebuild_annotation()
            yield from numbers(kind, f"{path}.{name}")
    elif isinstance(base, Keys):
        for name, kind in base.types.items():
            yield from numbers(kind, f"{path}.{name}")
    else:
        for kind in get_args(hint):
            yield from numbers(kind, path)


def test_every_number_has_an_upper_bound() -> None:
    result = list(numbers(params_type(*study_names()), "params"))
    assert len(result) > 400 and any(path.endswith("hop_attention.width") for path, _ in result)
    for path, hint in {str(hint): (path, hint) for path, hint in result}.values():
        for value in (10**16, 10**400, 1e300):
            with pytest.raises(ValidationError):
                print(path, TypeAdapter(hint).validate_python(value, strict=True))


def test_a_name_has_one_type_whatever_the_trial() -> None:
    """params.yaml is validated by the types of all trials together."""
    for model in MODELS:
        assert setting_types(model).items() <= PAIRS.items()
