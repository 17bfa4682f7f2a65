"""Which code and which versions a run comes from."""

import platform
import subprocess
from importlib.metadata import version
from pathlib import Path


def provenance_tags() -> dict[str, str]:
    """Commit of the code and versions of what computes the results.

    The commit ends in "-dirty" if tracked files differ from it, other than those that a run of
    the pipeline rewrites itself (dvc.lock, artefacts); it is "unknown" outside git.
    """
    folder = Path(__file__).parent

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        commit = git("rev-parse", "HEAD")
        outputs = (":(top,exclude)dvc.lock", ":(top,exclude)artefacts")
        if git("status", "--porcelain", "--untracked-files=no", "--", ":/", *outputs):
            commit += "-dirty"
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    versions = {f"{name}_version": version(name) for name in ("torch", "ray")}
    return {"git_commit": commit, "python_version": platform.python_version(), **versions}
