"""Work in processes of its own: at the same moment in all of them, or alone in a new one."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from threading import Barrier
from typing import Any, TypeVar

import torch

from pipeline.benchmark.timing import Timed

Result = TypeVar("Result")
_SPAWN = multiprocessing.get_context("spawn")  # nothing of this process is in theirs
_turns: dict[str, Callable[[], Timed]] = {}


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()  # however it ends
    os._exit(1)


def _begin() -> None:
    """What each process does first: one thread, and Ctrl-C is the parent's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)


def _make(
    barrier: Barrier, make: Callable[..., Mapping[str, Callable[[], Timed]]], *arguments: Any
) -> None:
    _begin()

    def at_once(run: Callable[[], Timed]) -> Callable[[], Timed]:
        def turn() -> Timed:
            barrier.wait()  # also keeps a process from taking the turn of another
            return run()

        return turn

    _turns.update({name: at_once(run) for name, run in make(*arguments).items()})


def _turn(name: str) -> Timed:
    return _turns[name]()


class AllAtOnce:
    """Processes of one thread each that run a variant all at the same moment.

    Args:
        make: makes the variants in each of them; a function of a module, found there by name.
    """

    def __init__(self, number: int, make: Callable[..., Any], *arguments: Any) -> None:
        given = (_SPAWN.Barrier(number), make, *arguments)
        self.number = number
        self.pool = ProcessPoolExecutor(number, _SPAWN, initializer=_make, initargs=given)

    def __enter__(self) -> "AllAtOnce":
        """Processes start with the first run."""
        return self

    def __exit__(self, *_: object) -> None:
        """End them."""
        self.pool.shutdown(cancel_futures=True)

    def run(self, name: str) -> Timed:
        """Run a variant in all of them.

        Returns:
            a run whose rate is the sum of theirs; seconds of processors are all of theirs.
        """
        runs = list(self.pool.map(_turn, [name] * self.number))
        count, rate = sum(r.count for r in runs), sum(r.count / r.wall for r in runs)
        return Timed(count, count / rate, sum(r.cpu for r in runs))


def in_new_process(work: Callable[..., Result], *arguments: Any) -> Result:
    """What `work`, a function of a module, returns in a new process of one thread."""
    with ProcessPoolExecutor(1, _SPAWN, initializer=_begin) as pool:
        return pool.submit(work, *arguments).result()
