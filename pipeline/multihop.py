"""Stage `multihop`: models on pairs that take one hop after another, drawn during training.

Dev and test are fixed: dev has the trained depths and test some more. Each run reads test once.
"""

import statistics
from collections.abc import Sequence
from dataclasses import replace

from actmodels.data.pairs import PairTensors
from actmodels.draws import generator
from actmodels.evaluation import Evaluation
from actmodels.multihop.config import MultihopTrialConfig
from actmodels.multihop.corpus import draw_split, word_vectors
from pipeline.measures.over_seeds import Row, grouped, mean, summarise
from pipeline.measures.steps import depth_rows, pearson
from pipeline.parameters.load import load_params
from pipeline.parameters.study_sections import Multihop
from pipeline.parameters.trials import multihop_trials
from pipeline.running.results import write_json, write_table
from pipeline.running.stage import artefacts, run_stage
from pipeline.sources.encode import files_digest
from pipeline.studies.study import Run, history_rows, result_row, timing_rows, train
from pipeline.studies.variants import scored
from pipeline.trained.trials import execution_settings

MultihopRun = Run[MultihopTrialConfig]
SUMMARY = ("accuracy", "accuracy_beyond", "mean_steps", "correlation")


def write_pairs(study: Multihop) -> str:
    """Write dev.pt, test.pt and embedding.pt; return the digest of what training reads."""
    folder, drawn, hops = artefacts("multihop"), study.corpus, study.settings["max_hops"]
    dev, test = (generator(f"multihop {split}", drawn.seed) for split in ("dev", "test"))
    draw_split(drawn.dev, hops, 0, dev).save(folder / "dev.pt")
    draw_split(drawn.test, hops, drawn.beyond, test).save(folder / "test.pt")
    word_vectors(drawn.dimensions).save(folder / "embedding.pt")
    return files_digest([folder / "dev.pt", folder / "embedding.pt"])


def plan(study: Multihop) -> list[MultihopRun]:
    """Every combination of a model's values with every seed, in the order of params.yaml."""
    runs = []
    for model in study.models:
        for changes, config in multihop_trials(model, study):
            named = [f"{name.replace('_', ' ')} {value}" for name, value in changes.items()]
            runs.append(Run({"model": model, "run": ", ".join(named) or "as set"}, config))
    return runs


def hop_rows(run: MultihopRun, result: Evaluation, test: PairTensors) -> list[Row]:
    """Accuracy and mean steps of a run at each depth of test."""
    most = run.config.stream.max_hops
    return [
        run.seeded | row | {"hops": row["depth"], "trained": row["depth"] <= most}
        for row in depth_rows({}, result, test)
    ]


def step_correlation(run: MultihopRun, result: Evaluation, test: PairTensors) -> float | None:
    """Pearson's r of steps and hops, on the trained depths and the next one."""
    if result.steps is None:
        return None
    hops = test.depths[result.rows]
    near = hops <= run.config.stream.max_hops + 1
    return pearson(result.steps[near].double(), hops[near].double())


def summary_rows(results: Sequence[Row], hops: Sequence[Row]) -> list[Row]:
    """Means over the seeds of each run; accuracy_beyond: at the first depth not trained."""
    correlations, summary = grouped(results, "model", "run"), []
    for (model, run), rows in grouped(hops, "model", "run").items():
        trained = [row for row in rows if row["trained"]]
        first = len({row["hops"] for row in trained}) + 1
        summary.append(
            {
                **{"model": model, "run": run},
                "accuracy": statistics.fmean(row["accuracy"] for row in trained),
                "accuracy_beyond": mean([r for r in rows if r["hops"] == first], "accuracy"),
                "mean_steps": mean(trained, "mean_steps"),
                "correlation": mean(correlations[model, run], "correlation"),
            }
        )
    return summary


def main() -> None:
    """Write artefacts/multihop/."""
    params = load_params()
    study, folder = params.multihop, artefacts("multihop")
    digest = write_pairs(study)
    execution = replace(execution_settings(params), data_folder=folder)
    trained = train("multihop", plan(study), execution, lambda _: digest)
    test, results, hops = PairTensors.load(folder / "test.pt"), list[Row](), list[Row]()
    for run, record, result in scored("multihop", trained, test, execution.trials, "multihop"):
        correlation = step_correlation(run, result, test)
        results.append(result_row(run, record) | {"correlation": correlation})
        hops += hop_rows(run, result, test)
    write_table(folder / "results.csv", results)
    write_table(folder / "hops.csv", hops)
    write_table(folder / "history.csv", history_rows(trained))
    write_table(folder / "timings.csv", timing_rows(trained))
    write_json(
        folder / "summary.json", summarise(summary_rows(results, hops), "model", "run", SUMMARY)
    )


if __name__ == "__main__":
    run_stage(main)
