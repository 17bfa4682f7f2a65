"""The stages. A signal during their imports, which take seconds, also prints one line."""

import os
import signal
import sys
from types import FrameType

from actmodels.errors import INTERRUPTED as INTERRUPTED

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # Ctrl-C, a scheduler, a closed terminal


def _end(number: int, _frame: FrameType | None) -> None:
    os.write(2, f"{INTERRUPTED.format(signal.Signals(number).name)}\n".encode())
    os._exit(128 + number)  # an exception could be taken for that of an import


# until pipeline/runtime/stage.py takes over; what a parent process ignores stays ignored
for _number in SIGNALS if sys.argv[0] == "-m" else ():
    if signal.getsignal(_number) in (signal.default_int_handler, signal.SIG_DFL):
        signal.signal(_number, _end)
