"""Finished models in MLflow: their figures, and the models themselves in its registry.

Every write can be repeated: there is one run for each result, and one version per model, known by
its digest. What a killed driver left half-done is taken away by the next one.
"""

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from actmodels.files import file_digest
from tune.mlflow_store import (
    FAILURES,
    Candidate,
    Metrics,
    RunStore,
    flat_metrics,
    store_errors,
    write_pyfunc,
)
from tune.provenance import provenance_tags

BEST = "best"  # the alias of the best model
DIGEST = "model_digest"  # the tag that tells versions apart
FILES = "files_digest"  # the tag that shows damage to the files of a version


def log_report(folder: Path, metrics: Metrics, state: Path = Path("state")) -> None:
    """Keep every file of a report in a run of kind "report"; the same files give the same run."""
    log_evaluation("report", _digest(folder)[:16], provenance_tags(), metrics, state, folder)


def _digest(folder: Path) -> str:
    """SHA-256 of the names and contents of all files, without those that loading a model adds."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.name == "registered_model_meta" or path.parent.name == "__pycache__":
            continue
        name = path.relative_to(folder).as_posix()
        digest.update(f"{name}\0{file_digest(path)}\n".encode())
    return digest.hexdigest()


def log_evaluation(
    kind: str,
    group: str,
    tags: Mapping[str, str],
    metrics: Metrics,
    state: Path = Path("state"),
    folder: Path | None = None,
) -> None:
    """Log flattened figures, and the files of a folder, in the one run of (kind, group)."""
    store = RunStore(state)
    with store_errors(store.uri):
        run = store.open(kind, group, tags)
        known, flat = run.data.metrics, flat_metrics(metrics)
        if new := [metric for metric in flat if known.get(metric.key) != metric.value]:
            store.write(run.info.run_id, new)
        if run.info.status != "FINISHED":
            if folder:
                store.client.log_artifacts(run.info.run_id, str(folder))
            store.client.set_terminated(run.info.run_id, "FINISHED")


def register(
    name: str, about: str, candidates: Sequence[Candidate], best: str, state: Path
) -> dict[str, str]:
    """Register models that are not there yet, point aliases, BEST too, and return versions."""
    store = RunStore(state)
    with store_errors(store.uri):
        if not store.client.search_registered_models(f"name = '{name}'"):
            store.client.create_registered_model(name, description=about)
        versions = {item.alias: _version(store, name, item) for item in candidates}
        versions[BEST] = versions[best]
        known = store.client.get_registered_model(name).aliases
        for alias, version in versions.items():
            if str(known.get(alias)) != version:
                store.client.set_registered_model_alias(name, alias, version)
    return versions


def _version(store: RunStore, name: str, item: Candidate) -> str:
    """The version of a model; made if there is no intact one of this digest."""
    condition = f"name = '{name}' AND tags.`{DIGEST}` = '{item.digest}'"
    found = store.client.search_model_versions(condition)
    for version in sorted(found, key=lambda one: -int(one.version)):
        if _intact(store, version.source or "", version.tags.get(FILES)):
            return str(version.version)
    tags = {**item.tags, DIGEST: item.digest}
    run = store.open("model", item.digest, tags, name=item.run)
    run_id = run.info.run_id
    if not run.data.metrics:
        store.write(run_id, flat_metrics(item.metrics))
    model_id, place = store.new_model(item.alias, run_id, tags)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        write_pyfunc(path, run_id, model_id, item)
        store.client.log_model_artifacts(model_id, str(path))
        tags[FILES] = _digest(path)
    store.client.finalize_logged_model(model_id, "READY")
    # before there is a version: the next driver looks no further than that
    store.client.set_terminated(run_id, "FINISHED")
    # by its place: MLflow would look `models:/ID` up in the store of the environment
    made = store.client.create_model_version(
        name, place, run_id, tags=tags, description=item.description, model_id=model_id
    )
    return str(made.version)


def _intact(store: RunStore, source: str, digest: str | None) -> bool:
    """Return whether the files of a version are in this project's store and undamaged."""
    if not source.startswith(store.artifacts or ""):
        return False
    with tempfile.TemporaryDirectory() as folder:
        try:
            return _digest(store.fetch(source, folder)) == digest
        except FAILURES:
            return False
