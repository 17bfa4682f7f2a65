"""Stage `graves`: Adaptive Computation Time around recurrent cells, on Graves' (2016) tasks.

Data are drawn as training goes, so there is no test split: dev is a fixed set of fresh sequences,
and figures by difficulty are of another one, drawn for them alone. Characters are drawn from a
text, dev from the part of it that is held out; they have figures by kind of byte instead, and a
passage that is told byte by byte.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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
from pipeline.along_text import Reading
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.parameters.study_sections import Graves, SequenceStudy
from pipeline.results import write_summary, write_table
from pipeline.stage import artefacts, run_stage
from pipeline.stored_text import stored_text
from pipeline.study import spent, summarise, trained
from pipeline.trials import execution_settings
from tune.execution import Execution
from tune.grid import Trial, with_keys
from tune.store import TrialStore
from tune.sweep import run_trials

NO_DATA = "drawn"  # in place of the data's digest: a trial's settings tell all that it draws
CHARACTERS = "characters"  # of which this is not so: they have their text's digest
RUN = ("task", "run")
RESULTS = (
    *(*RUN, "halting", "ponder_weight", "seed", "key", "parameters", "epochs", "best_epoch"),
    *("diverged", "dev_error", "dev_loss", "dev_mean_steps", "dev_sd_steps", "dev_ponder_cost"),
)
DIFFICULTY = (
    *(*RUN, "seed", "difficulty", "instances", "asked", "error", "mean_steps", "ponder_cost"),
)
READ = ("steps", "ponder", "loss", "entropy")
PASSAGE = (*RUN, "seed", "position", "byte", *READ)
KINDS = (*RUN, "seed", "kind", "bytes", *READ)
HISTORY = (*RUN, "seed", "epoch", "train_loss", "dev_loss", "dev_error", "dev_mean_steps")
TIMINGS = (*RUN, "seed", "epochs", "seconds")
LOOKED_AT = {"difficulty": DIFFICULTY, "reading": PASSAGE, "bytes": KINDS}  # file: columns


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

    @property
    def reads(self) -> bool:
        """It is on characters, so it needs a text."""
        return self.config.task_name == CHARACTERS


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


def train(runs: list[Run], execution: Execution, reading: Reading | None) -> list[TrialRecord]:
    """Train what is not trained yet.

    Raises:
        DataError: the text is too short for what is asked of it.
    """
    trials = keyed([run for run in runs if not run.reads], NO_DATA, execution)
    if reading is not None:
        readers = [run for run in runs if run.reads]
        for run in readers:
            reading.task(run.config)  # before anything is trained
        trials |= keyed(readers, reading.text.sha256, execution)
        execution = replace(execution, text=reading.text.path)
    ordered = [trials[run.config] for run in runs]
    return run_trials("graves", ordered, execution, keep_weights=True)


def keyed(
    runs: Sequence[Run], data_digest: str, execution: Execution
) -> dict[SequenceTrialConfig, Trial]:
    """The trials of runs on the same data."""
    configs = [run.config for run in runs]
    trials = with_keys(
        configs,
        data_digest=data_digest,
        device=execution.device,
        threads=execution.threads,
        precision=execution.matmul_precision,
    )
    return dict(zip(configs, trials, strict=True))


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


def reading_of(params: Params) -> Reading | None:
    """The text that characters are drawn from, where they are asked for."""
    study = params.graves
    if CHARACTERS not in study.tasks:
        return None
    assert study.text is not None  # a rule of params.yaml
    return Reading(stored_text(study.text), study)


def look(
    runs: Iterable[tuple[Run, dict[str, Any]]], study: Graves, reading: Reading | None
) -> dict[str, list[dict[str, Any]]]:
    """What trained networks do, by the file that tells it: on instances, or on bytes.

    Args:
        runs: with their weights.
    """
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in LOOKED_AT}
    for run, weights in runs:
        if not run.reads:
            found["difficulty"] += difficulty_rows(run, weights, study.drawn, study.drawn_seed)
            continue
        assert reading is not None
        kinds = reading.by_kind(run.config, weights)
        found["bytes"] += [run.seeded | row for row in kinds]
        if run.config.halting is not None and run.config.seed == study.seeds[0]:
            along = reading.along(run.config, weights)
            found["reading"] += [run.seeded | row for row in along]
    return found


def main() -> None:
    """Write artefacts/graves/."""
    params = load_params()
    folder = artefacts("graves")
    runs, reading = plan(params), reading_of(params)
    execution = execution_settings(params)
    records = train(runs, execution, reading) if runs else []
    pairs = list(zip(runs, records, strict=True))
    rows = [result_row(run, record) for run, record in pairs]
    write_table(folder / "results.csv", rows, list(RESULTS))
    write_table(
        folder / "history.csv", [row for p in pairs for row in history_rows(*p)], list(HISTORY)
    )
    torch.set_num_threads(1)  # the same bits whatever the machine's number of cores
    store = TrialStore(execution.state / "trials")
    bar = tqdm(pairs, "graves", unit="model", disable=not pairs)
    weighted = (
        (run, torch.load(store.weights_path(record.key), weights_only=True)) for run, record in bar
    )
    for name, rows_of in look(weighted, params.graves, reading).items():
        write_table(folder / f"{name}.csv", rows_of, list(LOOKED_AT[name]))
    timings = [run.seeded | spent(record) for run, record in pairs]
    write_table(folder / "timings.csv", timings, list(TIMINGS))
    named = [row | {"run": f"{row['run']}, seed {row['seed']}"} for row in rows]
    write_summary(
        folder / "summary.json", summarise(named, "task", "run", ("dev_error", "dev_mean_steps"))
    )


if __name__ == "__main__":
    run_stage(main)
