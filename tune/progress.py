"""The progress bar of a sweep: trials done, running, diverged, failed, best so far, time left."""

import sys
from collections import Counter
from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

from tqdm import tqdm

from actmodels.records import Epoch

End: TypeAlias = Literal["done", "diverged", "failed"]
ENDS: tuple[End, ...] = get_args(End)


class Progress:
    """A bar over epochs, followed by the state of the trials."""

    def __init__(self, title: str, trials: int, epochs: int) -> None:
        self.trials = trials
        self.ends = Counter[End]()
        self.running: set[str] = set()
        self.best: dict[str, Epoch] = {}  # by name
        self.epochs: dict[str, int] = {}
        interactive = sys.stderr.isatty()
        self.bar = tqdm(
            total=epochs,
            desc=title,
            unit="epoch",
            mininterval=0.5 if interactive else 30,
            dynamic_ncols=interactive,
            delay=1e-3,  # no output before Ray has started and printed its dashboard's address
        )

    def started(self, name: str) -> None:
        """Show a trial as running."""
        self.running.add(name)
        self.show()

    def waiting(self, names: Iterable[str]) -> None:
        """Show trials as not running until they restart."""
        self.running.difference_update(names)
        self.show()

    def reached(self, name: str, epochs: int, best: Epoch) -> None:
        """Advance a trial to a number of epochs."""
        if not self.epochs:
            self.bar.unpause()  # the start of the workers would count as the time of an epoch
        if name not in self.epochs:
            earlier = epochs - 1  # a resumed trial has them: they took no time of this run
            self.bar.n, self.bar.initial = self.bar.n + earlier, self.bar.initial + earlier
            self.bar.last_print_n += earlier
            self.epochs[name] = earlier
        self.bar.update(epochs - self.epochs[name])
        self.epochs[name] = epochs
        self.best[name] = best
        self.show()

    def ended(self, name: str, max_epochs: int, end: End = "done") -> None:
        """Show a trial as ended, and take its unused epochs out of the bar."""
        self.running.discard(name)
        self.bar.total = (self.bar.total or 0) - (max_epochs - self.epochs.get(name, 0))
        self.ends[end] += 1
        if end != "done":
            self.best.pop(name, None)
        self.show()

    def show(self) -> None:
        """Update the state of the trials."""
        name = max(self.best, key=lambda name: self.best[name].score, default="")
        best = f", best {self.best[name].text} ({name})" if name else ""
        ends = ", ".join(f"{self.ends[end]} {end}" for end in ENDS[1:])
        state = f"{self.ends['done']}/{self.trials} done, {len(self.running)} running, {ends}"
        self.bar.set_postfix_str(state + best, refresh=False)

    def close(self) -> None:
        """Draw the bar a last time, and end its line."""
        self.bar.delay = 0  # else tqdm omits the line break of a bar that it has not drawn yet
        self.bar.close()


def say(*lines: str) -> None:
    """Print lines above the progress bar."""
    tqdm.write("\n".join(lines), file=sys.stderr)
