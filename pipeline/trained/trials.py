"""Trials as the stages run them, their result files, and trained models read back."""

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import torch

from actmodels.config import AnyTrialConfig, TrialConfig, trial_from_dict
from actmodels.data.trial_data import WordVectors, input_rows, trained_rows
from actmodels.errors import ArtefactError
from actmodels.files import regular, write_text
from actmodels.models.pair_model import PairModel, build
from actmodels.records import TIMING_FIELDS, TrialRecord
from pipeline.parameters.load import Params
from pipeline.running.results import read_json, write_json, write_table
from pipeline.running.stage import artefacts, made, project, state_folder
from tune.early_stopping import SuccessiveHalving
from tune.execution import Execution
from tune.grid import Trial, with_keys
from tune.provenance import provenance_tags


def execution_settings(params: Params) -> Execution:
    """The section `cluster`, with absolute paths: workers have folders of their own."""
    settings = dict(params.cluster)
    for key in ("storage", "state"):
        if "://" not in settings[key]:
            settings[key] = str(project() / Path(settings[key]).expanduser())
    finished = settings.pop("state")
    return Execution(artefacts("tensors"), state=state_folder(), finished=finished, **settings)


def data_digest() -> str:
    """The digest of the data that the `tensors` stage made."""
    return str(read_json("tensors", "manifest.json")["digest"])


def keyed(
    digest: str,
    configs: Sequence[AnyTrialConfig],
    execution: Execution,
    early_stopping: SuccessiveHalving | None = None,
) -> list[Trial]:
    """Trials of any kind on the data of a digest, named by their keys."""
    return with_keys(
        configs,
        data_digest=digest,
        device=execution.device,
        threads=execution.threads,
        precision=execution.matmul_precision,
        early_stopping=early_stopping,
    )


def trial_row(record: TrialRecord) -> dict[str, Any]:
    """One line of trials.csv: settings, then the figures of the best epoch."""
    config = trial_from_dict(record.config).flat()
    best = record.best.result()
    best_epoch = best.pop("epoch")
    # The setting of this name may differ from what training made of it.
    best["ponder_weight_end"] = best.pop("ponder_weight")
    return {
        "key": record.key,
        **config,
        "parameters": record.parameters,
        "epochs": len(record.history),
        "diverged": record.diverged,
        "best_epoch": best_epoch,
        **best,
    }


def write_trials(folder: Path, records: Sequence[TrialRecord], summary: dict[str, Any]) -> None:
    """Write records.jsonl, trials.csv, history.csv, timings.csv and summary.json."""

    def named(record: TrialRecord) -> dict[str, Any]:
        config = record.config
        return {"key": record.key, "model": config["model"], "seed": config["seed"]}

    write_text(folder / "records.jsonl", "".join(r.result_json() + "\n" for r in records))
    write_table(folder / "trials.csv", [trial_row(record) for record in records])
    epochs = [(named(record), epoch) for record in records for epoch in record.history]
    write_table(folder / "history.csv", [name | epoch.result() for name, epoch in epochs])
    write_table(
        folder / "timings.csv",
        [
            n | {"epoch": e.epoch} | {field: getattr(e, field) for field in TIMING_FIELDS}
            for n, e in epochs
        ],
    )
    write_json(folder / "summary.json", summary)


def read_records(stage: str) -> list[TrialRecord]:
    """The trials that `sweep` or `retrain` wrote, in their order; ArtefactError without them."""
    lines = made(stage, "records.jsonl").read_text(encoding="utf-8").splitlines()
    return [TrialRecord.from_json(line) for line in lines]


def retrained_models(name: str = "") -> Iterator[tuple[TrialConfig, TrialRecord, PairModel]]:
    """Each retrained model with the parameters of its best dev epoch, in the order of retrain.

    Args:
        name: of the model; all of them without it.

    Raises:
        ArtefactError: weights are missing or do not fit the model.
    """
    torch.set_num_threads(1)  # the same bits whatever the machine's number of cores
    words = WordVectors.load(artefacts("tensors", "embedding.pt"))
    for record in read_records("retrain"):
        config = trial_from_dict(record.config)
        if name in ("", config.model):
            path = artefacts("retrain", "weights", f"{config.model}-seed{config.seed}.pt")
            yield config, record, load_model(config, words, path, "retrain")


def log_figures(stage: str, keys: list[str], figures: dict[str, Any]) -> None:
    """Tell MLflow what a stage found of the trials of these keys."""
    from tune.results import log_evaluation  # MLflow, which not every stage of trials needs

    tags = {**provenance_tags(), "data_digest": data_digest()}
    log_evaluation(stage, "+".join(keys), tags, figures, state_folder())


def load_model(
    config: TrialConfig, words: WordVectors, weights: Path | BytesIO, stage: str
) -> PairModel:
    """The model of a trial with the weights that `stage` stored, in evaluation mode.

    Raises:
        ArtefactError: the weights are missing or do not fit the model.
    """
    vectors = input_rows(words, config.input, config.seed)
    model = build(config, vectors, trained_rows(words, config.input))
    try:
        source = regular(weights) if isinstance(weights, Path) else weights
        model.load_state_dict(torch.load(source, map_location="cpu", weights_only=True))
    except (OSError, RuntimeError, EOFError) as error:
        what = weights if isinstance(weights, Path) else f"what {stage} stored"
        message = f"{what} is missing or does not fit the model; run: dvc repro {stage}"
        raise ArtefactError(message) from error
    return model.eval()
