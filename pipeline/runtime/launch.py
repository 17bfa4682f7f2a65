"""Run a module of the project as `python -m` does: launch.py -m MODULE ARGUMENTS.

The project's packages hide others of their names, such as an installed `actmodels`. A file of the
project's folder hides no module, neither of the standard library (random.py) nor an installed one.
"""

import runpy
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

ROOT = str(Path(__file__).parents[2])
PACKAGES = ("actmodels", "bench", "pipeline", "reports", "studies", "tune")


class ProjectFinder:
    """Find the packages in the project's folder."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a package of the project; Python calls this."""
        return PathFinder.find_spec(name, [ROOT]) if name in PACKAGES else None


if __name__ == "__main__":
    sys.meta_path.insert(0, ProjectFinder)
    sys.path.append(ROOT)
    _, option, module, *arguments = sys.argv
    sys.argv = [option, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
