"""The identity of a project on an MLflow server that several projects share."""

import json
import platform
import secrets
from contextlib import suppress
from pathlib import Path

from actmodels.files import replacing


def project_id(state: Path) -> str:
    """Return the id in state/project.json, which is created if necessary.

    A moved project keeps its id. A copy gets another one: its file has another inode, and is in
    another folder or on another machine.
    """
    path, place = state.resolve() / "project.json", f"{platform.node()}:{state.resolve()}"
    with suppress(FileNotFoundError, ValueError, LookupError, TypeError):
        stored = json.loads(path.read_bytes())
        if path.stat().st_ino == stored["inode"] or stored["place"] == place:
            return str(stored["id"])
    new = secrets.token_hex(8)
    with replacing(path) as temporary:
        temporary.touch()
        stored = {"id": new, "inode": temporary.stat().st_ino, "place": place}
        temporary.write_text(json.dumps(stored), encoding="utf-8")
    return new
