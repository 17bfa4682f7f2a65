"""Stage `graves`: Adaptive Computation Time around recurrent cells, on Graves' (2016) tasks.

Data are drawn as training goes, so there is no test split: dev is a fixed set of fresh sequences,
and figures by difficulty are of another one, drawn for them alone.
"""

from dataclasses import dataclass
from typing import Any

import torch
from tqdm import tqdm

from actmodels.records import EpochRecord, TrialRecord
from actmodels.sequences.act_rnn import ActRnn
from actmodels.sequences.build import build_task
from actmodels.sequences.config import SequenceTrialConfig, build_sequence_trial
from actmodels.sequences.difficulty import by_difficulty
from actmodels.sequences.evaluation import evaluate
from actmodels.settings import ActConfig
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.parameters.study_sections import SequenceStudy
from pipeline.results import write_summary, write_table
from pipeline.stage import artefacts, run_stage
from pipeline.study import spent, summarise, trained
from pipeline.trials import execution_settings
from tune.execution import Execution
from tune.grid import with_keys
from tune.store import TrialStore
from tune.sweep import run_trials

NO_DATA = "drawn"  # in place of the data's digest: a trial's settings tell all that it draws
RUN = ("task", "run")
RESULTS = (
    *(*RUN, "halting", "ponder_weight", "seed", "key", "parameters", "epochs", "best_epoch"),
    *("diverged", "dev_error", "dev_loss", "dev_mean_steps", "dev_sd_steps", "dev_ponder_cost"),
)
DIFFICULTY = (
    *(*RUN, "seed", "difficulty", "instances", "asked", "error", "mean_steps", "ponder_cost"),
)
HISTORY = (*RUN, "seed", "epoch", "train_loss", "dev_loss", "dev_error", "dev_mean_steps")
TIMINGS = (*RUN, "seed", "epochs", "seconds")


@dataclass(frozen=True)
class Run:
    """One training; `run` tells it apart from the task's others."""

    run: str
    config: SequenceTrialConfig

    @property
    def name(self) -> dict[str, Any]:
        """The first columns of every table."""
        return {"task": self.config.task_name, "run": self.run}

    @property
    def seeded(self) -> dict[str, Any]:
        """These and the seed."""
        return self.name | {"seed": self.config.seed}


def planned(task: str, study: SequenceStudy, seeds: list[int]) -> list[Run]:
    """Without ACT, if asked for, then every ponder weight; each with every seed."""
    act = set(ActConfig.__dataclass_fields__)
    plain = {name: value for name, value in study.settings.items() if name not in act}
    kinds: list[tuple[str, str, dict[str, Any]]] = []
    if study.without_act:
        kinds.append(("without ACT", "none", plain))
    for weight in study.ponder_weights:
        run = f"ponder weight {weight:g}"
        kinds.append((run, "act", study.settings | {"ponder_weight": weight}))
    limits = {"max_epochs": study.max_epochs, "patience": study.patience}
    return [
        Run(run, build_sequence_trial(task, halting, settings, **limits, seed=seed))
        for run, halting, settings in kinds
        for seed in seeds
    ]


def plan(params: Params) -> list[Run]:
    """All trainings, in the order of params.yaml."""
    study = params.graves
    return [run for task, tasks in study.tasks.items() for run in planned(task, tasks, study.seeds)]


def train(runs: list[Run], execution: Execution) -> list[TrialRecord]:
    """Train what is not trained yet."""
    trials = with_keys(
        [run.config for run in runs],
        data_digest=NO_DATA,
        device=execution.device,
        threads=execution.threads,
        precision=execution.matmul_precision,
    )
    return run_trials("graves", trials, execution, keep_weights=True)


def error(epoch: EpochRecord) -> float:
    """Share of the dev sequences with any mistake; 0.325 where 1 - 0.675 is not."""
    return round(1 - epoch.dev_accuracy, 12)


def result_row(run: Run, record: TrialRecord) -> dict[str, Any]:
    """One line of results.csv: figures of the best dev epoch."""
    best, halting = record.best, run.config.halting
    return {
        **run.name,
        "halting": run.config.halting_name,
        "ponder_weight": halting.ponder_weight if isinstance(halting, ActConfig) else None,
        "seed": run.config.seed,
        **trained(record),
        "dev_error": error(best),
        **{name: getattr(best, name) for name in RESULTS[-4:]},
    }


def history_rows(run: Run, record: TrialRecord) -> list[dict[str, Any]]:
    """One line per epoch."""
    return [
        run.seeded
        | {"epoch": e.epoch, "train_loss": e.train_loss, "dev_loss": e.dev_loss}
        | {"dev_error": error(e), "dev_mean_steps": e.dev_mean_steps}
        for e in record.history
    ]


def difficulty_rows(
    run: Run, weights: dict[str, Any], drawn: int, seed: int
) -> list[dict[str, Any]]:
    """Error and steps by difficulty, on sequences that are the same for all runs of a task."""
    config, task = run.config, build_task(run.config.task)
    model = ActRnn(task.inputs, task.outputs.size, config.network, config.halting)
    model.load_state_dict(weights)
    sequences = task.sample(drawn, torch.Generator().manual_seed(seed))
    found = evaluate(model, task.outputs, sequences, config.training.batch_size)
    return [
        run.seeded | {name: getattr(row, name) for name in DIFFICULTY[3:]}
        for row in by_difficulty(found, task)
    ]


def main() -> None:
    """Write artefacts/graves/."""
    params = load_params()
    folder, study = artefacts("graves"), params.graves
    runs = plan(params)
    execution = execution_settings(params)
    records = train(runs, execution) if runs else []
    pairs = list(zip(runs, records, strict=True))
    rows = [result_row(run, record) for run, record in pairs]
    write_table(folder / "results.csv", rows, list(RESULTS))
    write_table(
        folder / "history.csv", [row for p in pairs for row in history_rows(*p)], list(HISTORY)
    )
    torch.set_num_threads(1)  # the same bits whatever the machine's number of cores
    store = TrialStore(execution.state / "trials")
    difficulties: list[dict[str, Any]] = []
    for run, record in tqdm(pairs, "graves", unit="model", disable=not pairs):
        weights = torch.load(store.weights_path(record.key), weights_only=True)
        difficulties += difficulty_rows(run, weights, study.drawn, study.drawn_seed)
    write_table(folder / "difficulty.csv", difficulties, list(DIFFICULTY))
    timings = [run.seeded | spent(record) for run, record in pairs]
    write_table(folder / "timings.csv", timings, list(TIMINGS))
    named = [row | {"run": f"{row['run']}, seed {row['seed']}"} for row in rows]
    write_summary(
        folder / "summary.json", summarise(named, "task", "run", ("dev_error", "dev_mean_steps"))
    )


if __name__ == "__main__":
    run_stage(main)
