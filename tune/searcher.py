"""Ray Tune's source of trials during a sequential search."""

from collections.abc import Iterable
from typing import Any

from ray.tune.search import Searcher

from tune.asked_trials import AskedTrials
from tune.fusion import Fusion
from tune.nodes import Nodes


class TrialSearcher(Searcher):
    """Give Ray the unfinished trials first, then those that the search asks for.

    A trial is asked for when it can start, so that the search has as many scores as possible.
    """

    def __init__(self, fusions: Iterable[Fusion], asked: AskedTrials, nodes: Nodes) -> None:
        super().__init__()
        self.waiting = [[trial.key for trial in fusion.trials] for fusion in fusions]
        self.asked, self.nodes = asked, nodes
        self.running: dict[str, list[str]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(None), ())  # Ray pickles it with an experiment, which is not restored

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:  # type: ignore[override]
        """Return the next fusion; None: later; FINISHED: there is none."""
        if len(self.running) >= max(1, self.nodes.capacity):
            return None
        if not self.waiting and (trial := self.asked.ask()):
            self.waiting.append([trial.key])
        if not self.waiting:
            return Searcher.FINISHED
        self.running[trial_id] = self.waiting.pop(0)
        return {"fusion": self.running[trial_id]}

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Keep the score of a trial that the driver's callback has recorded."""
        for key in self.running.pop(trial_id, ()):
            self.asked.is_finished(key)

    def save_to_dir(self, checkpoint_dir: str, session_str: str = "default") -> None:
        """Save nothing: the ledger has the trials."""
