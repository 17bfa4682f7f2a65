"""Run a module of the project as `python -m` does: launch.py -m MODULE ARGUMENTS.

The project's packages hide others of their names, such as an installed `actmodels`. A file of the
project's folder hides no module, neither of the standard library (random.py) nor an installed one.
A signal during the imports of a stage, which take seconds, prints one line.
"""

import gc
import os
import runpy
import signal
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import FrameType, ModuleType

ROOT = str(Path(__file__).parents[2])
PACKAGES = ("actmodels", "bench", "pipeline", "reports", "studies", "tune")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # Ctrl-C, a scheduler, a closed terminal


class ProjectFinder:
    """Find the packages in the project's folder."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a package of the project; Python calls this."""
        return PathFinder.find_spec(name, [ROOT]) if name in PACKAGES else None


def end(number: int, _frame: FrameType | None) -> None:
    """Print one line and exit; an exception could be taken for that of an import."""
    from actmodels.errors import INTERRUPTED

    os.write(2, f"{INTERRUPTED.format(signal.Signals(number).name)}\n".encode())
    os._exit(128 + number)


if __name__ == "__main__":
    sys.meta_path.insert(0, ProjectFinder)
    sys.path.append(ROOT)
    # until run_command takes over; what a parent process ignores stays ignored
    for number in SIGNALS:
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, end)
    gc.disable()  # likewise: imports leave no garbage, and the search takes a fifth of their time
    _, option, module, *arguments = sys.argv
    sys.argv = [option, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
