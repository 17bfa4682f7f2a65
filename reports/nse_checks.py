"""What must hold within and between the files of the stage `nse`."""

from collections.abc import Hashable, Iterable
from typing import Any

import pandas as pd

from reports.nse_published import GATING, KINDS, SOURCES, STRATEGIES
from reports.reading import Source, read_json
from reports.spread import Spread
from reports.study_files import check_once

RUN = ("questions", "run")
PLACE = (*RUN, "seed")
OF_RUN = ("strategy", "steps")  # the same for all seeds
SPLITS = ("train", "dev", "test")
MEANS = ("dev_accuracy_mean", "test_accuracy_mean", "difference")  # what summary.json has of a run
SAME = 1e-9  # two roundings of one mean
NEARLY = 1e-3  # sums of single precision


def check_results(source: Source, results: pd.DataFrame) -> None:
    """Every run is known, there once, the same for all seeds, and took steps."""
    for column, known in (("questions", KINDS), ("strategy", STRATEGIES)):
        if unknown := sorted(set(results[column]) - set(known)):
            raise source.damaged(
                f"has the {column} {unknown[0]!r}; must be one of {', '.join(known)}"
            )
    check_once(source, results, *PLACE)
    for (kind, run), rows in results.groupby(list(RUN), sort=False):
        for column in (*OF_RUN, "parameters"):
            if rows[column].nunique() > 1:
                raise source.damaged(f"{kind}, {run}: {column} must be the same for all seeds")
    for place, row in _by_place(results).items():
        _check_taken(source, _said(place), row)


def _check_taken(source: Source, where: str, row: dict[Hashable, Any]) -> None:
    """Steps are there unless training diverged, and between one and the most there are."""
    most = row["steps"]
    if most < 1:
        raise source.damaged(f"{where}: steps is {most}; must be at least 1")
    for column in ("dev_mean_steps", "test_mean_steps"):
        taken = row[column]
        if pd.isna(taken) and row["diverged"]:
            continue
        if pd.isna(taken):
            raise source.damaged(f"{where}: {column} is empty; must be a number")
        if row["strategy"] == GATING and abs(taken - most) > NEARLY:
            raise source.damaged(
                f"{where}: {column} is {taken!r}; must be {most}, as all steps are taken"
            )
        if not 1 - NEARLY <= taken <= most + NEARLY:
            raise source.damaged(f"{where}: {column} is {taken!r}; must be 1 to {most}")


def check_places(
    source: Source, found: Iterable[Any], wanted: Iterable[Any], lost: Iterable[Any] = ()
) -> None:
    """A table has the runs of results.csv, but perhaps for such as are lost, and no others."""
    for place in sorted(set(wanted) - set(found) - set(lost)):
        raise source.damaged(f"lacks {_said(place)}, which results.csv has")
    for place in sorted(set(found) - set(wanted)):
        raise source.damaged(f"has {_said(place)}, which results.csv has not")


def check_runs(source: Source, runs: pd.DataFrame, results: pd.DataFrame) -> None:
    """Every run is there once with the means of its seeds; the first of each kind differs by 0."""
    check_places(source, places_of(runs, RUN), places_of(results, RUN))
    check_once(source, runs, *RUN)
    for kind, rows in runs.groupby("questions", sort=False):
        first = rows.iloc[0]
        if first["difference"] != 0:
            raise source.damaged(
                f"{kind}: {first['run']}, its first run, differs by {first['difference']}; "
                "must be 0, as the others are compared with it"
            )
    for row in runs.to_dict("records"):
        kind, run = row["questions"], row["run"]
        where = f"{kind}, {run}"
        seeds = results[(results["questions"] == kind) & (results["run"] == run)]
        if row["low"] > row["high"]:
            raise source.damaged(f"{where}: low is above high")
        for column in (*OF_RUN, "seeds"):
            has = len(seeds) if column == "seeds" else seeds[column].iloc[0]
            if row[column] != has:
                problem = f"{column} is {row[column]} where results.csv has {has}"
                raise source.damaged(f"{where}: {problem}")
        for split in ("dev", "test"):
            spread = Spread.of(seeds[f"{split}_accuracy"])
            for column, wanted in (("mean", spread.mean), ("sd", spread.sd)):
                found = row[f"{split}_accuracy_{column}"]
                if wanted is None and pd.isna(found):
                    continue
                if wanted is None or not abs(found - wanted) <= SAME:
                    must = "empty with one seed" if wanted is None else f"{wanted!r}, as the seeds'"
                    what = f"{where}: {split}_accuracy_{column}"
                    raise source.damaged(f"{what} is {found!r}; must be {must}")


