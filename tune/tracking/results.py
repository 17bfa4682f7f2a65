"""Log results to MLflow, and register models in its registry.

Every write can be repeated: there is one run per result, and one version per model digest. The
next driver completes or replaces what a killed one left.
"""

import tempfile
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

from actmodels.files import files_digest
from tune.tracking.exported_model import ExportedModel, Metrics
from tune.tracking.mlflow_store import FAILURES, RunStore, flatten_metrics, write_pyfunc
from tune.tracking.tracker import logging_results
from tune.trials.provenance import provenance_tags

BEST = "best"  # alias of the best model
MODEL_DIGEST = "model_digest"  # tag that identifies a version
FILES_DIGEST = "files_digest"  # tag that verifies the files of a version


def log_report(folder: Path, metrics: Metrics, state: Path = Path("state")) -> None:
    """Log the files of a report to a run of kind "report"; the same files have the same run."""
    log_evaluation("report", _digest(folder)[:16], provenance_tags(), metrics, state, folder)


def _digest(folder: Path) -> str:
    """Return the digest of a folder, without files that loading a model adds."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    kept = (p for p in files if not {"registered_model_meta", "__pycache__"} & {*p.parts[-2:]})
    return files_digest(folder, (path.relative_to(folder).as_posix() for path in kept))


def log_evaluation(
    kind: str,
    group: str,
    tags: Mapping[str, str],
    metrics: Metrics,
    state: Path = Path("state"),
    folder: Path | None = None,
) -> None:
    """Log flattened metrics, and the files of a folder, to the run of (kind, group)."""
    with logging_results(state) as store:
        run = store.open(kind, group, tags)
        logged, flat = run.data.metrics, flatten_metrics(metrics)
        if new := [metric for metric in flat if logged.get(metric.key) != metric.value]:
            store.write(run.info.run_id, new)
        if run.info.status != "FINISHED":
            if folder:
                store.client.log_artifacts(run.info.run_id, str(folder))
            store.client.set_terminated(run.info.run_id, "FINISHED")


def remove_trial_runs(keys: Set[str], state: Path) -> int:
    """Delete the runs of trials, which MLflow keeps in its trash; return their number."""
    with logging_results(state) as store:
        runs = [run for run in store.find(kind="trial") if run.data.tags.get("trial_key") in keys]
        for run in runs:
            store.client.delete_run(run.info.run_id)
    return len(runs)


def register(
    name: str, about: str, candidates: Sequence[ExportedModel], best: str, state: Path
) -> dict[str, str]:
    """Register new models, set their aliases and BEST, and return the version of each alias.

    On a server, a name that another project registered gets the project's id as a suffix.
    """
    with logging_results(state) as store:
        name = _registered(store, name, about)
        versions = {item.alias: _version(store, name, item) for item in candidates}
        versions[BEST] = versions[best]
        aliases = store.client.get_registered_model(name).aliases
        for alias, version in versions.items():
            if str(aliases.get(alias)) != version:
                store.client.set_registered_model_alias(name, alias, version)
    return {f"models:/{name}@{alias}": version for alias, version in versions.items()}


def _registered(store: RunStore, name: str, about: str) -> str:
    """Get or create the project's registered model; return its name."""
    for own in (name, f"{name}-{store.project}"):
        if not (found := store.client.search_registered_models(f"name = '{own}'")):
            store.client.create_registered_model(own, description=about)
            break
        owner = found[0].tags.get("project", store.project)
        if owner == store.project or not store.shared:
            break
    store.client.set_registered_model_tag(own, "project", store.project)
    return own


def _version(store: RunStore, name: str, item: ExportedModel) -> str:
    """Return the latest intact version of a model's digest; create it if there is none."""
    condition = f"name = '{name}' AND tags.`{MODEL_DIGEST}` = '{item.digest}'"
    versions = store.client.search_model_versions(condition)
    for version in sorted(versions, key=lambda version: -int(version.version)):
        if _is_intact(store, version.source or "", version.tags.get(FILES_DIGEST)):
            return str(version.version)
    tags = {**item.tags, MODEL_DIGEST: item.digest}
    run = store.open("model", item.digest, tags, name=item.run)
    run_id = run.info.run_id
    if not run.data.metrics:
        store.write(run_id, flatten_metrics(item.metrics))
    model_id, location = store.new_model(item.alias, run_id, tags)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        write_pyfunc(path, run_id, model_id, item)
        store.client.log_model_artifacts(model_id, str(path))
        tags[FILES_DIGEST] = _digest(path)
    store.client.finalize_logged_model(model_id, "READY")
    # Before the version exists: the next driver stops at an intact version.
    store.client.set_terminated(run_id, "FINISHED")
    # By location: MLflow would resolve `models:/ID` in the store of the environment.
    version = store.client.create_model_version(
        name, location, run_id, tags=tags, description=item.description, model_id=model_id
    )
    return str(version.version)


def _is_intact(store: RunStore, source: str, digest: str | None) -> bool:
    """Return whether the files of a version are in this project's store and match the digest."""
    if not source.startswith(store.artifacts or ""):
        return False
    with tempfile.TemporaryDirectory() as folder:
        try:
            return _digest(store.download(source, folder)) == digest
        except FAILURES:
            return False
