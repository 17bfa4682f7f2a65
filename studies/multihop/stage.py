"""Study `multihop`: train models on multi-hop pairs that are drawn during training.

Dev and test are fixed: dev has the trained numbers of hops, test has more. Each run is tested once,
as it halts and by exit rules on the same weights.
"""

from collections.abc import Sequence
from statistics import fmean

import torch

from actmodels.data.pairs import PairTensors
from actmodels.data.trial_data import WordVectors
from actmodels.files import files_digest, write_text
from actmodels.models.alternating import AlternatingAttention
from actmodels.models.pair_model import PairModel
from actmodels.records import TrialRecord
from actmodels.seeding import generator
from actmodels.training import Evaluation, evaluate
from pipeline.parameters.load import load_params
from pipeline.parameters.studies import study_section
from pipeline.runtime.results import TableRow
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.runtime.summary import SUMMARY
from pipeline.statistics.aggregate import grouped, mean
from pipeline.statistics.step_correlation import correlation, depth_rows
from pipeline.trials.execution import execution_settings
from pipeline.trials.models import load_model
from pipeline.trials.study import Run, history_rows, result_row, train, with_weights, write_study
from studies.multihop.config import MultihopTrialConfig
from studies.multihop.corpus import draw_split, word_vectors
from studies.multihop.exits import (
    AnswersByStep,
    evaluate_all_steps,
    evaluate_halted,
    exits,
    multiply_adds,
)
from studies.multihop.section import Study, Testing, multihop_trials
from studies.multihop.tables import COLUMNS

MultihopRun = Run[MultihopTrialConfig]


def write_pairs(study: Study) -> str:
    """Write dev, test and longest pairs and embedding.pt; return the training input's digest."""
    folder, corpus, test = artifacts("studies", "multihop"), study.corpus, study.evaluation
    premises, hops = corpus.premises, study.settings["max_hops"]
    splits = {"dev": (corpus.dev, range(1, hops + 1), hops), "test": (corpus.test, test.hops, hops)}
    if test.longest:
        splits["longest"] = (corpus.test, test.hops, max(test.hops))
    for split, (count, depths, length) in splits.items():
        random = generator(f"multihop {split}", corpus.seed)
        draw_split(premises, count, depths, length, random).save(folder / f"{split}.pt")
    word_vectors(premises, corpus.dimensions).save(folder / "embedding.pt")
    return files_digest(folder, ["dev.pt", "embedding.pt"])


def plan(study: Study) -> list[MultihopRun]:
    """Return a run for each model, grid point and seed, named by what differs from `settings`."""
    runs = []
    for model in study.models:
        for changes, config in multihop_trials(model, study):
            parts = [
                f"{name.replace('_', ' ')} {value}"
                for name, value in changes.items()
                if study.settings.get(name) != value
            ]
            runs.append(Run({"model": model, "run": ", ".join(parts) or "as set"}, config))
    return runs


def hop_rows(
    run: MultihopRun, name: TableRow, result: Evaluation, test: PairTensors
) -> list[TableRow]:
    """Return accuracy and mean steps of a run on test, by number of hops; name: first columns."""
    max_hops = run.config.stream.max_hops
    return [
        row | {"hops": row["depth"], "trained": row["depth"] <= max_hops}
        for row in depth_rows(name, result, test)
    ]


def step_correlation(result: Evaluation, test: PairTensors) -> float | None:
    """Return Pearson's r of steps and hops over all tested depths."""
    if result.steps is None:
        return None
    return correlation(result.steps.double(), test.depths[result.rows].double())


def state_rows(run: MultihopRun, steps: AnswersByStep, test: PairTensors) -> list[TableRow]:
    """Return the accuracy of the state after each number of steps, by number of hops."""
    max_hops, hops = run.config.stream.max_hops, test.depths[steps.halted.rows]
    return [
        run.seeded
        | {"hops": depth, "trained": depth <= max_hops, "steps": number, "accuracy": accuracy}
        for depth in hops.unique().tolist()
        for number, accuracy in enumerate(
            steps.right[hops == depth].double().mean(dim=0).tolist(), 1
        )
    ]


