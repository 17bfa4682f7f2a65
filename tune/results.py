"""Figures of finished models in MLflow: one run for each result, however often it is logged."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from tune.mlflow_store import Metrics, RunStore, flat_metrics
from tune.provenance import provenance_tags
from tune.views import save_views


def log_report(folder: Path, metrics: Metrics, state: Path = Path("state")) -> None:
    """Keep a report (every file of `folder`, as artifacts) in a run of kind "report".

    The same files give the same run, whenever and however often they are logged.

    Raises:
        TrackingError: the store cannot be used.
    """
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    _log_run("report", digest.hexdigest()[:16], provenance_tags(), metrics, state, folder)


def log_evaluation(
    kind: str, group: str, tags: Mapping[str, str], metrics: Metrics, state: Path = Path("state")
) -> None:
    """Log figures of finished models in the one run of (kind, group), such as "evaluate".

    Nested metrics are flattened: "decomposable_attention.test_accuracy_mean".

    Raises:
        TrackingError: the store cannot be used.
    """
    _log_run(kind, group, tags, metrics, state, None)


def _log_run(
    kind: str,
    group: str,
    tags: Mapping[str, str],
    metrics: Metrics,
    state: Path,
    folder: Path | None,
) -> None:
    store = RunStore(state)
    with store.errors():
        save_views(store)
        run = store.open(kind, group, tags)
        run_id = run.info.run_id
        known = run.data.metrics
        if new := [
            metric for metric in flat_metrics(metrics) if known.get(metric.key) != metric.value
        ]:
            store.write(run_id, new)
        if folder and run.info.status != "FINISHED":
            store.client.log_artifacts(run_id, str(folder))
        if run.info.status != "FINISHED":
            store.client.set_terminated(run_id, "FINISHED")
        store.release()
