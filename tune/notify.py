"""Send a message when a sweep ends; a call that fails or hangs does not harm the sweep."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from threading import Thread
from typing import Any
from urllib.request import Request, urlopen

from actmodels.errors import first_line

TIMEOUT = 10.0  # ours, seconds


def notify(target: str, message: Mapping[str, Any]) -> None:
    """Post a message as JSON to a URL, or give it to a command on its standard input."""
    content, problems = json.dumps(message).encode(), ["no answer in time"]

    def call() -> None:
        try:
            (_post if target.startswith(("http://", "https://")) else _run)(target, content)
            problems.clear()
        except Exception as error:  # whatever it is: the results are safe, and are not delayed
            problems[:] = [first_line(error)]

    thread = Thread(target=call, daemon=True)  # a server may answer a byte at a time
    thread.start()
    thread.join(TIMEOUT + 1)
    if problems:
        print(f"cluster.notify failed: {problems[0]}", file=sys.stderr, flush=True)


def _post(url: str, content: bytes) -> None:
    request = Request(url, content, {"Content-Type": "application/json"})
    with urlopen(request, timeout=TIMEOUT):
        pass


def _run(command: str, content: bytes) -> None:
    streams: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL}
    words = ["sh", "-c", command]
    with subprocess.Popen(words, start_new_session=True, **streams) as process:
        try:
            process.communicate(content, TIMEOUT)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # with the commands of its shell
            raise OSError("its command did not end in time") from None
    if process.returncode:
        raise OSError(f"its command returned {process.returncode}")
