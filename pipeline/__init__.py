"""The stages. Ctrl-C during their imports, which take seconds, also prints one line."""

import os
import signal
import sys
from types import FrameType

INTERRUPTED = "interrupted; run the same command again to go on"


def _end(_number: int, _frame: FrameType | None) -> None:
    os.write(2, f"{INTERRUPTED}\n".encode())
    os._exit(128 + signal.SIGINT)  # an exception could be taken for that of an import


# until pipeline/runtime/stage.py takes over
if sys.argv[0] == "-m" and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _end)
