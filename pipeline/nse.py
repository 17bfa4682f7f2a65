"""Stage `nse`: readers of cloze questions that test hypotheses (Munkhdalai & Yu 2017).

Readers of one and of more steps, with query gating and with adaptive computation, each with every
seed. Dev chooses the epoch; the test split is read once, by the readers so chosen.
"""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tqdm import tqdm

from actmodels.comprehension.config import ReaderTrialConfig, build_reader_trial
from actmodels.comprehension.data import load_reader, load_words
from actmodels.comprehension.evaluation import ReaderEvaluation, evaluate
from actmodels.comprehension.questions import QuestionTensors
from actmodels.comprehension.reader import NseReader
from actmodels.errors import ArtefactError
from actmodels.figures import mean_and_sd
from actmodels.files import write_text
from actmodels.records import TrialRecord
from actmodels.rows.columns import columns
from actmodels.rows.readers import (
    Baseline,
    ReaderEpoch,
    ReaderMeans,
    ReaderResult,
    ReaderStep,
    ReaderTime,
)
from pipeline.parameters.load import load_params
from pipeline.parameters.question_sections import ReadingStudy
from pipeline.parameters.schema import Params
from pipeline.running.results import write_summary, write_table
from pipeline.running.stage import artefacts, run_stage
from pipeline.studies.query_traces import Wording, query_trace
from pipeline.studies.reader_tables import (
    Scored,
    baseline_rows,
    compare_runs,
    history_rows,
    result_row,
    step_rows,
)
from pipeline.studies.study import spent, summarise
from pipeline.trained.trials import execution_settings, keyed_on
from tune.execution import Execution
from tune.grid import Trial
from tune.store import TrialStore


@dataclass(frozen=True)
class Run:
    """One training; `run` tells it apart from the others on the same questions."""

    run: str
    config: ReaderTrialConfig

    @property
    def name(self) -> dict[str, Any]:
        """The first columns of every table."""
        return {"questions": self.config.questions, "run": self.run}

    @property
    def seeded(self) -> dict[str, Any]:
        """These and the seed."""
        return self.name | {"seed": self.config.seed}


def planned(questions: str, study: ReadingStudy, seeds: Sequence[int]) -> list[Run]:
    """One step, if asked for, then each strategy with its numbers of steps; with every seed."""
    kinds: list[tuple[str, str, int]] = []
    if study.one_step:
        kinds.append(("one step", "query_gating", 1))
    for strategy in ("query_gating", "adaptive_computation"):
        name = strategy.replace("_", " ")
        kinds += [(f"{name}, {t} steps", strategy, t) for t in getattr(study, strategy)]
    limits = {"max_epochs": study.max_epochs, "patience": study.patience}
    return [
        Run(
            run,
            build_reader_trial(
                questions,
                study.settings | {"strategy": strategy, "steps": steps},
                **limits,
                seed=seed,
            ),
        )
        for run, strategy, steps in kinds
        for seed in seeds
    ]


def plan(params: Params) -> list[Run]:
    """All trainings, in the order of params.yaml."""
    study = params.nse
    return [run for kind, one in study.kinds.items() for run in planned(kind, one, study.seeds)]


class Made(NamedTuple):
    """What the stage `questions` made: where from, and the digest of each kind."""

    source: str
    digests: dict[str, str]


def made() -> Made:
    """Read its manifest."""
    path = artefacts("questions", "manifest.json")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        kinds = {kind: str(of["digest"]) for kind, of in manifest["kinds"].items()}
        return Made(str(manifest["source"]), kinds)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ArtefactError(f"{path} is missing or damaged; run: dvc repro questions") from error


def train(runs: Sequence[Run], execution: Execution) -> list[TrialRecord]:
    """Train what is not trained yet."""
    from tune.sweep import run_trials  # Ray and MLflow, where there is something to train

    trials: dict[ReaderTrialConfig, Trial] = {}
    for kind, digest in made().digests.items():  # of a kind together: its code is read once
        configs = [run.config for run in runs if run.config.questions == kind]
        trials |= zip(configs, keyed_on(digest, configs, execution), strict=True)
    ordered = [trials[run.config] for run in runs]
    return run_trials("nse", ordered, execution, keep_weights=True)


