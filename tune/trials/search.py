"""Which points of a grid, or of ranges, a sweep trains. Does not import Ray.

A search has a class and a line in SEARCHES. It draws the points before the run, or proposes one at
a time from the scores of the finished ones (OptunaSearch). Each model is searched alone.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any

from actmodels.ranges import Axes, Point, Range, grid_points, is_listed, size
from actmodels.seeding import seed_of

ATTEMPTS = 20  # suggestions of Optuna before a point is drawn


def grid_order(axes: Axes) -> Callable[[Point], list[Any]]:
    """Return the sort key of points: the place in a list, or the value in a range."""
    indices = {n: axis.index for n, axis in axes.items() if not isinstance(axis, Range)}
    return lambda point: [indices.get(name, float)(point[name]) for name in axes]


@dataclass(frozen=True)
class Search:
    """The whole grid, and the base class of the other searches.

    points: number of points of each model; None: all. seed: of the random numbers.
    """

    points: int | None
    seed: int

    def draw(self, model: str, axes: Axes) -> list[Point]:
        """Return the points of a model that the sweep trains, in the order of the grid."""
        return grid_points(axes)

    def rank(self, model: str, index: int) -> int:
        """Return the sort key of a grid point of a model in a random order."""
        return seed_of(f"search {model}", self.seed, index)

    def shuffled(self, model: str, axes: Axes) -> Iterator[Point]:
        """Yield the points of a model in a random order; of ranges, without repetitions."""
        if is_listed(axes):
            points = grid_points(axes)
            yield from (
                points[i] for i in sorted(range(len(points)), key=lambda i: self.rank(model, i))
            )
            return
        drawn, total = set[tuple[Any, ...]](), size(axes)
        for index in count():
            if len(drawn) >= total:
                return
            point = {name: self._value(model, name, axis, index) for name, axis in axes.items()}
            if (values := tuple(point.values())) not in drawn:
                drawn.add(values)
                yield point

    def _value(self, model: str, name: str, axis: Sequence[Any] | Range, index: int) -> Any:
        share = seed_of(f"search {model} {name}", self.seed, index) / 2**63
        return axis.at(share) if isinstance(axis, Range) else axis[int(share * len(axis))]


class RandomSearch(Search):
    """Distinct points in a random order: more points keep the earlier ones."""

    def draw(self, model: str, axes: Axes) -> list[Point]:
        """See Search."""
        points = islice(self.shuffled(model, axes), self.points)
        return sorted(points, key=grid_order(axes))


@dataclass(frozen=True)
class OptunaSearch(Search):
    """Optuna's tree-structured Parzen estimator, through the searcher of Ray Tune.

    It proposes one point at a time, for all seeds, by the means over seeds of the earlier points.
    A proposal depends on these alone, so that a search continues after a crash. axes: of the model
    that is searched.
    """

    axes: Axes = field(default_factory=dict)

    def draw(self, model: str, axes: Axes) -> list[Point]:
        """Return any point: the trials are proposed later."""
        return grid_points(axes)[:1]

    @property
    def limit(self) -> int:
        """The number of points that are proposed."""
        return int(min(self.points or size(self.axes), size(self.axes)))

    def propose(self, model: str, scores: Sequence[tuple[Point, float | None]]) -> Point:
        """Return a point without a score; suggested repetitions are replaced.

        Args:
            scores: of the points, in the order of the proposals; None: not finished.
        """
        import optuna
        from ray.tune.search import optuna as ray_optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        known = [point for point, _ in scores]
        space = {name: d for name, axis in self.axes.items() if (d := _distribution(axis))}
        if size(self.axes) > len(known) + 1:
            seed = self.rank(model, len(scores)) % 2**32  # NumPy's limit
            searcher = ray_optuna.OptunaSearch(space, metric="score", mode="max", seed=seed)
            for point, score in scores:
                if score is not None:
                    searcher.add_evaluated_point({name: point[name] for name in space}, score)
            for attempt in range(ATTEMPTS):
                suggested = searcher.suggest(str(attempt)) or {}
                point = {
                    name: _chosen(axis, suggested.get(name)) for name, axis in self.axes.items()
                }
                if point not in known:
                    return point
        return next(point for point in self.shuffled(model, self.axes) if point not in known)


def _distribution(axis: Sequence[Any] | Range) -> Any:
    """Return Optuna's distribution of an axis; None for a single value."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if not isinstance(axis, Range):
        return CategoricalDistribution(axis) if len(axis) > 1 else None
    log = axis.scale == "log"
    if axis.whole:
        return IntDistribution(int(axis.min), int(axis.max), log=log, step=int(axis.step or 1))
    return FloatDistribution(axis.min, axis.max, log=log, step=axis.step)


def _chosen(axis: Sequence[Any] | Range, suggested: Any) -> Any:
    """Return the value of an axis that Optuna suggests."""
    if isinstance(axis, Range):
        return axis.rounded(suggested)
    return suggested if len(axis) > 1 else axis[0]


SEARCHES: dict[str, type[Search]] = {
    "grid": Search,
    "random": RandomSearch,
    "optuna": OptunaSearch,
}