def cost_rows(run: MultihopRun, model: PairModel, test: PairTensors) -> list[TableRow]:
    """Return the multiply-adds of a pair of each number of hops."""
    rows = []
    for depth in test.depths.unique().tolist():
        pair = int((test.depths == depth).int().argmax())
        encoding, step = multiply_adds(model, test, pair, run.config.input)
        rows.append(run.seeded | {"hops": depth, "encoding": encoding, "step": step})
    return rows


def test_rows(
    run: MultihopRun,
    record: TrialRecord,
    model: PairModel,
    test: PairTensors,
    longest: PairTensors | None,
    how: Testing,
) -> dict[str, list[TableRow]]:
    """Evaluate a trained model on test; return the rows of each table."""
    tables: dict[str, list[TableRow]] = {"exits": [], "correlations": []}
    if isinstance(model, AlternatingAttention):
        if longest is not None:
            halted = evaluate_halted(model, longest, run.config.input, how.max_steps)
            tables["longest"] = hop_rows(run, run.seeded, halted, longest)
        steps = evaluate_all_steps(model, test, run.config.input, how.max_steps)
        result, hops = steps.halted, test.depths[steps.halted.rows]
        for rule, answers in exits(steps, hops, how.exits).items():
            name = run.seeded | {"exit": rule}
            tables["exits"] += hop_rows(run, name, answers, test)
            tables["correlations"].append(name | {"correlation": step_correlation(answers, test)})
        tables["states"] = state_rows(run, steps, test)
    else:
        result = evaluate(model, test, run.config.input)
    r = {"correlation": step_correlation(result, test)}
    return tables | {
        "results": [result_row(run, record) | r],
        "hops": hop_rows(run, run.seeded, result, test),
        "costs": cost_rows(run, model, test),
    }


def summarize(results: Sequence[TableRow], hops: Sequence[TableRow]) -> TableRow:
    """Return means over seeds by model and run; accuracy_beyond is that with one untrained hop."""
    correlations, summary = grouped(results, "model", "run"), TableRow()
    for (model, run), rows in grouped(hops, "model", "run").items():
        trained = [row for row in rows if row["trained"]]
        first = min((row["hops"] for row in rows if not row["trained"]), default=None)
        summary.setdefault(model, {})[run] = {
            "accuracy": mean(trained, "accuracy"),
            "accuracy_beyond": mean([r for r in rows if r["hops"] == first], "accuracy"),
            "mean_steps": mean(trained, "mean_steps"),
            "correlation": mean(correlations[model, run], "correlation"),
        }
    return summary


def summary_lines(hops: Sequence[TableRow]) -> list[str]:
    """Return a line for each run: mean accuracy from the deepest trained number of hops on."""
    lines, deepest = [], max(row["hops"] for row in hops if row["trained"])
    for (model, run), rows in grouped(hops, "model", "run").items():
        name = model if run == "as set" else f"{model}, {run}"
        cells = [
            f"{number}:{100 * fmean(row['accuracy'] for row in seeds):.1f}"
            for (_, number), seeds in grouped(rows, "run", "hops").items()
            if number >= deepest
        ]
        lines.append(f"{name}: {' '.join(cells)} % by number of hops")
    return lines


def main() -> None:
    """Write artifacts/studies/multihop/."""
    params = load_params()
    study, folder = study_section(params, Study), artifacts("studies", "multihop")
    digest = write_pairs(study)
    execution = execution_settings(params, data_folder=folder, dataset="multihop")
    trained = train("multihop", plan(study), execution, digest)
    test, words = (PairTensors.load(folder / "test.pt"), WordVectors.load(folder / "embedding.pt"))
    longest = PairTensors.load(folder / "longest.pt") if study.evaluation.longest else None
    tables: dict[str, list[TableRow]] = {name.partition(".")[0]: [] for name in COLUMNS}
    torch.set_num_threads(1)  # bit-identical results on any number of cores
    torch.backends.mha.set_fastpath_enabled(False)  # takes three times as long at 1,200 words
    for run, record, weights in with_weights("multihop", trained, execution):
        model = load_model(run.config, words, len(test.classes), weights, "study@multihop")
        for name, rows in test_rows(run, record, model, test, longest, study.evaluation).items():
            tables[name] += rows
    del tables["timings"]
    tables["history"] = history_rows(trained)
    summary = summarize(tables["results"], tables["hops"])
    write_study("multihop", trained, summary, COLUMNS, **tables)
    lines = summary_lines(tables["hops"])
    write_text(folder / SUMMARY, "".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    run_stage(main)