class Readers:
    """Trained readers on the questions they are for."""

    def __init__(self, store: TrialStore) -> None:
        self.store = store
        self.loaded: dict[str, dict[str, QuestionTensors]] = {}

    def questions(self, kind: str) -> dict[str, QuestionTensors]:
        """The splits of a kind."""
        if kind not in self.loaded:
            folder = artefacts("questions", kind)
            self.loaded[kind] = {
                split: QuestionTensors.load(folder / f"{split}.pt")
                for split in ("train", "dev", "test")
            }
        return self.loaded[kind]

    def reader(self, run: Run, key: str) -> NseReader:
        """A run's reader at its best epoch."""
        words = load_words(artefacts("questions", run.config.questions))
        return load_reader(run.config, words, self.store.weights_path(key))

    def score(self, run: Run, reader: NseReader, split: str) -> ReaderEvaluation:
        """The reader's answers to a split."""
        at_once = run.config.training.evaluation_batch_size
        return evaluate(reader, self.questions(run.config.questions)[split], at_once)


def trace_lines(readers: Readers, run: Run, reader: NseReader, traced: int) -> list[str]:
    """Lines of queries.jsonl: the first dev questions, step by step."""
    kind = run.config.questions
    wording, questions = Wording.load(artefacts("questions", kind)), readers.questions(kind)["dev"]
    return [
        json.dumps(run.seeded | query_trace(reader, questions, number, wording), ensure_ascii=False)
        + "\n"
        for number in range(min(traced, len(questions)))
    ]


def main() -> None:
    """Write artefacts/nse/."""
    params = load_params()
    folder, runs = artefacts("nse"), plan(params)
    execution = dataclasses.replace(execution_settings(params), data_folder=artefacts("questions"))
    pairs = list(zip(runs, train(runs, execution) if runs else [], strict=True))
    readers = Readers(TrialStore(execution.state / "trials"))
    scored: list[Scored] = []
    steps: list[dict[str, Any]] = []
    traces: list[str] = []
    for run, record in tqdm(pairs, "nse", unit="reader", disable=not pairs):
        reader = readers.reader(run, record.key)
        dev, test = (readers.score(run, reader, split) for split in ("dev", "test"))
        scored.append(Scored(result_row(run.seeded, run.config, record) | of_test(test), test))
        steps += step_rows(run.seeded, dev)
        if run.config.seed == params.nse.seeds[0] and run.config.reader.steps > 1:
            traces += trace_lines(readers, run, reader, params.nse.traced)
    compared = compare_runs(scored, params.nse.resamples)
    kinds = {kind: readers.questions(kind) for kind in params.nse.kinds}
    source = made().source if kinds else ""
    known = [row for kind in kinds for row in baseline_rows(kind, source, kinds[kind])]
    tables: dict[str, tuple[list[dict[str, Any]], type]] = {
        "results": ([one.row for one in scored], ReaderResult),
        "runs": (compared, ReaderMeans),
        "baselines": (known, Baseline),
        "history": (
            [row for r, found in pairs for row in history_rows(r.seeded, found)],
            ReaderEpoch,
        ),
        "steps": (steps, ReaderStep),
        "timings": ([run.seeded | spent(record) for run, record in pairs], ReaderTime),
    }
    for name, (rows, row) in tables.items():
        write_table(folder / f"{name}.csv", rows, columns(row))
    write_text(folder / "queries.jsonl", "".join(traces))
    kept = ("dev_accuracy_mean", "test_accuracy_mean", "difference")
    write_summary(folder / "summary.json", summarise(compared, "questions", "run", kept))


def of_test(test: ReaderEvaluation) -> dict[str, Any]:
    """What the test split says of a reader."""
    mean_steps, _ = mean_and_sd(test.steps)
    count = len(test.answers)
    return {"test_accuracy": test.accuracy, "test_questions": count, "test_mean_steps": mean_steps}


if __name__ == "__main__":
    run_stage(main)
