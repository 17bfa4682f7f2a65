"""A thread that does one thing again and again."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class Background:
    """Does `action` in a thread, once for each time it is asked, never twice at the same time."""

    def __init__(self, action: Callable[[], object]) -> None:
        self.action = action
        self.thread = ThreadPoolExecutor(1, "background")
        self.last: Future[object] | None = None

    def ask(self) -> None:
        """Have it done once more; an error of the time before, if known by now, is raised here."""
        if self.last and self.last.done():
            self.last.result()
        self.last = self.thread.submit(self.action)

    def end(self) -> None:
        """Wait for what was asked for; an error of the last time is raised here."""
        self.thread.shutdown()
        if self.last:
            self.last.result()
