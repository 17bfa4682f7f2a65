"""The same variants in several processes at once, as many as a machine trains trials at once."""

import multiprocessing
import multiprocessing.context
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import torch

from actmodels.bench.timing import Timed

Variants = Mapping[str, Callable[[], Timed]]


def server() -> multiprocessing.context.ForkServerContext:
    """Starts processes that have torch already, and nothing else of this one."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["actmodels.bench.trials"])
    return context


class Processes:
    """Processes that run a variant when told to, all at the same moment."""

    def __init__(self, connections: list[Any]) -> None:
        self.connections = connections

    def run(self, name: str) -> Timed:
        """Run a variant in all of them.

        Returns:
            a run whose rate is the sum of theirs; seconds of processors are all of theirs.
        """
        for connection in self.connections:
            connection.send(name)
        runs: list[Timed] = [connection.recv() for connection in self.connections]
        count = sum(run.count for run in runs)
        rate = sum(run.count / run.wall for run in runs)
        return Timed(count, count / rate, sum(run.cpu for run in runs))


def _serve(
    connection: Connection, make: Callable[..., Variants], arguments: tuple[Any, ...]
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's, which ends this process
    torch.set_num_threads(1)
    variants = make(*arguments)
    connection.send("ready")
    while True:
        try:
            connection.send(variants[connection.recv()]())
        except (EOFError, BrokenPipeError):  # the parent is gone
            return


@contextmanager
def processes(number: int, make: Callable[..., Variants], *arguments: Any) -> Iterator[Processes]:
    """Start processes of one thread each, in which `make` makes the variants.

    Args:
        make: a function of a module, as it is found by name in the new process.
    """
    context = server()
    started, connections = [], []
    try:
        for _ in range(number):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, make, arguments), daemon=True)
            process.start()
            theirs.close()
            started.append(process)
            connections.append(ours)
        for connection in connections:
            connection.recv()
        yield Processes(connections)
    finally:
        for connection in connections:
            connection.close()
        for process in started:
            process.terminate()
            process.join()
