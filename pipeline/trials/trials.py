"""Trials as the stages run them, their result files, and trained models read back."""

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import torch

from actmodels.data.trial_data import WordVectors, input_rows, trained_rows
from actmodels.errors import ArtifactError
from actmodels.files import regular, write_text
from actmodels.models.pair_model import PairModel, build
from actmodels.records import TIMING_FIELDS, TrialRecord
from actmodels.trial_config import BaseTrialConfig, TrialConfig, trial_from_dict
from pipeline.parameters.load import Params
from pipeline.runtime.results import TableRow, read_json, write_json, write_tables
from pipeline.runtime.stage import artifacts, project, require_artifact, state_folder
from tune.early_stopping import SuccessiveHalving
from tune.execution import Execution
from tune.grid import Trial, with_keys
from tune.provenance import provenance_tags


def execution_settings(params: Params) -> Execution:
    """Return the section `cluster` with absolute paths: workers have folders of their own."""
    settings = dict(params.cluster)
    for key in ("storage", "state"):
        if "://" not in settings[key]:
            settings[key] = str(project() / Path(settings[key]).expanduser())
    finished = settings.pop("state")
    return Execution(artifacts("tensors"), state=state_folder(), finished=finished, **settings)


def data_digest() -> str:
    """Return the digest of the data that stage `tensors` wrote."""
    return str(read_json("tensors", "manifest.json")["digest"])


def keyed(
    digest: str,
    configs: Sequence[BaseTrialConfig],
    execution: Execution,
    early_stopping: SuccessiveHalving | None = None,
) -> list[Trial]:
    """Return trials of any kind on the data of a digest, named by their keys."""
    return with_keys(
        configs,
        data_digest=digest,
        device=execution.device,
        threads=execution.threads,
        precision=execution.matmul_precision,
        early_stopping=early_stopping,
    )


def trial_row(record: TrialRecord) -> TableRow:
    """Return a row of trials.csv: settings, then the figures of the best epoch."""
    best = record.best.result()
    best_epoch = best.pop("epoch")
    # The setting of this name may differ from the weight at the end of training.
    best["ponder_weight_end"] = best.pop("ponder_weight")
    return {
        "key": record.key,
        **trial_from_dict(record.config).flat(),
        "parameters": record.parameters,
        "epochs": len(record.history),
        "diverged": record.diverged,
        "best_epoch": best_epoch,
        **best,
    }


def write_trials(stage: str, records: Sequence[TrialRecord], summary: TableRow) -> None:
    """Write records.jsonl, trials.csv, history.csv, timings.csv and summary.json."""
    history, timings = list[TableRow](), list[TableRow]()
    for record in records:
        name = {"key": record.key, **{key: record.config[key] for key in ("model", "seed")}}
        for epoch in record.history:
            history.append(name | epoch.result())
            timings.append(name | {key: getattr(epoch, key) for key in ("epoch", *TIMING_FIELDS)})
    lines = "".join(record.result_json() + "\n" for record in records)
    write_text(artifacts(stage, "records.jsonl"), lines)
    trials = [trial_row(record) for record in records]
    write_tables(stage, trials=trials, history=history, timings=timings)
    write_json(artifacts(stage, "summary.json"), summary)


def read_records(stage: str) -> list[TrialRecord]:
    """Read the trials that `sweep` or `retrain` wrote, in their order."""
    lines = require_artifact(stage, "records.jsonl").read_text(encoding="utf-8").splitlines()
    return [TrialRecord.from_json(line) for line in lines]


def weights_file(config: TrialConfig) -> Path:
    """Return the path where `retrain` stores the weights of a trial."""
    return artifacts("retrain", "weights", f"{config.model}-seed{config.seed}.pt")


def retrained_models(name: str = "") -> Iterator[tuple[TrialConfig, TrialRecord, PairModel]]:
    """Yield each retrained model with the parameters of its best dev epoch.

    Args:
        name: of the model; by default all of them.

    Raises:
        ArtifactError: weights are missing or do not fit the model.
    """
    torch.set_num_threads(1)  # the same bits whatever the machine's number of cores
    words = WordVectors.load(artifacts("tensors", "embedding.pt"))
    for record in read_records("retrain"):
        config = trial_from_dict(record.config)
        if name in ("", config.model):
            yield config, record, load_model(config, words, weights_file(config), "retrain")


def log_figures(stage: str, keys: list[str], figures: dict[str, Any]) -> None:
    """Log a stage's figures of the trials of these keys to MLflow."""
    from tune.results import log_evaluation  # MLflow, which not every stage of trials needs

    tags = {**provenance_tags(), "data_digest": data_digest()}
    log_evaluation(stage, "+".join(keys), tags, figures, state_folder())


def load_model(
    config: TrialConfig, words: WordVectors, weights: Path | BytesIO, stage: str
) -> PairModel:
    """Load the weights that `stage` stored into the model of a trial, in evaluation mode.

    Raises:
        ArtifactError: the weights are missing or do not fit the model.
    """
    vectors = input_rows(words, config.input, config.seed)
    model = build(config, vectors, trained_rows(words, config.input))
    try:
        source = regular(weights) if isinstance(weights, Path) else weights
        model.load_state_dict(torch.load(source, map_location="cpu", weights_only=True))
    except (OSError, RuntimeError, EOFError) as error:
        what = weights if isinstance(weights, Path) else f"what {stage} stored"
        message = f"{what} is missing or does not fit the model; run: dvc repro {stage}"
        raise ArtifactError(message) from error
    return model.eval()
