"""Which points of a grid a sweep trains. Does not import Ray.

A search has a class and a line in SEARCHES. It draws the points before the run, or proposes one at
a time from the scores of the finished ones (OptunaSearch). Each model is searched alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from actmodels.seeding import seed_of
from actmodels.trial_config import BaseTrialConfig

Config = TypeVar("Config", bound=BaseTrialConfig)
ATTEMPTS = 20  # suggestions of Optuna before a point is drawn


@dataclass(frozen=True)
class Search:
    """The whole grid, and the base class of the other searches.

    points: number of grid points of each model; None: all. seed: of the random numbers.
    """

    points: int | None
    seed: int

    def draw(self, configs: Sequence[Config]) -> list[Config]:
        """Return the configurations that the sweep may train, in their order."""
        return list(configs)

    def rank(self, model: str, index: int) -> int:
        """Return the sort key of a grid point of a model in a random order."""
        return seed_of(f"search {model}", self.seed, index)


class RandomSearch(Search):
    """Distinct points in a random order: more points keep the earlier ones."""

    def draw(self, configs: Sequence[Config]) -> list[Config]:
        """See Search; a point has all its seeds."""
        points: dict[str, dict[Config, None]] = {}
        for config in configs:
            points.setdefault(config.model, {})[replace(config, seed=0)] = None
        drawn: set[Config] = set()
        for model, group in points.items():
            order = {point: self.rank(model, index) for index, point in enumerate(group)}
            drawn.update(sorted(group, key=order.__getitem__)[: self.points])
        return [config for config in configs if replace(config, seed=0) in drawn]


class OptunaSearch(Search):
    """Optuna's tree-structured Parzen estimator, through the searcher of Ray Tune.

    It proposes one configuration at a time; each point has one seed. A proposal depends on the
    scores alone, so that a search continues after a crash.
    """

    def propose(
        self, configs: Sequence[BaseTrialConfig], scores: Mapping[int, float | None]
    ) -> int:
        """Return the index of a configuration without a score; suggested repetitions are replaced.

        Args:
            configs: a whole grid of one model.
            scores: by index, in the order of the proposals; None: not finished.
        """
        import optuna
        from ray.tune.search import optuna as ray_optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        flat = [config.flat() for config in configs]
        values = {name: list(dict.fromkeys(each[name] for each in flat)) for name in flat[0]}
        axes = {name: of for name, of in values.items() if len(of) > 1}
        points = [{name: each[name] for name in axes} for each in flat]
        free = {index for index in range(len(points)) if index not in scores}
        model = configs[0].model
        if len(free) > 1:
            categorical = optuna.distributions.CategoricalDistribution
            space: dict[str, Any] = {name: categorical(of) for name, of in axes.items()}
            seed = self.rank(model, len(scores)) % 2**32  # NumPy's limit
            searcher = ray_optuna.OptunaSearch(space, metric="score", mode="max", seed=seed)
            for index, score in scores.items():
                if score is not None:
                    searcher.add_evaluated_point(points[index], score)
            for attempt in range(ATTEMPTS):
                index = points.index(searcher.suggest(str(attempt)) or {})
                if index in free:
                    return index
        return min(free, key=lambda index: self.rank(model, index))


SEARCHES: dict[str, type[Search]] = {
    "grid": Search,
    "random": RandomSearch,
    "optuna": OptunaSearch,
}
