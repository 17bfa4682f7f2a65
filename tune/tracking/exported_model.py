"""A trained model, and its description for the registry."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

Metrics: TypeAlias = Mapping[str, "float | Metrics | None"]


@dataclass(frozen=True)
class ExportedModel:
    """A model of `artifacts/export` to register.

    Args:
        alias: its name in the registry.
        run: name of its run.
        digest: of everything that determines its predictions.
        data: folder that `_load_pyfunc` of the module `loader` reads.
        code: folders of packages that are stored with it.
        example: columns of the signature.
    """

    alias: str
    run: str
    digest: str
    data: Path
    code: Sequence[Path]
    loader: str
    requirements: Sequence[str]
    signature: Mapping[str, str]
    example: Mapping[str, Sequence[str]]
    description: str
    tags: Mapping[str, str] = field(default_factory=dict)
    metrics: Metrics = field(default_factory=dict)
