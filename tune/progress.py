"""The live line of a sweep: done, running, failed, best so far, time left."""

import sys

from tqdm import tqdm


class Progress:
    """A bar over epochs with the state of the trials beside it."""

    def __init__(self, title: str, trials: int, epochs: int) -> None:
        self.trials = trials
        self.done = self.failed = 0
        self.running: set[str] = set()
        self.best: tuple[float, str] | None = None
        self.epochs_of: dict[str, int] = {}
        interactive = sys.stderr.isatty()
        self.bar = tqdm(
            total=epochs,
            desc=title,
            unit="epoch",
            mininterval=0.5 if interactive else 30,
            dynamic_ncols=interactive,
            delay=1e-3,  # nothing is drawn before Ray has started and said where its dashboard is
        )

    def started(self, name: str) -> None:
        """A trial is running."""
        self.running.add(name)
        self.show()

    def reached(self, name: str, epochs: int, dev_accuracy: float) -> None:
        """A trial has this many epochs behind it."""
        self.bar.update(epochs - self.epochs_of.get(name, 0))
        self.epochs_of[name] = epochs
        if self.best is None or dev_accuracy > self.best[0]:
            self.best = (dev_accuracy, name)
        self.show()

    def ended(self, name: str, max_epochs: int, *, failed: bool = False) -> None:
        """A trial is over; epochs it did not need leave the bar."""
        self.running.discard(name)
        self.bar.total = (self.bar.total or 0) - (max_epochs - self.epochs_of.get(name, 0))
        self.done, self.failed = self.done + (not failed), self.failed + failed
        self.show()

    def show(self) -> None:
        """Put the state of the trials beside the bar."""
        best = f", best dev {100 * self.best[0]:.1f} % ({self.best[1]})" if self.best else ""
        state = f"{self.done}/{self.trials} done, {len(self.running)} running, {self.failed} failed"
        self.bar.set_postfix_str(state + best, refresh=False)

    def close(self) -> None:
        """Draw the bar a last time and leave it."""
        self.bar.refresh()
        self.bar.close()
