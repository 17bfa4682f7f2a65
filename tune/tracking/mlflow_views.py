"""Shared views of MLflow's page: columns, order and charts, stored where its *Share* button does.

A view is a tag of the experiment; a link names it. It replaces MLflow's list of names and dates by
a table of dev accuracy, steps, and the settings that differ.
"""

import json
import urllib.parse
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tune.tracking.mlflow_store import RESULT, TRAINING, TRAINING_PAGES, RunStore, store_errors

TAG = "mlflow.sharedViewState."  # MLflow 3's name of the tag, before the key of the view
METRICS = ("best_dev_accuracy", "best_dev_mean_steps", "best_epoch")
SETTINGS = 12  # columns: a tag has at most 5,000 characters
AXES = 7  # settings in the parallel coordinates: more are too narrow to read
RUNS = 200  # in the comparison
BY_CONFIGURATION = {"mode": "tag", "groupByData": "configuration"}


def links(state: Path, address: str) -> dict[str, str]:
    """Write the views of the project's runs; return their links by name.

    A stage with trials has two: a table, and the comparison by parallel coordinates. With several
    seeds a third has the mean over the seeds of each configuration.

    Args:
        address: of MLflow's page.
    """
    store = RunStore(state, reading=True)
    with store_errors(state):
        views = _views(store)
        return {name: _link(store, address, name, *view) for name, view in views.items()}


def _views(store: RunStore) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the views by name: MLflow's mode (table or charts) and the state of its page."""
    trials: dict[str, list[Mapping[str, str]]] = {}
    configurations: dict[str, list[str]] = {}
    for run in store.find(kind="trial"):
        stage, own = run.data.tags["stage"], run.data.tags.get("configuration", run.info.run_id)
        trials.setdefault(stage, []).append(run.data.params)
        configurations.setdefault(stage, []).append(own)
    views: dict[str, tuple[str, dict[str, Any]]] = {}
    first = {"sweep": 0, "retrain": 1}
    for stage in sorted(trials, key=lambda stage: (first.get(stage, len(first)), stage)):
        view = _trials(stage, _varying(trials[stage]))  # by stage: tasks do not compare
        views |= {f"trials of {stage}": ("TABLE", view), f"compare {stage}": ("CHART", view)}
        if len(set(configurations[stage])) < len(configurations[stage]):
            views[f"seeds of {stage}"] = ("CHART", _seeds(view))
    columns = ["attributes.`Source`", "attributes.`Version`", "attributes.`User`"]
    for name, role in {"stages": TRAINING, "results": RESULT}.items():
        views[name] = ("TABLE", _table(f"tags.role = '{role}'", columns))
    return views


def _varying(settings: Iterable[Mapping[str, str]]) -> list[str]:
    """Return the settings with more than one value: the model, those of a grid, and the others."""
    values: dict[str, set[str]] = {}
    swept: set[str] = set()  # they differ between trials of one model
    first: dict[tuple[str, str], str] = {}
    for trial in settings:
        for name, value in trial.items():
            values.setdefault(name, set()).add(value)
            if first.setdefault((trial.get("model", ""), name), value) != value:
                swept.add(name)
    names = [name for name, different in values.items() if len(different) > 1]
    return sorted(names, key=lambda name: (name != "model", name not in swept))[:SETTINGS]


def _table(condition: str, columns: list[str]) -> dict[str, Any]:
    return {
        "searchFilter": condition,
        "orderByKey": f"metrics.`{METRICS[0]}`",
        "orderByAsc": False,
        "selectedColumns": columns,
        "runsHiddenMode": "SHOW_ALL",
    }


def _trials(stage: str, settings: list[str]) -> dict[str, Any]:
    """Return the view of a stage's trials: columns, parallel coordinates, bars and curves."""
    columns = [*(f"metrics.`{name}`" for name in METRICS), *(f"params.`{s}`" for s in settings)]
    common = {"deleted": False, "isGenerated": False, "runsCountToCompare": RUNS}
    charts: list[dict[str, Any]] = [
        {
            "type": "PARALLEL",
            "selectedParams": settings[:AXES],
            "selectedMetrics": [METRICS[0]],
            "showAllRuns": True,
            "metricSectionId": "settings",
        },
        {"type": "BAR", "metricKey": METRICS[0], "metricSectionId": "accuracy"},
        {
            "type": "LINE",
            "metricKey": "dev_accuracy",
            "selectedMetricKeys": ["dev_accuracy"],
            "xAxisKey": "step",
            "useGlobalLineSmoothing": False,  # few epochs: smoothed, the best one is lower
            "lineSmoothness": 0,
            "metricSectionId": "accuracy",
        },
    ]
    sections = {"settings": ("Settings and dev accuracy", 1), "accuracy": ("Dev accuracy", 2)}
    return _table(f"tags.kind = 'trial' AND tags.stage = '{stage}'", columns) | {
        "compareRunCharts": [{"uuid": c["type"].lower(), **common, **c} for c in charts],
        "compareRunSections": [
            {"uuid": uuid, "name": name, "columns": number, "display": True, "isReordered": False}
            for uuid, (name, number) in sections.items()
        ],
        "isAccordionReordered": True,  # our order
    }


def _seeds(view: dict[str, Any]) -> dict[str, Any]:
    """Return the view with a row, bar and curve for each configuration: the mean over seeds."""
    of_trials, *charts = view["compareRunCharts"]  # MLflow has no parallel coordinates of groups
    sections = [s for s in view["compareRunSections"] if s["uuid"] != of_trials["metricSectionId"]]
    groups = {"aggregateFunction": "average", "groupByKeys": [BY_CONFIGURATION]}
    charts_of_groups = {"compareRunCharts": charts, "compareRunSections": sections}
    return view | charts_of_groups | {"groupBy": groups, "useGroupedValuesInCharts": True}


def _link(store: RunStore, address: str, name: str, mode: str, state: dict[str, Any]) -> str:
    """Store a view; return its link. Project and content identify it, as servers are shared."""
    key, text = name.replace(" ", "-"), json.dumps(state)
    if store.shared:
        key = f"{key}-{store.project}"
        condition = f"{state['searchFilter']} AND tags.project = '{store.project}'"
        text = json.dumps(state | {"searchFilter": condition})
    store.client.set_experiment_tag(store.experiment, TAG + key, text)
    query = urllib.parse.urlencode({"viewStateShareKey": key, "compareRunsMode": mode})
    page = f"{address}/#/experiments/{store.experiment}/runs?{TRAINING_PAGES}"
    return f"{page}&{query}"
