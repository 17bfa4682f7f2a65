"""Which code computes a trial's result, and the key that names the result.

The key covers the configuration, the data, the code, and the numerical environment. The code is
that of the first reading: workers get the same text (tune.cluster), whatever is edited meanwhile.
"""

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from actmodels import imports
from actmodels.config import AnyTrialConfig
from actmodels.kinds import kind_of

PACKAGE = Path(__file__).parent
DECLARATIONS = ("registry.py", "settings.py", "values.py", "config.py")  # by the files' names

sources = functools.cache(imports.sources)


def code_files(config: AnyTrialConfig) -> list[Path]:
    """The files of this package that train and evaluate a trial, by following imports.

    Those that train packs are among them; the files of other models and haltings are not. Values of
    the declarations are in the key already.
    """
    kind = kind_of(config)
    found = (kind.data, kind.training, kind.pack, *config.classes)
    names = [name.split(":")[0] for name in found if name is not None]
    files = imports.files_behind(names, sources(PACKAGE), PACKAGE.parent)
    return [path for path in files if path.name not in (*DECLARATIONS, "__init__.py")]


def code_digest(config: AnyTrialConfig) -> str:
    """SHA-256 over the code that computes a trial."""
    digest = hashlib.sha256()
    for path in code_files(config):
        digest.update(path.relative_to(PACKAGE).as_posix().encode())
        digest.update(imports.without_prose(sources(PACKAGE)[path]).encode())
    return digest.hexdigest()


def provenance(
    config: AnyTrialConfig, data_digest: str, device: str, threads: int
) -> dict[str, str]:
    """All that decides a trial's result besides its configuration."""
    return {
        "code": code_digest(config),
        "data": data_digest,
        "device": device,
        "threads": str(threads),
        "torch": torch.__version__,
    }


def trial_key(config: Mapping[str, Any], origin: Mapping[str, str]) -> str:
    """The name of a trial's result: 16 hexadecimal digits of SHA-256; see `provenance`."""
    identity = json.dumps({"config": config, "origin": origin}, sort_keys=True)
    return hashlib.sha256(identity.encode()).hexdigest()[:16]
