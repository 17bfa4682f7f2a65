"""Work in new processes of one thread each: alone, or at the same moment in all of them."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

import torch

from bench.timing import Timed

Result = TypeVar("Result")
_SPAWN = multiprocessing.get_context("spawn")  # nothing of this process is in theirs
_made: dict[str, Any] = {}  # what a process keeps between its turns


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()  # however it ends
    os._exit(1)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends this process
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)


def _make(barrier: Any, make: Callable[..., Callable[[str], Timed]], *arguments: Any) -> None:
    _begin()
    _made.update(barrier=barrier, run=make(*arguments))


def _turn(name: str) -> Timed:
    _made["barrier"].wait()  # also keeps a process from taking the turn of another
    run: Callable[[str], Timed] = _made["run"]
    return run(name)


class AllAtOnce(ProcessPoolExecutor):
    """Processes that run a variant all at the same moment; they start with the first run.

    Args:
        make: makes what runs a variant by its name; found in the processes by its own name.
    """

    def __init__(self, number: int, make: Callable[..., Any], *arguments: Any) -> None:
        given = (_SPAWN.Barrier(number), make, *arguments)
        super().__init__(number, _SPAWN, initializer=_make, initargs=given)
        self.number = number

    def run(self, name: str) -> Timed:
        """Run a variant in all of them.

        Returns:
            a run whose rate is the sum of theirs; seconds of processors are all of theirs.
        """
        runs = list(self.map(_turn, [name] * self.number))
        count, rate = sum(r.count for r in runs), sum(r.count / r.wall for r in runs)
        return Timed(count, count / rate, sum(r.cpu for r in runs))


def in_new_process(work: Callable[..., Result], *arguments: Any) -> Result:
    """What `work`, a function of a module, returns in a process of its own."""
    with ProcessPoolExecutor(1, _SPAWN, initializer=_begin) as pool:
        return pool.submit(work, *arguments).result()
