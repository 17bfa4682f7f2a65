"""Study `multihop`: train models on multi-hop pairs that are drawn during training.

Dev and test are fixed: dev has the trained numbers of hops, test has more. Each run is tested once.
"""

from collections.abc import Sequence
from statistics import fmean

from actmodels.data.pairs import PairTensors
from actmodels.evaluation import Evaluation
from actmodels.files import files_digest, write_text
from actmodels.seeding import generator
from pipeline.parameters.load import load_params
from pipeline.parameters.studies import study_section
from pipeline.runtime.results import TableRow
from pipeline.runtime.stage import artifacts, run_stage
from pipeline.runtime.summary import SUMMARY
from pipeline.statistics.aggregate import grouped, mean
from pipeline.statistics.step_correlation import correlation, depth_rows
from pipeline.trials.execution import execution_settings
from pipeline.trials.study import Run, evaluate_runs, history_rows, result_row, train, write_study
from studies.multihop.config import MultihopTrialConfig
from studies.multihop.corpus import draw_split, word_vectors
from studies.multihop.section import Study, multihop_trials
from studies.multihop.tables import COLUMNS

MultihopRun = Run[MultihopTrialConfig]


def write_pairs(study: Study) -> str:
    """Write dev.pt, test.pt and embedding.pt; return the digest of the training input."""
    folder, corpus, hops = (
        artifacts("studies", "multihop"),
        study.corpus,
        study.settings["max_hops"],
    )
    dev, test = (generator(f"multihop {split}", corpus.seed) for split in ("dev", "test"))
    draw_split(corpus.dev, hops, 0, dev).save(folder / "dev.pt")
    draw_split(corpus.test, hops, corpus.beyond, test).save(folder / "test.pt")
    word_vectors(corpus.dimensions).save(folder / "embedding.pt")
    return files_digest(folder, ["dev.pt", "embedding.pt"])


def plan(study: Study) -> list[MultihopRun]:
    """Return a run for each model, grid point and seed."""
    runs = []
    for model in study.models:
        for changes, config in multihop_trials(model, study):
            parts = [f"{name.replace('_', ' ')} {value}" for name, value in changes.items()]
            runs.append(Run({"model": model, "run": ", ".join(parts) or "as set"}, config))
    return runs


def hop_rows(run: MultihopRun, result: Evaluation, test: PairTensors) -> list[TableRow]:
    """Return accuracy and mean steps of a run on test, by number of hops."""
    max_hops = run.config.stream.max_hops
    return [
        row | {"hops": row["depth"], "trained": row["depth"] <= max_hops}
        for row in depth_rows(run.seeded, result, test)
    ]


def step_correlation(run: MultihopRun, result: Evaluation, test: PairTensors) -> float | None:
    """Return Pearson's r of steps and hops, up to one hop more than in training."""
    if result.steps is None:
        return None
    hops = test.depths[result.rows]
    near = hops <= run.config.stream.max_hops + 1
    return correlation(result.steps[near].double(), hops[near].double())


def summarize(results: Sequence[TableRow], hops: Sequence[TableRow]) -> TableRow:
    """Return means over seeds by model and run; accuracy_beyond is that with one untrained hop."""
    correlations, summary = grouped(results, "model", "run"), TableRow()
    for (model, run), rows in grouped(hops, "model", "run").items():
        trained = [row for row in rows if row["trained"]]
        first = len({row["hops"] for row in trained}) + 1
        summary.setdefault(model, {})[run] = {
            "accuracy": mean(trained, "accuracy"),
            "accuracy_beyond": mean([r for r in rows if r["hops"] == first], "accuracy"),
            "mean_steps": mean(trained, "mean_steps"),
            "correlation": mean(correlations[model, run], "correlation"),
        }
    return summary


def summary_lines(hops: Sequence[TableRow]) -> list[str]:
    """Return a line for each run: mean accuracy by number of hops."""
    lines = []
    for (model, run), rows in grouped(hops, "model", "run").items():
        name = model if run == "as set" else f"{model}, {run}"
        cells = [
            f"{number}:{100 * fmean(row['accuracy'] for row in seeds):.1f}"
            for (_, number), seeds in grouped(rows, "run", "hops").items()
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
    test, results, hops = PairTensors.load(folder / "test.pt"), list[TableRow](), list[TableRow]()
    for run, record, result in evaluate_runs("multihop", trained, test, execution):
        steps_and_hops = {"correlation": step_correlation(run, result, test)}
        results.append(result_row(run, record) | steps_and_hops)
        hops += hop_rows(run, result, test)
    tables = {"results": results, "hops": hops, "history": history_rows(trained)}
    write_study("multihop", trained, summarize(results, hops), COLUMNS, **tables)
    write_text(folder / SUMMARY, "".join(f"{line}\n" for line in summary_lines(hops)))


if __name__ == "__main__":
    run_stage(main)
