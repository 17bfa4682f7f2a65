"""Stage `nse`: readers of cloze questions that test hypotheses (Munkhdalai & Yu 2017).

Readers of one and of more steps, with query gating and with adaptive computation, each with every
seed. Dev chooses the epoch; the test split is read once, by the readers so chosen.
"""

import dataclasses
import json
from collections.abc import Sequence
from io import BytesIO

import numpy as np
from tqdm import tqdm

from actmodels.files import write_text
from actmodels.reader.data import WordRows, load_reader
from actmodels.reader.evaluation import ReaderEvaluation, evaluate
from actmodels.reader.model import Reader
from actmodels.reader.questions import QuestionTensors
from pipeline.measures.over_seeds import Row, summarise
from pipeline.measures.paired import Groups, Hits
from pipeline.parameters.load import load_params
from pipeline.parameters.schema import Params
from pipeline.parameters.section import SPLITS
from pipeline.parameters.study_sections import ReadingStudy
from pipeline.parameters.trials import reader_trials
from pipeline.running.results import read_json, write_json, write_table
from pipeline.running.stage import artefacts, run_stage
from pipeline.sources.question import ARTICLES
from pipeline.studies.readers import (
    ReaderRun,
    Wording,
    baseline_rows,
    compare_runs,
    query_trace,
    reader_result,
    step_rows,
)
from pipeline.studies.study import Run, history_rows, timing_rows, train
from pipeline.trained.trials import execution_settings
from tune.store import TrialStore


def planned(questions: str, study: ReadingStudy, seeds: Sequence[int]) -> list[ReaderRun]:
    """One step, if asked for, then each strategy with its numbers of steps; with every seed."""
    runs = []
    for changes, config in reader_trials(questions, study, seeds):
        name = f"{changes['strategy'].replace('_', ' ')}, {changes['steps']} steps"
        run = name if changes["steps"] > 1 else "one step"
        runs.append(Run({"questions": questions, "run": run}, config))
    return runs


def plan(params: Params) -> list[ReaderRun]:
    """All trainings, in the order of params.yaml."""
    study = params.nse
    return [run for kind, one in study.kinds.items() for run in planned(kind, one, study.seeds)]


def questions_of(kind: str) -> dict[str, QuestionTensors]:
    """The splits of a kind of questions."""
    folder = artefacts("questions", kind)
    return {name: QuestionTensors.load(folder / f"{name}.pt") for name in SPLITS}


def articles_of(kind: str) -> Groups:
    """Which test questions are of one article, as a number for each [questions]."""
    return np.loadtxt(artefacts("questions", kind, ARTICLES), dtype=np.int64, ndmin=1)


def answers(run: ReaderRun, reader: Reader, questions: QuestionTensors) -> ReaderEvaluation:
    """A reader's answers to a split."""
    return evaluate(reader, questions, run.config.training.evaluation_batch_size)


def trace_lines(
    run: ReaderRun, reader: Reader, questions: QuestionTensors, traced: int
) -> list[str]:
    """Lines of queries.jsonl: the first dev questions, step by step."""
    wording = Wording.load(artefacts("questions", run.config.questions))
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
    manifest = read_json("questions", "manifest.json")
    asked = manifest["kinds"]
    trained = train("nse", runs, execution, lambda config: str(asked[config.questions]["digest"]))
    store = TrialStore(execution.trials)
    splits = {kind: questions_of(kind) for kind in params.nse.kinds}
    rows: list[Row] = []
    hits: list[Hits] = []
    steps: list[Row] = []
    traces: list[str] = []
    for run, record in tqdm(trained, "nse", unit="reader", disable=not trained):
        kind, weights = run.config.questions, BytesIO(store.weights(record.key))
        words = WordRows.load(artefacts("questions", kind, "vectors.pt"))
        reader = load_reader(run.config, words, weights)
        dev, test = (answers(run, reader, splits[kind][split]) for split in ("dev", "test"))
        rows.append(reader_result(run, record, test))
        hits.append((test.predictions == test.answers).double().numpy())
        steps += step_rows(run.seeded, dev)
        if run.config.seed == params.nse.seeds[0] and run.config.reader.steps > 1:
            traces += trace_lines(run, reader, splits[kind]["dev"], params.nse.traced)
    means = compare_runs(rows, hits, {kind: articles_of(kind) for kind in splits})
    source = manifest["source"]
    known = [row for kind in splits for row in baseline_rows(kind, source, splits[kind])]
    write_table(folder / "results.csv", rows)
    write_table(folder / "runs.csv", means)
    write_table(folder / "baselines.csv", known)
    write_table(folder / "history.csv", history_rows(trained))
    write_table(folder / "steps.csv", steps)
    write_table(folder / "timings.csv", timing_rows(trained))
    write_text(folder / "queries.jsonl", "".join(traces))
    kept = ("dev_accuracy_mean", "test_accuracy_mean", "difference")
    write_json(folder / "summary.json", summarise(means, "questions", "run", kept))


if __name__ == "__main__":
    run_stage(main)
