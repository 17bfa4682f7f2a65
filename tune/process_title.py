"""The title of a worker's process: Ray's Cluster page, `top` and `nvidia-smi` show it."""

import os
from contextlib import suppress
from pathlib import Path

# Place of the arguments in memory: fields 48 and 49 of proc_pid_stat(5), counted from the third.
ARGUMENTS = slice(45, 47)


def set_process_title(title: str) -> None:
    """Overwrite the arguments of this process, as Ray does before each call; on Linux alone.

    The package setproctitle fails here: it looks for arguments that Ray has overwritten. This is
    for display only, so that a system that forbids it shows Ray's title.
    """
    with suppress(OSError, ValueError):
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        start, end = map(int, fields[ARGUMENTS])
        text = title.encode()[: end - start - 1].ljust(end - start, b"\0")
        memory = os.open("/proc/self/mem", os.O_WRONLY)
        try:
            os.pwrite(memory, text, start)
        finally:
            os.close(memory)
