"""A training that requests its own end, or that of its sweep, as a user from another shell does."""

from pathlib import Path

from tests.tune.own_curve import Curve
from tune.trials.stops import USER, Stops
from tune.trials.storage import storage


class Request(Curve):
    """In its second epoch it writes the request that the file `request` in its folder names."""

    def run_epoch(self) -> dict[str, float]:
        path = Path(self.config["folder"], f"request-{self.config['seed']}")
        if self.epoch == 1 and path.exists():
            Stops(storage(self.config["folder"]), "").request(path.read_text(), USER)
        return super().run_epoch()
