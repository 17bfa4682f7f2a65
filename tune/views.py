"""Saved views of MLflow's pages: which runs, in which order, with which columns.

MLflow keeps a view as a tag of the experiment, named by a key that a link can carry
(`?viewStateShareKey=KEY`); its page `Training runs` lists them under `Views`.
"""

import base64
import json
import logging
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tune.addresses import first_line
from tune.mlflow_store import FAILURES, RESULT, TRAINING, RunStore

log = logging.getLogger(__name__)

TAG = "mlflow.sharedViewState."
NOTE = "mlflow.note.content"
ABOUT = (
    "Each run of kind `sweep`, `retrain`, `fidelity`, `halting`, `graves`, `multihop` or `nse` is "
    "a parent; its trials are nested in it. Runs of kind `evaluate`, `ablate`, `lexicalised` and "
    "`report` hold figures of finished models, runs of kind `model` what is in the registry. The "
    "saved views (button *Views* of the page *Training runs*) show each of them with its columns "
    "in order; trials on sequences, multi-hop pairs and cloze questions have views of their own, "
    "since accuracies on different tasks do not compare."
)


@dataclass(frozen=True)
class View:
    """One saved view.

    key: names it in links. condition: MLflow's search filter.
    order: the metric or attribute to sort by, the highest first.
    columns: metrics, params and tags, in the order shown.
    """

    key: str
    name: str
    condition: str
    order: str
    columns: Sequence[str]

    def state(self) -> dict[str, Any]:
        """What MLflow's page stores of a view (read off MLflow 3.17)."""
        return {
            "searchFilter": self.condition,
            "orderByKey": self.order,
            "orderByAsc": False,
            "startTime": "ALL",
            "lifecycleFilter": "Active",
            "datasetsFilter": [],
            "modelVersionFilter": "All Runs",
            "selectedColumns": list(self.columns),
            "columnOrder": list(self.columns),
            "columnWidths": {},
            "runsHiddenMode": "FIRST_10_RUNS",
            "viewMaximized": True,
            "runListHidden": False,
            "isAccordionReordered": False,
            "useGroupedValuesInCharts": True,
            "hideEmptyCharts": True,
            "groupBy": None,
            "groupsExpanded": {},
        }

    def stored(self, now: int) -> str:
        """The tag's value; `now` in milliseconds."""
        packed = base64.b64encode(zlib.compress(json.dumps(self.state()).encode())).decode()
        entry = {"name": self.name, "createdAt": now, "updatedAt": now}
        return json.dumps({**entry, "state": f"deflate;{packed}"})


def named(kind: str, *names: str) -> list[str]:
    """Columns of one kind (metrics, params, tags), as MLflow writes them."""
    return [f"{kind}.`{name}`" for name in names]


def view_of_trials(key: str, title: str, condition: str, columns: Sequence[str]) -> View:
    """Some of the trials, best on dev first, by these columns behind their figures."""
    figures = named("metrics", "best_dev_accuracy", "best_dev_mean_steps", "best_epoch")
    return View(
        key,
        f"{title}, best on dev first",
        f"tags.kind = 'trial' AND {condition}",
        "metrics.`best_dev_accuracy`",
        [*figures, *columns, *named("tags", "trial_key")],
    )


VIEWS = (
    view_of_trials(
        "trials",
        "Trials",
        "tags.stage != 'graves' AND tags.stage != 'multihop' AND tags.stage != 'nse'",
        [
            *named("params", "model", "seed", "learning_rate", "ponder_weight", "dropout"),
            *named("params", "width", "batch_size", "epsilon"),
            *named("tags", "stage"),
        ],
    ),
    view_of_trials(
        "sequences",
        "Graves' tasks",
        "tags.stage = 'graves'",
        [
            *named("params", "task", "halting", "ponder_weight", "seed", "cell", "state_size"),
            *named("params", "learning_rate", "max_steps"),
        ],
    ),
    view_of_trials(
        "multihop",
        "Multi-hop pairs",
        "tags.stage = 'multihop'",
        [
            *named("params", "model", "seed", "ponder_weight", "max_steps", "width"),
            *named("params", "learning_rate", "max_hops"),
        ],
    ),
    view_of_trials(
        "readers",
        "Readers of cloze questions",
        "tags.stage = 'nse'",
        [
            *named("params", "questions", "strategy", "steps", "seed", "memory_size"),
            *named("params", "learning_rate", "dropout"),
        ],
    ),
    View(
        "parents",
        "Sweeps and other trainings",
        f"tags.role = '{TRAINING}'",
        "attributes.start_time",
        [
            *named("metrics", "trials", "best_dev_accuracy"),
            *named("tags", "kind", "git_commit", "data_digest", "grid_hash"),
        ],
    ),
    View(
        "results",
        "Results of finished models",
        f"tags.role = '{RESULT}'",
        "attributes.start_time",
        [
            *named("tags", "kind", "git_commit"),
            *named("metrics", "adaptive_attention.test_accuracy_mean"),
            *named("metrics", "decomposable_attention.test_accuracy_mean"),
            *named("metrics", "lexicalised_classifier.test_accuracy"),
        ],
    ),
)


def save_views(store: RunStore) -> None:
    """Store the views and the experiment's description where they are not there yet.

    What somebody changed in MLflow's page stays changed. A store that refuses them goes without:
    they are a convenience, in a format that MLflow promises to nobody.
    """
    known = store.client.get_experiment(store.experiment).tags
    now = int(time.time() * 1000)
    tags = {f"{TAG}{view.key}": view.stored(now) for view in VIEWS} | {NOTE: ABOUT}
    try:
        for name, value in tags.items():
            if name not in known:
                store.client.set_experiment_tag(store.experiment, name, value)
    except FAILURES as error:
        log.warning("MLflow's store has no saved views, as it refused one: %s", first_line(error))


def view_links(experiment: str) -> dict[str, str]:
    """Each view's name with its place in MLflow's pages, to be put behind its address."""
    return {
        view.name: f"/#/experiments/{experiment}/runs?viewStateShareKey={view.key}"
        for view in VIEWS
    }