def check_baselines(source: Source, baselines: pd.DataFrame, results: pd.DataFrame) -> None:
    """Each kind of questions has each split once; test has as many as were answered."""
    check_once(source, baselines, "questions", "split")
    sources = sorted(set(baselines["source"]))
    if len(sources) > 1:
        raise source.damaged(f"has questions of {' and '.join(sources)}; must be of one source")
    for unknown in (s for s in sources if s not in SOURCES and not s.startswith("text ")):
        known = ", ".join((*SOURCES, "text NAME"))
        raise source.damaged(f"has the source {unknown!r}; must be one of {known}")
    found = set(zip(baselines["questions"], baselines["split"], strict=True))
    wanted = {(kind, split) for kind in results["questions"] for split in SPLITS}
    for kind, split in sorted(wanted - found):
        raise source.damaged(f"lacks the split {split} of {kind}, which results.csv has")
    for kind, split in sorted(found - wanted):
        raise source.damaged(f"has the split {split} of {kind}, which no run of results.csv has")
    test = baselines[baselines["split"] == "test"]
    counts = dict(zip(test["questions"], test["count"], strict=True))
    for place, row in _by_place(results).items():
        if row["test_questions"] != counts[place[0]]:
            raise source.damaged(
                f"{place[0]}: test has {counts[place[0]]} questions where results.csv has "
                f"{row['test_questions']} for {_said(place)}"
            )


def check_best(source: Source, history: pd.DataFrame, results: pd.DataFrame) -> None:
    """The best epoch's accuracy is that of results.csv."""
    places = zip(places_of(history, PLACE), history["epoch"], history["dev_accuracy"], strict=True)
    accuracies = {(place, epoch): accuracy for place, epoch, accuracy in places}
    for place, row in _by_place(results).items():
        where, found = _said(place), accuracies.get((place, row["best_epoch"]))
        if found is None and row["diverged"]:
            continue
        if found is None:
            raise source.damaged(f"{where}: lacks epoch {row['best_epoch']}, its best")
        if abs(found - row["dev_accuracy"]) > SAME:
            raise source.damaged(
                f"{where}: dev_accuracy of its best epoch is {found!r} where results.csv has "
                f"{row['dev_accuracy']!r}"
            )


def check_steps(source: Source, steps: pd.DataFrame, results: pd.DataFrame) -> None:
    """Each run has all its steps, whose weights add up to 1 and to its mean steps."""
    runs = _by_place(results)
    for place, rows in steps.groupby(list(PLACE), sort=False):
        run = runs[place]
        where, most = _said(place), run["steps"]
        if sorted(rows["step"]) != list(range(1, most + 1)):
            has = ", ".join(map(str, rows["step"]))
            raise source.damaged(f"{where}: has the steps {has}; must have 1 to {most}")
        if abs((total := float(rows["weight"].sum())) - 1) > NEARLY:
            raise source.damaged(f"{where}: weights add up to {total:.6g}; must add up to 1")
        mean = float((rows["step"] * rows["weight"]).sum())
        if abs(mean - run["dev_mean_steps"]) > NEARLY * most:
            raise source.damaged(
                f"{where}: weights make {mean:.6g} steps in the mean where results.csv has "
                f"{run['dev_mean_steps']!r} on dev"
            )


def check_summary(source: Source, runs: pd.DataFrame) -> None:
    """The stage's own figures are those of runs.csv."""
    kinds = tuple(dict.fromkeys(runs["questions"]))
    stored = read_json(source, kinds)
    for row in runs.to_dict("records"):
        kind, run = row["questions"], row["run"]
        for column in MEANS:
            try:
                found = float(stored[kind][run][column])
            except (KeyError, TypeError, ValueError) as error:
                raise source.damaged(f"{kind}, {run}: has no number {column}") from error
            if abs(found - row[column]) > SAME:
                raise source.damaged(
                    f"{kind}, {run}: {column} is {found!r} where runs.csv has {row[column]!r}"
                )


def places_of(table: pd.DataFrame, columns: tuple[str, ...]) -> list[Any]:
    """Kind, run and perhaps seed of each row."""
    return list(zip(*(table[column] for column in columns), strict=True))


def _by_place(results: pd.DataFrame) -> dict[Any, dict[Hashable, Any]]:
    return dict(zip(places_of(results, PLACE), results.to_dict("records"), strict=True))


def _said(place: Any) -> str:
    kind, run, *seed = place
    return f"seed {seed[0]} of {kind}, {run}" if seed else f"{kind}, {run}"
