"""Read and write the records of trials."""

import sys
from collections.abc import Sequence
from pathlib import Path

from actmodels.errors import SweepError
from actmodels.files import write_text
from actmodels.records import TIMING_FIELDS, TrialRecord
from actmodels.trial_config import BaseTrialConfig, trial_from_dict
from pipeline.runtime.results import TableRow, write_results
from pipeline.runtime.stage import artifacts, require_artifact
from pipeline.trials.selection import is_lost, lost_models


def weights_file(config: BaseTrialConfig) -> Path:
    """Return the path where `retrain` stores the weights of a trial."""
    return artifacts("retrain", "weights", f"{config.model}-seed{config.seed}.pt")


def trial_row(config: BaseTrialConfig, record: TrialRecord) -> TableRow:
    """Return a row of trials.csv: settings, then the metrics of the best epoch."""
    best = record.best.result()
    best_epoch = best.pop("epoch")
    # the setting of this name may differ from the weight at the end of training
    best["ponder_weight_end"] = best.pop("ponder_weight")
    return {
        "key": record.key,
        **config.flat(),
        "parameters": record.parameters,
        "epochs": len(record.history),
        "diverged": is_lost(record),
        "stopped": record.stopped,
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
    trials = [trial_row(trial_from_dict(record.config), record) for record in records]
    write_results(stage, summary, trials=trials, history=history, timings=timings)


def report_lost(stage: str, records: Sequence[TrialRecord]) -> None:
    """Print a sentence for each model all of whose trials diverged.

    Raises:
        SweepError: no other model is left.
    """
    lost = lost_models(records)
    if lost and lost.keys() == {record.config["model"] for record in records}:
        raise SweepError(f"{stage}: no model is left; " + "; ".join(lost.values()))
    for sentence in lost.values():
        print(f"{stage}: {sentence}; the next stages leave it out", file=sys.stderr, flush=True)


def retrained() -> list[TrialRecord]:
    """Read the trials of `retrain` that did not diverge, in their order."""
    return [record for record in read_records("retrain") if not is_lost(record)]


def read_records(stage: str) -> list[TrialRecord]:
    """Read the trials that `sweep` or `retrain` wrote, in their order."""
    lines = require_artifact(stage, "records.jsonl").read_text(encoding="utf-8").splitlines()
    return [TrialRecord.from_json(line) for line in lines]
